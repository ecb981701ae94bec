/**
 * A task as its client gets it.
 */
import { DateTime } from "effect"
import { BILLING_META } from "../mcp/Protocol.ts"
import { withMembers } from "../mcp/ResultText.ts"
import { memberOf } from "../shared/JsonText.ts"
import type { KeptResult } from "../metering/CallStore.ts"
import type { Receipt } from "../receipts/Receipt.ts"
import { type CallTask, TASK_KEPT_MS } from "./CallTask.ts"

/** The acknowledgment of `tasks/update` and `tasks/cancel`. */
export const ACKNOWLEDGED = '{"resultType":"complete"}'

/** The result of the call that started it. Whether it asks or has ended is a matter of `tasks/get`. */
export const createdText = (task: CallTask): string =>
  text(task, "task", task.ended?.at ?? task.progress.expiresAt, '{"status":"working"}')

/** The result of `tasks/get` while nothing is settled. */
export const runningText = (task: CallTask): string =>
  text(task, "complete", task.progress.expiresAt, task.progress.state)

/** Statuses of stored responses: `adapters/http/mcp/CallResults.ts` renders an error of the provider with the other one. */
const IS_RESULT = 200

/** The result of `tasks/get` after the settlement. `rendered`: the response of a call that ended so. */
export const finalText = (
  task: CallTask,
  endedAt: DateTime.Utc,
  rendered: KeptResult,
  receipt: Pick<Receipt, "receipt_id" | "cost_microcents">,
  canceled: boolean
): string => {
  const billing = { receipt_id: receipt.receipt_id, cost_microcents: Number(receipt.cost_microcents) }
  const status = canceled ? "cancelled" : rendered.status === IS_RESULT ? "completed" : "failed"
  const given = rendered.status === IS_RESULT ? { result: rendered.body } : { error: rendered.body }
  return withMembers(
    text(task, "complete", endedAt, `{"status":"${status}","lastUpdatedAt":"${DateTime.formatIso(endedAt)}"}`),
    { ...(canceled ? {} : given), _meta: JSON.stringify({ [BILLING_META]: billing }) }
  )
}

/** `until`: how long it takes at most, from when on its result is kept. */
const text = (
  { createdAt, id, progress }: CallTask,
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
