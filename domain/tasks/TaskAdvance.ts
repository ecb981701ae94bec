/**
 * One step of a task: its provider is asked, and what it says is stored. The first ending counts. A task that has ended is
 * settled.
 */
import { DateTime, Effect, Option } from "effect"
import { ANSWER_MS_MIN, type Unsettled } from "../metering/CallEndings.ts"
import type { Render } from "../metering/NewCalls.ts"
import { isWaiting, timeAfterState, waitedMsAt } from "./CallerTime.ts"
import { type CallTask, POLL_MS_MAX } from "./CallTask.ts"
import {
  asksForInput,
  canceledByCaller,
  canceledByProvider,
  leftUnanswered,
  outcomeText,
  type TaskOutcome,
  timedOut
} from "./TaskOutcome.ts"
import { isRunning, type RunningTask } from "./TaskReply.ts"
import type { makeTaskRequests } from "./TaskRequests.ts"
import { makeTaskSettlement } from "./TaskSettlement.ts"
import { TaskStore } from "./TaskStore.ts"
import { runningTask, type SeenTask } from "./TaskTexts.ts"

/** A node that claims a task and stops leaves it to the others after this time. */
const LEASE_MS = 60_000
/** In the background a provider is asked less often the longer its task runs: after this part of the time that it has taken. */
const ELAPSED_PART = 8
const FAILED_MS_MAX = 5 * 60_000
const FAILURES_COUNTED_MAX = 20

export const makeTaskAdvance = Effect.fnUntraced(function* (
  requests: Effect.Success<typeof makeTaskRequests>,
  render: Render
) {
  const store = yield* TaskStore
  const { settle, settleEnded } = yield* makeTaskSettlement(render)

  const end = Effect.fnUntraced(function* (
    task: CallTask,
    outcome: TaskOutcome
  ): Effect.fn.Return<SeenTask, Unsettled> {
    const at = yield* DateTime.now
    const ended = { outcome: outcomeText({ ...outcome, waitedMs: waitedMsAt(task.progress, at) }), at }
    if (yield* store.end(task.id, ended.outcome, ended.at)) {
      yield* Effect.forkDetach(isLeft(outcome) ? requests.abandon(task) : requests.close(task))
      return yield* settleEnded({ ...task, ended })
    }
    // Another node saw its end before, and settles it.
    const known = Option.getOrUndefined(yield* store.find(task.id))
    return known?.final ?? runningTask(task)
  }, Effect.uninterruptible)

  const goesOn = Effect.fnUntraced(function* (task: CallTask, said: RunningTask | undefined) {
    const now = yield* DateTime.now
    const { createdAt, progress } = task
    const pollMs = said?.pollMs ?? progress.pollMs
    const failures = said === undefined ? Math.min(progress.failures + 1, FAILURES_COUNTED_MAX) : 0
    const expiresAt =
      said === undefined ? progress.expiresAt : DateTime.add(createdAt, { milliseconds: said.lifetimeMs })
    const state = said?.state ?? progress.state
    const time = timeAfterState(progress, state, now)
    if (now.epochMilliseconds >= expiresAt.epochMilliseconds) {
      return yield* end({ ...task, progress: { ...progress, ...time } }, isWaiting(time) ? leftUnanswered : timedOut)
    }
    const elapsedMs = now.epochMilliseconds - createdAt.epochMilliseconds
    const waitMs =
      said === undefined
        ? Math.min(pollMs * 2 ** failures, FAILED_MS_MAX)
        : Math.max(pollMs, Math.min(elapsedMs / ELAPSED_PART, POLL_MS_MAX))
    const next: CallTask = {
      ...task,
      progress: {
        ...time,
        state,
        pollMs,
        expiresAt,
        askedAt: now,
        dueAt: DateTime.min(DateTime.add(now, { milliseconds: Math.round(waitMs) }), expiresAt),
        failures
      }
    }
    yield* store.note(task.id, next.progress)
    return runningTask(next)
  })

  /** Its caller may have canceled it since it was read. */
  const isCanceled = (task: CallTask) =>
    Effect.map(store.find(task.id), Option.match({ onNone: () => task.canceled, onSome: ({ canceled }) => canceled }))

  /** Returns what the client gets. */
  const advance = Effect.fnUntraced(function* (task: CallTask): Effect.fn.Return<SeenTask, Unsettled> {
    const { ended } = task
    if (ended !== undefined) return yield* Effect.uninterruptible(settleEnded({ ...task, ended }))
    // Here, because the node that stored the cancellation may have stopped before the provider was told.
    if (task.canceled) yield* requests.cancel(task)
    const said = yield* requests.state(task)
    if (said === canceledByProvider && (yield* isCanceled(task))) return yield* end(task, canceledByCaller)
    if (said !== undefined && !isRunning(said)) return yield* end(task, yield* byItsEnder(task, said))
    // Work that was done is paid; what runs on after a cancellation is not waited for.
    return yield* task.canceled ? end(task, canceledByCaller) : goesOn(task, said)
  })

  return { advance, settle, leaseFrom: (now: DateTime.Utc) => DateTime.add(now, { milliseconds: LEASE_MS }) }
})

/** The task may still run at its provider. */
const isLeft = (outcome: TaskOutcome): boolean =>
  outcome === timedOut || outcome === leftUnanswered || outcome === asksForInput

/** A provider that gives up because its caller does not answer has not failed. */
const byItsEnder = ({ progress: { waitingSince } }: CallTask, outcome: TaskOutcome) =>
  Effect.map(DateTime.now, (now): TaskOutcome => {
    const waitedMs = waitingSince === undefined ? 0 : now.epochMilliseconds - waitingSince.epochMilliseconds
    return outcome.status === "error" && waitedMs >= ANSWER_MS_MIN ? { ...outcome, endedBy: "caller" } : outcome
  })
