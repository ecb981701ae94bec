/**
 * Tasks of calls: taken over from the call that started them, asked for by their clients and in the background, and settled
 * once when they end. A client never gets a result before its call is settled, and a call is settled whether or not its
 * client ever asks.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import {
  CallOverdue,
  type HandOver,
  type HeldCall,
  type McpCallOutcome,
  type TaskStarted,
  type Unsettled
} from "../metering/Call.ts"
import { type CallIdempotency, CallStore, SUSPENDED_CALLS_MAX } from "../metering/CallStore.ts"
import type { Render } from "../metering/NewCalls.ts"
import { Entropy } from "../shared/Cryptography.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { PassedReply, ServerFailed } from "../upstream/ProviderServers.ts"
import type { PendingResult, UpstreamProblem, UpstreamResponse } from "../upstream/ToolUpstream.ts"
import {
  type CallTask,
  createdText,
  listedTask,
  runningTask,
  type SeenTask,
  TASK_GRACE_MS,
  TASK_ID_BYTES,
  TASK_KEPT_MS,
  TASK_MS_MAX,
  type TaskCaller,
  type TaskPosition,
  TaskStore,
  termsIn,
  termsText,
  timeAfterAnswers
} from "./CallTask.ts"
import { startedSessionTask } from "./SessionTasks.ts"
import { makeTaskAdvance, makeTaskRequests, type TaskClient } from "./TaskAdvance.ts"
import { startedTask, type StartedTask } from "./TaskReply.ts"

// A call whose provider started a task: the call stays open with its hold, and the task belongs to no node.

const TOO_MANY_CALLS: UpstreamProblem = {
  kind: "unfinished",
  message: `The tool started a task, and ${SUSPENDED_CALLS_MAX} calls of this account, or half as many at its provider, already run as tasks or wait for input`
}

/** The leg that no request of a caller resumes. */
const TASK_LEG = 0

type Pending = Extract<PendingResult, { readonly kind: "task" }>

export const makeTaskStart = Effect.fnUntraced(function* (
  requests: Effect.Success<typeof makeTaskRequests>,
  { settle }: Effect.Success<ReturnType<typeof makeTaskAdvance>>
) {
  const store = yield* TaskStore
  const calls = yield* CallStore
  const { hex } = yield* Entropy

  const abandoning = (task: CallTask) => Effect.forkDetach(requests.abandon(task))

  const takeOver = Effect.fnUntraced(function* (
    held: HeldCall,
    started: StartedTask,
    { session }: Pending,
    answer: UpstreamResponse
  ): Effect.fn.Return<McpCallOutcome, Unsettled> {
    const { entry, invocationId, openedAt, request } = held
    const { lifetimeMs, pollMs, state, upstreamId } = started
    const now = yield* DateTime.now
    const task: CallTask = {
      id: yield* hex(TASK_ID_BYTES),
      consumerId: request.consumerId,
      providerId: entry.provider.id,
      endpointUrl: entry.provider.endpointUrl,
      session,
      invocationId,
      upstreamId,
      keyHash: request.idempotency?.keyHash,
      terms: termsText(held, answer, now),
      createdAt: openedAt,
      progress: {
        state,
        pollMs,
        expiresAt: DateTime.add(openedAt, { milliseconds: lifetimeMs }),
        askedAt: openedAt,
        dueAt: DateTime.add(now, { milliseconds: pollMs }),
        failures: 0,
        waitedMs: 0,
        waitingSince: undefined
      },
      canceled: false,
      ended: undefined,
      final: undefined
    }
    const suspension = calls.suspend({
      consumerId: request.consumerId,
      invocationId,
      leg: TASK_LEG,
      deadlineAt: DateTime.add(openedAt, { milliseconds: TASK_MS_MAX + TASK_GRACE_MS }),
      max: SUSPENDED_CALLS_MAX
    })
    // The task is stored first: a call that waits for none would keep its hold until the deadline. Without the store no
    // client learns of it: the work would be for nothing.
    const suspended = yield* Effect.tapError(Effect.andThen(store.add(task), suspension), () => abandoning(task))
    if (suspended === "suspended") {
      return startedBy(task)
    }
    yield* store.remove(task.id)
    yield* abandoning(task)
    if (suspended === "gone") return yield* new CallOverdue({ receiptId: invocationId })
    return yield* settle(held, { ...answer, problem: TOO_MANY_CALLS, endedBy: "service" }, true)
  })

  const take: HandOver<McpCallOutcome> = (held, answer) => {
    const { pending } = answer
    if (pending?.kind !== "task") return undefined
    const { resultText, session } = pending
    const started = session === undefined ? startedTask(resultText) : startedSessionTask(resultText)
    if (started !== undefined) return takeOver(held, started, pending, answer)
    const { endpointUrl, id: providerId } = held.entry.provider
    const { consumerId } = held.request
    // A task without a valid id is settled like any call.
    const closed = requests.close({ consumerId, endpointUrl, providerId, session, upstreamId: "" })
    return Effect.andThen(Effect.forkDetach(closed), settle(held, answer, true))
  }
  return take
})

export const startedBy = (task: CallTask): TaskStarted => ({
  _tag: "TaskStarted",
  resultText: createdText(task),
  receiptId: task.invocationId
})

/** Another account's task, or another provider's at the door of one, is as unknown as none. */
export class TaskUnknown extends Schema.TaggedError<TaskUnknown>()("TaskUnknown", {}) {
  override get message() {
    return "There is no such task. Results of tasks are kept for 24 hours after their end."
  }
}

/** `RunsOn`: the tool does not pass cancellations to its provider. */
export type TaskCancellation =
  | { readonly _tag: "EndedBefore" }
  | { readonly _tag: "RunsOn" }
  | { readonly _tag: "Canceled"; readonly task: SeenTask }

/** A page of a consumer's tasks. */
export interface TaskPage {
  readonly tasks: ReadonlyArray<SeenTask>
  /** The last one of them, if there are more. */
  readonly last: TaskPosition | undefined
}

type Asked<A, E = never> = Effect.Effect<A, E | TaskUnknown | StoreUnavailable>

const LISTED_MAX = 50
const DUE_AT_ONCE_MAX = 100
const NEVER = DateTime.makeUnsafe(0)

export class Tasks extends Context.Service<
  Tasks,
  {
    /** `CallRequest.takeTask` is this function. */
    readonly take: HandOver<McpCallOutcome>
    /** Returns the task that a call with this idempotency key has started before. */
    earlier(
      consumerId: ConsumerId,
      idempotency: CallIdempotency
    ): Effect.Effect<TaskStarted | undefined, StoreUnavailable>
    get(caller: TaskCaller, id: string): Asked<SeenTask>
    /** The newest first, without results. The provider is not asked. */
    list(caller: TaskCaller, after: TaskPosition | undefined): Effect.Effect<TaskPage, StoreUnavailable>
    /** Answers to questions of the task, verbatim to its provider. Undefined: the task has ended, and ignores them. */
    update(
      caller: TaskCaller,
      id: string,
      inputResponses: string,
      client: TaskClient
    ): Asked<PassedReply | undefined, ServerFailed>
    /** Passes the cancellation to the provider only where the tool publishes that. */
    cancel(caller: TaskCaller, id: string): Asked<TaskCancellation>
    /** One round over the tasks that are due, on any number of nodes at once. */
    readonly work: Effect.Effect<number, Unsettled>
    /** Deletes at most `limit` results that are kept no longer; returns how many. */
    prune(limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/tasks/Tasks") {
  /** `render`: the response of a finished call. */
  static readonly layer = (render: Render) =>
    Layer.effect(
      Tasks,
      Effect.gen(function* () {
        const store = yield* TaskStore
        const requests = yield* makeTaskRequests
        const advancing = yield* makeTaskAdvance(requests, render)
        const { advance, leaseFrom } = advancing
        const take = yield* makeTaskStart(requests, advancing)

        const advanced = (task: CallTask): Effect.Effect<SeenTask, StoreUnavailable> =>
          Effect.catchIf(
            advance(task),
            (failure) => failure._tag !== "StoreUnavailable",
            // Settled in the background.
            () => Effect.succeed(runningTask(task))
          )

        const find = Effect.fnUntraced(function* ({ consumerId, providerId }: TaskCaller, id: string) {
          const task = Option.getOrUndefined(yield* store.find(id))
          return task === undefined ||
            task.consumerId !== consumerId ||
            (providerId !== undefined && task.providerId !== providerId)
            ? yield* new TaskUnknown()
            : task
        })

        return Tasks.of({
          take,

          earlier: (consumerId, { keyHash, requestHash }) =>
            Effect.map(store.findByKey(consumerId, keyHash), (found) => {
              const task = Option.getOrUndefined(found)
              // With another request the key is a conflict, as the store of calls says.
              return task === undefined || termsIn(task.terms).idempotency?.requestHash !== requestHash
                ? undefined
                : startedBy(task)
            }),

          get: Effect.fn("Tasks.get")(function* (caller, id) {
            const task = yield* find(caller, id)
            if (task.final !== undefined) return task.final
            const now = yield* DateTime.now
            const askedBefore = DateTime.subtract(now, { milliseconds: task.progress.pollMs })
            const claimed = yield* store.claim(id, askedBefore, now)
            return Option.isSome(claimed) ? yield* advanced(claimed.value) : runningTask(task)
          }),

          list: Effect.fn("Tasks.list")(function* (caller, after) {
            const found = yield* store.list(caller, after, LISTED_MAX + 1)
            const page = found.slice(0, LISTED_MAX)
            return { tasks: page.map(listedTask), last: found.length > LISTED_MAX ? page.at(-1) : undefined }
          }),

          update: Effect.fn("Tasks.update")(function* (caller, id, inputResponses, client) {
            const task = yield* find(caller, id)
            // A task in a session asks nothing.
            if (task.ended !== undefined || task.session !== undefined) return undefined
            const reply = yield* requests.update(task, inputResponses, client)
            const { progress } = task
            const time =
              reply._tag === "RpcError" ? {} : timeAfterAnswers(progress, inputResponses, yield* DateTime.now)
            // The next request of the client sees what became of its answers. The background does not wait longer for it.
            yield* store.note(id, { ...progress, ...time, askedAt: NEVER })
            return reply
          }),

          cancel: Effect.fn("Tasks.cancel")(function* (caller, id) {
            const task = yield* find(caller, id)
            if (task.ended !== undefined) return { _tag: "EndedBefore" }
            if (termsIn(task.terms).cancellation === "outcome") return { _tag: "RunsOn" }
            if (!(yield* store.cancel(id))) return { _tag: "EndedBefore" }
            return { _tag: "Canceled", task: yield* advanced({ ...task, canceled: true }) }
          }),

          work: Effect.gen(function* () {
            const now = yield* DateTime.now
            const due = yield* store.claimDue(now, leaseFrom(now), DUE_AT_ONCE_MAX)
            const worked = yield* round(due, {
              failing: "Tasks that could not be settled",
              concurrency: DUE_AT_ONCE_MAX,
              work: advance
            })
            return worked.length
          }).pipe(Effect.withSpan("Tasks.work")),

          prune: (limit) =>
            Effect.flatMap(DateTime.now, (now) =>
              store.prune(DateTime.subtract(now, { milliseconds: TASK_KEPT_MS }), limit)
            )
        })
      })
    )
}
