/**
 * Tasks of calls: taken over from the call that started them, asked for by their clients and in the background, and settled
 * once when they end. A client never gets a result before its call is settled, and a call is settled whether or not its
 * client ever asks.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { PassedReply, ServerFailed } from "../mcp/ProviderServers.ts"
import type { HeldCall, McpCallOutcome, OtherEnding, TaskStarted } from "../metering/Call.ts"
import { CallOverdue, type Unsettled } from "../metering/CallEndings.ts"
import { type CallIdempotency, CallStore } from "../metering/CallStore.ts"
import type { Render } from "../metering/NewCalls.ts"
import { SUSPENDED_CALLS_MAX } from "../metering/SuspendedCall.ts"
import type { UpstreamProblem, UpstreamResponse } from "../metering/ToolUpstream.ts"
import { Entropy } from "../shared/Entropy.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { type CallTask, TASK_GRACE_MS, TASK_ID_BYTES, TASK_KEPT_MS, TASK_MS_MAX } from "./CallTask.ts"
import { makeTaskAdvance } from "./TaskAdvance.ts"
import { startedTask } from "./TaskReply.ts"
import { makeTaskRequests, type TaskClient } from "./TaskRequests.ts"
import { TaskStore } from "./TaskStore.ts"
import { termsIn, termsText } from "./TaskTerms.ts"
import { createdText, runningText } from "./TaskTexts.ts"

/** Another account's task, or another provider's at the door of one, is as unknown as none. */
export class TaskUnknown extends Schema.TaggedError<TaskUnknown>()("TaskUnknown", {}) {
  override get message() {
    return "There is no such task. Results of tasks are kept for 24 hours after their end."
  }
}

/** Who asks for a task. */
export interface TaskCaller {
  readonly consumerId: ConsumerId
  /** At the door of one provider: only its tasks. */
  readonly providerId: ProviderId | undefined
}

const TOO_MANY_CALLS: UpstreamProblem = {
  kind: "unfinished",
  message: `The tool started a task, and ${SUSPENDED_CALLS_MAX} calls of this account already run as tasks or wait for input, the maximum`
}

type Asked<A, E = never> = Effect.Effect<A, E | TaskUnknown | StoreUnavailable>

/** The leg that no request of a caller resumes. */
const TASK_LEG = 0
const DUE_AT_ONCE_MAX = 100
const NEVER = DateTime.makeUnsafe(0)

export class Tasks extends Context.Service<
  Tasks,
  {
    /** For `CallRequest.takeTask`. */
    readonly take: OtherEnding<McpCallOutcome>
    /** What a call with this idempotency key has started before. */
    earlier(
      consumerId: ConsumerId,
      idempotency: CallIdempotency
    ): Effect.Effect<TaskStarted | undefined, StoreUnavailable>
    /** The result of `tasks/get`. */
    get(caller: TaskCaller, id: string): Asked<string>
    /** Answers to questions of the task, verbatim to its provider. Undefined: the task has ended, and ignores them. */
    update(
      caller: TaskCaller,
      id: string,
      inputResponses: string,
      client: TaskClient
    ): Asked<PassedReply | undefined, ServerFailed>
    /** Passed to the provider only where the tool publishes that. */
    cancel(caller: TaskCaller, id: string): Asked<void>
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
        const calls = yield* CallStore
        const { hex } = yield* Entropy
        const requests = yield* makeTaskRequests
        const { advance, leaseFrom, settle } = yield* makeTaskAdvance(requests, render)

        const canceling = (task: CallTask) => Effect.forkDetach(requests.cancel(task))

        const takeOver = Effect.fnUntraced(function* (
          held: HeldCall,
          started: NonNullable<ReturnType<typeof startedTask>>,
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
            invocationId,
            upstreamId,
            keyHash: request.idempotency?.keyHash,
            terms: termsText(held, answer),
            createdAt: openedAt,
            progress: {
              state,
              pollMs,
              expiresAt: DateTime.add(openedAt, { milliseconds: lifetimeMs }),
              askedAt: openedAt,
              dueAt: DateTime.add(now, { milliseconds: pollMs }),
              failures: 0
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
          // First the task: a call that waits for none would keep its hold until the deadline. Without the store no client
          // learns of it: the work would be for nothing.
          const suspended = yield* Effect.tapError(Effect.andThen(store.add(task), suspension), () => canceling(task))
          if (suspended === "suspended") {
            return startedBy(task)
          }
          yield* store.remove(task.id)
          yield* canceling(task)
          if (suspended === "gone") return yield* new CallOverdue({ receiptId: invocationId })
          return yield* settle(held, { ...answer, problem: TOO_MANY_CALLS }, true)
        })

        const find = Effect.fnUntraced(function* ({ consumerId, providerId }: TaskCaller, id: string) {
          const task = Option.getOrUndefined(yield* store.find(id))
          return task === undefined ||
            task.consumerId !== consumerId ||
            (providerId !== undefined && task.providerId !== providerId)
            ? yield* new TaskUnknown()
            : task
        })

        return Tasks.of({
          take: (held, answer) => {
            const started = answer.pending?.kind === "task" ? startedTask(answer.pending.resultText) : undefined
            return started === undefined ? undefined : takeOver(held, started, answer)
          },

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
            return Option.isSome(claimed)
              ? yield* Effect.catchIf(
                  advance(claimed.value),
                  (failure) => failure._tag !== "StoreUnavailable",
                  // Settled in the background.
                  () => Effect.succeed(runningText(task))
                )
              : runningText(task)
          }),

          update: Effect.fn("Tasks.update")(function* (caller, id, inputResponses, client) {
            const task = yield* find(caller, id)
            if (task.ended !== undefined) return undefined
            const reply = yield* requests.update(task, inputResponses, client)
            // The next request of the client sees what became of its answers. The background does not wait longer for it.
            yield* store.note(id, { ...task.progress, askedAt: NEVER })
            return reply
          }),

          cancel: Effect.fn("Tasks.cancel")(function* (caller, id) {
            const task = yield* find(caller, id)
            if (task.ended !== undefined || termsIn(task.terms).leaving === "outcome") return
            if (!(yield* store.cancel(id))) return
            yield* Effect.catchIf(
              advance({ ...task, canceled: true }),
              (failure) => failure._tag !== "StoreUnavailable",
              () => Effect.void
            )
          }),

          work: Effect.gen(function* () {
            const now = yield* DateTime.now
            const due = yield* store.claimDue(now, leaseFrom(now), DUE_AT_ONCE_MAX)
            const advanced = yield* round(due, {
              failing: "Tasks that could not be settled",
              concurrency: DUE_AT_ONCE_MAX,
              work: advance
            })
            return advanced.length
          }).pipe(Effect.withSpan("Tasks.work")),

          prune: (limit) =>
            Effect.flatMap(DateTime.now, (now) =>
              store.prune(DateTime.subtract(now, { milliseconds: TASK_KEPT_MS }), limit)
            )
        })
      })
    )
}

const startedBy = (task: CallTask): TaskStarted => ({
  _tag: "TaskStarted",
  resultText: createdText(task),
  receiptId: task.invocationId
})
