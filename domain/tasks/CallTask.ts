/**
 * A call whose provider works on it after its response, as a task. Toward the provider the service is the client of the
 * task; its own client gets a task with another id. The call stays open with its hold until the task ends.
 */
import { Context, DateTime, type Effect, type Option, Schema } from "effect"
import { CancellationTerm, STORED_CANCELLATION, termsOf } from "../catalog/Terms.ts"
import { BillingPolicy } from "../catalog/Tool.ts"
import { withMembers } from "../mcp/PassedResults.ts"
import type { HeldCall } from "../metering/Call.ts"
import type { KeptResult } from "../metering/CallStore.ts"
import type { Receipt } from "../receipts/Receipts.ts"
import { type ConsumerId, ProviderId, type ReceiptId, ToolId } from "../shared/Ids.ts"
import { memberOf, membersOf } from "../shared/JsonText.ts"
import { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { BILLING_META, type UpstreamSession } from "../upstream/Protocol.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"

/** The time between the opening of a call and the time-out of its task. */
export const TASK_MS_MAX = 24 * 60 * 60_000
/** A shorter lifetime that a provider wants for its task is not kept to: it would leave no time to ask. */
export const TASK_MS_MIN = 60_000
/** The sweeper voids a call this long after the time of its task, so that nodes that were down can settle it. */
export const TASK_GRACE_MS = 5 * 60_000
export const TASK_KEPT_MS = 24 * 60 * 60_000
/** Results of ended tasks per account; the oldest ones are deleted first. */
export const TASKS_KEPT_BYTES_MAX = 64 * 1024 * 1024
/** The limit of a running task's state, with the questions that it asks. */
export const TASK_STATE_CHARS_MAX = 64 * 1024
export const UPSTREAM_ID_CHARS_MAX = 1_024
/** The ids of tasks: unguessable. */
export const TASK_ID_BYTES = 24

/** The interval at which a provider is asked, if the client asks as often. */
export const POLL_MS_MIN = 500
export const POLL_MS_DEFAULT = 2_000
export const POLL_MS_MAX = 60_000

export interface CallTask {
  /** The client knows the task by it. */
  readonly id: string
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly endpointUrl: string
  /** The service's session at the server for this task alone; undefined where the server started it without one. */
  readonly session: UpstreamSession | undefined
  readonly invocationId: ReceiptId
  /** The provider knows the task by it. */
  readonly upstreamId: string
  /** A repeated call finds its task by its idempotency key. */
  readonly keyHash: string | undefined
  /** The terms that the call is settled by, as JSON: `TaskTerms` below. */
  readonly terms: string
  /** The time when the call was opened. */
  readonly createdAt: DateTime.Utc
  readonly progress: TaskProgress
  /** The caller canceled the task, and the tool passes that on. */
  readonly canceled: boolean
  /** The provider's ending of the task, as JSON (`TaskReply.ts`): the first one counts, and is settled. */
  readonly ended: { readonly outcome: string; readonly at: DateTime.Utc } | undefined
  /** Undefined until the settlement. */
  readonly final: FinalTask | undefined
}

/** A settled task, as the client gets it. */
export interface FinalTask {
  readonly status: FinalStatus
  /** The client gets this text from then on, byte for byte. */
  readonly text: string
}

/** The status of a task in a session. Otherwise a task with a result that is an error is `completed`. */
export type FinalStatus = "completed" | "failed" | "cancelled"

/** The known state of a running task. */
export interface TaskProgress {
  /** Members of the task as the provider gave them, as JSON. */
  readonly state: string
  readonly pollMs: number
  /** The task counts as timed out then. */
  readonly expiresAt: DateTime.Utc
  readonly askedAt: DateTime.Utc
  /** The time when it is asked next, unless the client wants to know before. */
  readonly dueAt: DateTime.Utc
  readonly failures: number
  /** The time spent waiting for its caller's answers, until `waitingSince` or now (`CallerTime`). */
  readonly waitedMs: number
  /** Undefined while it does not wait for its caller. */
  readonly waitingSince: DateTime.Utc | undefined
}

/** A task as lists show it: without what may be large. */
export interface ListedTask extends Pick<CallTask, "id" | "createdAt" | "progress"> {
  /** Undefined until the settlement. */
  readonly final: { readonly status: FinalStatus; readonly endedAt: DateTime.Utc } | undefined
}

/** The account that asks for a task, and the door where it asks. */
export interface TaskCaller {
  readonly consumerId: ConsumerId
  /** The door of one provider has only its tasks. */
  readonly providerId: ProviderId | undefined
}

/** A place in the list of an account's tasks. */
export type TaskPosition = Pick<ListedTask, "id" | "createdAt">

/** Port to the tasks of calls. They are in the store, so that any node asks for their results and settles them. */
export class TaskStore extends Context.Service<
  TaskStore,
  {
    /** Adds a running task. */
    add(task: CallTask): Effect.Effect<void, StoreUnavailable>
    find(id: string): Effect.Effect<Option.Option<CallTask>, StoreUnavailable>
    /** The newest task of a call with this idempotency key. */
    findByKey(consumerId: ConsumerId, keyHash: string): Effect.Effect<Option.Option<CallTask>, StoreUnavailable>
    /** Returns at most `limit`, the newest first, after this one of the list. */
    list(
      caller: TaskCaller,
      after: TaskPosition | undefined,
      limit: number
    ): Effect.Effect<ReadonlyArray<ListedTask>, StoreUnavailable>
    /**
     * Claims the task for its client, if it is not settled and its provider was not asked after `askedBefore`. Asked at
     * `now`. It is due as before, because its client may leave.
     */
    claim(
      id: string,
      askedBefore: DateTime.Utc,
      now: DateTime.Utc
    ): Effect.Effect<Option.Option<CallTask>, StoreUnavailable>
    /** Tasks that are due and not settled, at most `limit`. Asked at `now`, they are due again at `nextAt`: one node gets each. */
    claimDue(
      now: DateTime.Utc,
      nextAt: DateTime.Utc,
      limit: number
    ): Effect.Effect<ReadonlyArray<CallTask>, StoreUnavailable>
    /** A task that has ended is not changed. */
    note(id: string, progress: TaskProgress): Effect.Effect<void, StoreUnavailable>
    /** The caller canceled it. False if it has ended. */
    cancel(id: string): Effect.Effect<boolean, StoreUnavailable>
    /** False if it had ended before, which is not changed. */
    end(id: string, outcome: string, at: DateTime.Utc): Effect.Effect<boolean, StoreUnavailable>
    /**
     * Stores what the client gets from now on; the first one stays. The oldest of the account's settled tasks are
     * deleted beyond `bytesMax` of results and terms, but not this one. The state of a settled task is empty.
     */
    settle(id: string, final: FinalTask, bytesMax: number): Effect.Effect<void, StoreUnavailable>
    /** A task that was not taken over after all. */
    remove(id: string): Effect.Effect<void, StoreUnavailable>
    /** Removes those of an erased account, whatever became of them. */
    removeAll(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
    /** Deletes at most `limit` settled tasks that ended before this time; returns how many. */
    prune(endedBefore: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/tasks/TaskStore") {}

// The time that a task waits for its caller: from a question until the caller has answered every question that was asked. It
// is not counted as time of the provider.

type CallerTime = Pick<TaskProgress, "waitedMs" | "waitingSince">

/** A task waits between a question and its answer. */
export const isWaiting = ({ waitingSince }: CallerTime): boolean => waitingSince !== undefined

export const waitedMsAt = ({ waitedMs, waitingSince }: CallerTime, at: DateTime.Utc): number =>
  waitedMs + (waitingSince === undefined ? 0 : Math.max(0, at.epochMilliseconds - waitingSince.epochMilliseconds))

/** Returns the time after its provider told the task's state. It does not wait for answered questions still shown. */
export const timeAfterState = (progress: TaskProgress, state: string, now: DateTime.Utc): CallerTime => {
  const questions = questionsIn(state)
  if (questions === undefined) return stopped(progress, now)
  if (isWaiting(progress)) return timeOf(progress)
  const known = questionsIn(progress.state)
  return known !== undefined && questions.isSubsetOf(known)
    ? timeOf(progress)
    : { waitedMs: progress.waitedMs, waitingSince: now }
}

/** Returns the time after its provider took these answers. The task goes on waiting if they leave a question open. */
export const timeAfterAnswers = (progress: TaskProgress, answers: string, now: DateTime.Utc): CallerTime =>
  (questionsIn(progress.state) ?? new Set()).isSubsetOf(namesIn(answers)) ? stopped(progress, now) : timeOf(progress)

const stopped = (time: CallerTime, now: DateTime.Utc): CallerTime => ({
  waitedMs: waitedMsAt(time, now),
  waitingSince: undefined
})

const timeOf = ({ waitedMs, waitingSince }: CallerTime): CallerTime => ({ waitedMs, waitingSince })

/** The names of the questions; undefined if it asks none. A name stands for one question in the whole life of a task. */
const questionsIn = (state: string): ReadonlySet<string> | undefined => {
  const asked = memberOf(state, 0, "status") === '"input_required"' ? memberOf(state, 0, "inputRequests") : undefined
  return asked === undefined ? undefined : namesIn(asked)
}

const namesIn = (object: string): ReadonlySet<string> => new Set(membersOf(object).map(({ name }) => name))

// The call of a task is settled by its terms when the call was opened. They are stored with the task, since the tool
// and its terms may have changed when the task ends.

const TaskTerms = Schema.Struct({
  toolId: ToolId,
  /** The caller's name of the tool: a success may pin it. */
  reference: Schema.Struct({
    toolId: Schema.optionalKey(ToolId),
    toolName: Schema.optionalKey(Schema.String),
    providerId: Schema.optionalKey(ProviderId)
  }),
  idempotency: Schema.optionalKey(Schema.Struct({ keyHash: Schema.String, requestHash: Schema.String })),
  price: Microcents,
  maximum: Microcents,
  freeTierCalls: Schema.Int,
  billingPolicy: BillingPolicy,
  cancellation: CancellationTerm,
  priceVersion: Schema.Int,
  feeBasisPoints: Schema.Int,
  /** The schema, if it decides what is billed. */
  outputSchema: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  /** The caller's cap, which the provider was told. */
  holdAmount: Microcents,
  held: Microcents,
  free: Schema.Boolean,
  freeCallsLeft: Schema.optionalKey(Schema.Int),
  holdMs: Schema.Int,
  requestId: Schema.optionalKey(Schema.String),
  /** The time when the provider had started the task. */
  startedMs: Schema.Int,
  /** Time that the provider took until then. */
  latencyMs: Schema.Int,
  attempts: Schema.Int,
  requestBytes: Schema.Int,
  responseBytes: Schema.Int
}).pipe(Schema.encodeKeys({ cancellation: STORED_CANCELLATION }))
type TaskTerms = typeof TaskTerms.Type

const Stored = Schema.fromJsonString(Schema.toCodecJson(TaskTerms))
const encode = Schema.encodeSync(Stored)
export const termsIn = Schema.decodeSync(Stored)

export const termsText = (held: HeldCall, answer: UpstreamResponse, startedAt: DateTime.Utc): string => {
  const { entry, feeBasisPoints, holdAmount, opened, request } = held
  const { idempotency, tool } = request
  return encode({
    toolId: entry.tool.id,
    reference: {
      ...(tool.toolId === undefined ? {} : { toolId: tool.toolId }),
      ...(tool.toolName === undefined ? {} : { toolName: tool.toolName }),
      ...(tool.providerId === undefined ? {} : { providerId: tool.providerId })
    },
    ...(idempotency === undefined ? {} : { idempotency }),
    ...termsOf(entry),
    priceVersion: entry.priceVersion,
    feeBasisPoints,
    holdAmount,
    held: opened.held,
    free: opened.free,
    ...(opened.freeCallsLeft === undefined ? {} : { freeCallsLeft: opened.freeCallsLeft }),
    holdMs: held.holdMs,
    ...(request.requestId === undefined ? {} : { requestId: request.requestId }),
    startedMs: startedAt.epochMilliseconds,
    latencyMs: answer.latencyMs,
    attempts: answer.attempts,
    requestBytes: answer.requestBytes,
    responseBytes: answer.responseBytes
  })
}

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

/** Shows the task while nothing is settled. */
export const runningTask = (task: ListedTask | CallTask): SeenTask => ({
  status: memberOf(task.progress.state, 0, "status") === '"input_required"' ? "input_required" : "working",
  text: text(task, "complete", task.progress.expiresAt, task.progress.state)
})

/** Shows the task without its result. */
export const listedTask = (task: ListedTask): SeenTask => {
  if (task.final === undefined) return runningTask(task)
  const { endedAt, status } = task.final
  return { status, text: text(task, "complete", endedAt, endState(status, endedAt)) }
}

/** Statuses of stored responses: `adapters/http/mcp/CallResults.ts` renders an error of the provider with the other one. */
const IS_RESULT = 200

/** Returns the end of a settled task. `succeeded`: the result is no error. `rendered`: the response of such a call. */
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
