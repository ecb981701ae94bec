/**
 * A call whose provider started a task: the call stays open with its hold, and the task belongs to no node.
 */
import { DateTime, Effect } from "effect"
import type { HeldCall, McpCallOutcome, OtherEnding, TaskStarted } from "../metering/Call.ts"
import { CallOverdue, type Unsettled } from "../metering/CallEndings.ts"
import { CallStore } from "../metering/CallStore.ts"
import { SUSPENDED_CALLS_MAX } from "../metering/SuspendedCall.ts"
import type { PendingResult, UpstreamProblem, UpstreamResponse } from "../upstream/ToolUpstream.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type CallTask, TASK_GRACE_MS, TASK_ID_BYTES, TASK_MS_MAX } from "./CallTask.ts"
import { startedLegacyTask } from "./LegacyTaskReply.ts"
import type { makeTaskAdvance } from "./TaskAdvance.ts"
import { startedTask, type StartedTask } from "./TaskReply.ts"
import type { makeTaskRequests } from "./TaskRequests.ts"
import { TaskStore } from "./TaskStore.ts"
import { termsText } from "./TaskTerms.ts"
import { createdText } from "./TaskTexts.ts"

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
    // First the task: a call that waits for none would keep its hold until the deadline. Without the store no client learns
    // of it: the work would be for nothing.
    const suspended = yield* Effect.tapError(Effect.andThen(store.add(task), suspension), () => abandoning(task))
    if (suspended === "suspended") {
      return startedBy(task)
    }
    yield* store.remove(task.id)
    yield* abandoning(task)
    if (suspended === "gone") return yield* new CallOverdue({ receiptId: invocationId })
    return yield* settle(held, { ...answer, problem: TOO_MANY_CALLS, endedBy: "service" }, true)
  })

  /** For `CallRequest.takeTask`. */
  const take: OtherEnding<McpCallOutcome> = (held, answer) => {
    const { pending } = answer
    if (pending?.kind !== "task") return undefined
    const { resultText, session } = pending
    const started = session === undefined ? startedTask(resultText) : startedLegacyTask(resultText)
    if (started !== undefined) return takeOver(held, started, pending, answer)
    const { endpointUrl, id: providerId } = held.entry.provider
    const { consumerId } = held.request
    // Without a valid id: it is settled like any call.
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
