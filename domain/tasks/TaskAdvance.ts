/**
 * One step of a task: its provider is asked, and what it says is stored. The first ending counts. A task that has ended is
 * settled.
 */
import { DateTime, Effect, Option } from "effect"
import { CatalogStore, entryOn } from "../catalog/CatalogStore.ts"
import { ANSWER_MS_MIN, type CallReport, type Unsettled } from "../metering/Call.ts"
import { CallStore } from "../metering/CallStore.ts"
import type { Render } from "../metering/NewCalls.ts"
import { makeSettle } from "../metering/Settlement.ts"
import { Receipts } from "../receipts/Receipts.ts"
import { zero } from "../shared/Microcents.ts"
import { INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, TASKS_EXTENSION } from "../upstream/Protocol.ts"
import { type PassedReply, ProviderServers, type ServerFailed } from "../upstream/ProviderServers.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"
import {
  type CallTask,
  type FinalTask,
  finalTask,
  isWaiting,
  POLL_MS_MAX,
  runningTask,
  type SeenTask,
  TASKS_KEPT_BYTES_MAX,
  TaskStore,
  termsIn,
  timeAfterState,
  waitedMsAt
} from "./CallTask.ts"
import { sessionTaskResult, sessionTaskState } from "./SessionTasks.ts"
import {
  answerOf,
  asksForInput,
  canceledByCaller,
  canceledByProvider,
  forgotten,
  isRunning,
  leftUnanswered,
  outcomeIn,
  outcomeText,
  type RunningTask,
  sessionLost,
  type TaskOutcome,
  taskState,
  timedOut
} from "./TaskReply.ts"

// Settles the call of a task that has ended, by the stored outcome alone: the same settlement as of any call. If a node stops
// in between, the next one makes the same receipt, which counts once.

type EndedTask = CallTask & { readonly ended: NonNullable<CallTask["ended"]> }

export const makeTaskSettlement = Effect.fnUntraced(function* (render: Render) {
  const store = yield* TaskStore
  const catalog = yield* CatalogStore
  const calls = yield* CallStore
  const receipts = yield* Receipts
  const settle = yield* makeSettle

  /** Returns what the client gets from now on. */
  const settleEnded = Effect.fnUntraced(function* (task: EndedTask): Effect.fn.Return<FinalTask, Unsettled> {
    const { consumerId, createdAt, ended, invocationId } = task
    const terms = termsIn(task.terms)
    const outcome = outcomeIn(ended.outcome)
    const tookMs = Math.max(0, ended.at.epochMilliseconds - terms.startedMs - outcome.waitedMs)
    const latencyMs = terms.latencyMs + tookMs
    const answer = answerOf(outcome, { ...terms, latencyMs })
    const found = yield* catalog.find(terms.toolId)
    // Tools that were listed once are never deleted.
    const entry = entryOn(Option.getOrThrow(found), terms)
    const { reference } = terms
    const { availableMicrocents } = yield* calls.callFunds(consumerId, terms.toolId, ended.at)
    const opened = {
      _tag: "Opened",
      held: terms.held,
      free: terms.free,
      freeCallsLeft: terms.freeCallsLeft,
      availableMicrocents
    } as const
    const settled = settle(
      {
        request: {
          consumerId,
          tool: { toolId: reference.toolId, toolName: reference.toolName, providerId: reference.providerId },
          arguments: {},
          maxCost: undefined,
          idempotency: terms.idempotency,
          requestId: terms.requestId
        },
        entry,
        invocationId,
        openedAt: createdAt,
        feeBasisPoints: terms.feeBasisPoints,
        holdAmount: terms.holdAmount,
        opened,
        // Its caller does not wait for it: the response under its key is kept like that of any call whose caller left.
        holdMs: terms.holdMs,
        progress: { ...FORWARDED, canceled: outcome.canceled },
        render,
        endedAt: ended.at
      },
      answer,
      !outcome.canceled
    )
    const final = yield* Effect.matchEffect(settled, {
      onSuccess: ({ answer: rendered, report: { receipt } }) =>
        Effect.succeed(finalTask(task, ended.at, rendered, receipt, outcome.canceled, outcome.status === "success")),
      onFailure: (failure) =>
        failure._tag === "CallOverdue"
          ? closedBefore(task, { entry, answer, availableMicrocents, freeCallsLeft: terms.freeCallsLeft })
          : Effect.fail(failure)
    })
    yield* store.settle(task.id, final, TASKS_KEPT_BYTES_MAX)
    return final
  })

  /** Closed with another receipt: voided by the sweeper, unless it says that the call was paid. */
  const closedBefore = Effect.fnUntraced(function* (
    task: EndedTask,
    given: Omit<CallReport, "receipt">
  ): Effect.fn.Return<FinalTask, Unsettled> {
    const receipt = Option.getOrUndefined(yield* receipts.find(task.invocationId))
    if (receipt !== undefined && receipt.cost_microcents > zero) {
      return finalTask(
        task,
        task.ended.at,
        render({ ...given, receipt }),
        receipt,
        false,
        given.answer.status === "success"
      )
    }
    const voided = { receipt_id: task.invocationId, cost_microcents: zero }
    const report = { ...given, answer: { ...given.answer, ...VOIDED }, receipt: receipt ?? (voided as never) }
    return finalTask(task, task.ended.at, render(report), voided, false, false)
  })

  return { settle, settleEnded }
})

const FORWARDED = {
  passesCancel: false,
  forwarded: 1,
  ended: true,
  left: true,
  limitMs: 0,
  restart: undefined
} as const

const VOIDED = {
  status: "error",
  result: undefined,
  resultText: undefined,
  problem: {
    kind: "timeout",
    message: "The call passed its deadline before the end of its task was known, so the result is not delivered"
  }
} as const satisfies Partial<UpstreamResponse>

// The requests about a task to the provider that runs it, from any node: over the session in which it was started, if any.

/** A client waits longer for a response. */
const ASK_MS_MAX = 10_000

/** The client of a request, as it declared; the service itself if it asks on its own. */
export interface TaskClient {
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
}

const SERVICE: TaskClient = { capabilities: `{"extensions":{"${TASKS_EXTENSION}":{}}}`, clientInfo: undefined }

/** Undefined: the provider could not be asked, or failed for now. */
type State = RunningTask | TaskOutcome | undefined

export const makeTaskRequests = Effect.gen(function* () {
  const servers = yield* ProviderServers

  const send = (
    { consumerId, endpointUrl, providerId, session, upstreamId }: Asked,
    method: "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel",
    { capabilities, clientInfo }: TaskClient = SERVICE,
    more = ""
  ): Effect.Effect<PassedReply, ServerFailed> =>
    servers.ask(
      { providerId, endpointUrl },
      {
        method,
        params: `{"taskId":${JSON.stringify(upstreamId)}${more}}`,
        inSession: session !== undefined,
        capabilities,
        clientInfo,
        session,
        requestId: "0",
        progressToken: undefined,
        consumerId,
        timeoutMs: ASK_MS_MAX,
        onMessage: () => {}
      }
    )

  const sessionState = Effect.fnUntraced(function* (
    task: CallTask,
    text: string
  ): Effect.fn.Return<State, ServerFailed> {
    const state = sessionTaskState(text)
    if (!("ended" in state)) return state
    const reply = yield* send(task, "tasks/result")
    const outcome = sessionTaskResult(task, state, reply)
    released(reply)
    return outcome
  })

  const state = (task: CallTask): Effect.Effect<State> =>
    send(task, "tasks/get").pipe(
      Effect.flatMap((reply): Effect.Effect<State, ServerFailed> => {
        if (reply._tag === "RpcError") return Effect.succeed(isForgotten(reply.error) ? forgotten : undefined)
        if (task.session !== undefined) return sessionState(task, reply.result)
        const state = taskState(reply.result)
        released(reply)
        return Effect.succeed(state)
      }),
      Effect.catch((failure) => Effect.succeed(failure.sessionLost ? sessionLost : undefined))
    )

  /** The provider may ignore it, or be away. */
  const cancel = (task: Asked): Effect.Effect<void> => Effect.ignore(send(task, "tasks/cancel"))

  /** Ends the session of a task that has ended. A server that is away ends it by its own idle time-out. */
  const close = ({ endpointUrl, providerId, session }: Asked): Effect.Effect<void> =>
    session === undefined ? Effect.void : servers.end({ providerId, endpointUrl }, session)

  /** Cancels a task whose result is not used any more, because it may still run, and ends its session. */
  const abandon = (task: Asked): Effect.Effect<void> => Effect.andThen(cancel(task), close(task))

  const update = (task: CallTask, inputResponses: string, client: TaskClient) =>
    send(task, "tasks/update", client, `,"inputResponses":${inputResponses}`)

  return { state, cancel, close, abandon, update }
})

type Asked = Pick<CallTask, "consumerId" | "endpointUrl" | "providerId" | "session" | "upstreamId">

const released = (reply: PassedReply): void => {
  if (reply._tag === "Result") reply.release?.()
}

/** The server does not know the task, or no tasks at all. Other errors may be temporary. */
const isForgotten = (error: string): boolean => {
  const { code } = JSON.parse(error) as { readonly code?: unknown }
  return code === INVALID_PARAMS || code === METHOD_NOT_FOUND || code === MISSING_CAPABILITY
}

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

  const goesOn = Effect.fnUntraced(function* (task: CallTask, reply: RunningTask | undefined) {
    const now = yield* DateTime.now
    const { createdAt, progress } = task
    const pollMs = reply?.pollMs ?? progress.pollMs
    const failures = reply === undefined ? Math.min(progress.failures + 1, FAILURES_COUNTED_MAX) : 0
    const expiresAt =
      reply === undefined ? progress.expiresAt : DateTime.add(createdAt, { milliseconds: reply.lifetimeMs })
    const state = reply?.state ?? progress.state
    const time = timeAfterState(progress, state, now)
    if (now.epochMilliseconds >= expiresAt.epochMilliseconds) {
      return yield* end({ ...task, progress: { ...progress, ...time } }, isWaiting(time) ? leftUnanswered : timedOut)
    }
    const elapsedMs = now.epochMilliseconds - createdAt.epochMilliseconds
    const waitMs =
      reply === undefined
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
    const reply = yield* requests.state(task)
    if (reply === canceledByProvider && (yield* isCanceled(task))) return yield* end(task, canceledByCaller)
    if (reply !== undefined && !isRunning(reply)) return yield* end(task, yield* byItsEnder(task, reply))
    // Work that was done is paid; what runs on after a cancellation is not waited for.
    return yield* task.canceled ? end(task, canceledByCaller) : goesOn(task, reply)
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
