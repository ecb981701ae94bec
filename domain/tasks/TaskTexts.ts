/**
 * A task as its client gets it.
 */
import { DateTime } from "effect"
import { withMembers } from "../mcp/PassedResults.ts"
import type { KeptResult } from "../metering/CallStore.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import { memberOf } from "../shared/JsonText.ts"
import { BILLING_META } from "../upstream/Protocol.ts"
import { type CallTask, type FinalStatus, type FinalTask, type ListedTask, TASK_KEPT_MS } from "./CallTask.ts"

/** The acknowledgment of `tasks/update` and `tasks/cancel`. */
export const ACKNOWLEDGED = '{"resultType":"complete"}'

/** A task as its client may see it now. */
export interface SeenTask {
  readonly status: FinalStatus | "working" | "input_required"
  /** The result of `tasks/get`. */
  readonly text: string
}

/** The result of the call that started it. Whether it asks or has ended is a matter of `tasks/get`. */
export const createdText = (task: CallTask): string =>
  text(task, "task", task.ended?.at ?? task.progress.expiresAt, '{"status":"working"}')

/** While nothing is settled. */
export const runningTask = (task: ListedTask | CallTask): SeenTask => ({
  status: memberOf(task.progress.state, 0, "status") === '"input_required"' ? "input_required" : "working",
  text: text(task, "complete", task.progress.expiresAt, task.progress.state)
})

/** Without its result. */
export const listedTask = (task: ListedTask): SeenTask => {
  if (task.final === undefined) return runningTask(task)
  const { endedAt, status } = task.final
  return { status, text: text(task, "complete", endedAt, endState(status, endedAt)) }
}

/** Statuses of stored responses: `adapters/http/mcp/CallResults.ts` renders an error of the provider with the other one. */
const IS_RESULT = 200

/** After the settlement. `succeeded`: the provider gave a result that is no error. `rendered`: the response of a call that ended so. */
export const finalTask = (
  task: CallTask,
  endedAt: DateTime.Utc,
  rendered: KeptResult,
  receipt: Pick<Receipt, "receipt_id" | "cost_microcents">,
  canceled: boolean,
  succeeded: boolean
): FinalTask => {
  const billing = { receipt_id: receipt.receipt_id, cost_microcents: Number(receipt.cost_microcents) }
  const status = canceled ? "cancelled" : rendered.status === IS_RESULT ? "completed" : "failed"
  const given = rendered.status === IS_RESULT ? { result: rendered.body } : { error: rendered.body }
  return {
    status: canceled ? "cancelled" : succeeded ? "completed" : "failed",
    text: withMembers(text(task, "complete", endedAt, endState(status, endedAt)), {
      ...(canceled ? {} : given),
      _meta: JSON.stringify({ [BILLING_META]: billing })
    })
  }
}

const endState = (status: FinalStatus, endedAt: DateTime.Utc): string =>
  `{"status":"${status}","lastUpdatedAt":"${DateTime.formatIso(endedAt)}"}`

/** `until`: how long it takes at most, from when on its result is kept. */
const text = (
  { createdAt, id, progress }: Pick<CallTask, "createdAt" | "id" | "progress">,
  resultType: "task" | "complete",
  until: DateTime.Utc,
  state: string
): string =>
  withMembers(
    memberOf(state, 0, "lastUpdatedAt") === undefined
      ? withMembers(state, { lastUpdatedAt: instant(progress.askedAt) })
      : state,
    {
      resultType: `"${resultType}"`,
      taskId: `"${id}"`,
      createdAt: instant(createdAt),
      ttlMs: String(until.epochMilliseconds - createdAt.epochMilliseconds + TASK_KEPT_MS),
      pollIntervalMs: String(progress.pollMs)
    }
  )

const instant = (at: DateTime.Utc): string => `"${DateTime.formatIso(at)}"`
