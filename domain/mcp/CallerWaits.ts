/**
 * Calls whose provider asks their caller for input before its response, as servers with sessions do: while the caller is
 * asked, the tool's time does not run. The hold stays, so the call's deadline in the store is moved first; a call whose
 * deadline cannot be moved ends at its usual time.
 */
import { Clock, Effect } from "effect"
import { ANSWER_MS_MIN, type CallerWait, type CallRequest, type McpCallRequest } from "../metering/Call.ts"
import { makeMoveDeadline } from "../metering/CallRun.ts"
import type { CallProgress } from "../metering/CallsInFlight.ts"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import { monotonicMs } from "../shared/Time.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"

export const WAIT_MS_MAX = 10 * 60_000
/** The waits of one call: further requests are passed on, and the tool's time runs. */
const WAITS_MAX = 16
/** The limit per account and node. */
const WAITING_CALLS_MAX = 16

type FollowedCall = Parameters<NonNullable<CallRequest["follow"]>>[0]

const UNANSWERED: Pick<UpstreamResponse, "status" | "problem"> = {
  status: "error",
  problem: { kind: "canceled", message: "The tool asked its caller for input, which did not come in time." }
}

export const makeCallerWaits = Effect.gen(function* () {
  const moveDeadline = yield* makeMoveDeadline
  const clock = yield* Clock.Clock
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  /** The waits by the request that the caller was sent. */
  const settleByRequest = new Map<string, (request: string) => void>()
  const waiting = new Map<ConsumerId, number>()

  /** The client's own session is the key: the one at the server may be renewed, or have no id. */
  const keyOf = (consumerId: ConsumerId, clientSession: string | undefined, requestId: string): string =>
    `${consumerId} ${clientSession ?? ""} ${requestId}`

  const count = (consumerId: ConsumerId, change: 1 | -1): void => {
    const now = (waiting.get(consumerId) ?? 0) + change
    if (now === 0) waiting.delete(consumerId)
    else waiting.set(consumerId, now)
  }

  const waitOf = (
    { consumerId, onWait }: CallRequest,
    invocationId: ReceiptId,
    timeoutMs: number,
    progress: CallProgress,
    beganMs: number
  ) => {
    const open = new Set<string>()
    let waits = 0
    let waitedMs = 0
    let sinceMs = 0
    let counted = false
    /** A question beyond the limits, whose answer is not followed. */
    let beyond = false
    /** True if the deadline was moved; undefined before that is tried. */
    let moved: boolean | undefined

    const waitedNow = (): number => waitedMs + (open.size === 0 ? 0 : monotonicMs(clock) - sinceMs)
    const waitLeftMs = (): number => Math.max(0, WAIT_MS_MAX - waitedNow())
    const toolLeftMs = (): number => Math.max(0, progress.limitMs - (monotonicMs(clock) - beganMs - waitedNow()))

    const restart = (leftMs: number): void => {
      progress.restart?.(leftMs)
      onWait?.(leftMs)
    }

    const pause = (): void => {
      if (open.size > 0 && !progress.ended) restart(toolLeftMs() + waitLeftMs())
    }

    const uncount = (): void => {
      if (counted) count(consumerId, -1)
      counted = false
    }

    const extend = Effect.map(moveDeadline(consumerId, invocationId, timeoutMs, WAIT_MS_MAX), (isMoved) => {
      if (!isMoved) return
      moved = true
      pause()
    })

    const settle = (key: string): void => {
      settleByRequest.delete(key)
      if (!open.delete(key) || open.size > 0) return
      waitedMs += monotonicMs(clock) - sinceMs
      uncount()
      if (moved && !progress.ended) restart(toolLeftMs())
    }

    const begin = (key: string): void => {
      if (open.size === 0) {
        if (waits >= WAITS_MAX || waitLeftMs() === 0 || (waiting.get(consumerId) ?? 0) >= WAITING_CALLS_MAX) {
          beyond = true
          return
        }
        waits++
        sinceMs = monotonicMs(clock)
        counted = true
        count(consumerId, 1)
      } else if (open.size >= WAITS_MAX) return
      open.add(key)
      settleByRequest.set(key, settle)
      if (moved) return pause()
      if (moved === false) return
      moved = false
      runFork(extend)
    }

    return {
      begin,
      extraMs: () => (!moved ? 0 : open.size === 0 ? waitedMs : WAIT_MS_MAX),
      end: (answer: UpstreamResponse) => {
        const isUnanswered =
          beyond || (open.size > 0 && (isLate(answer) || monotonicMs(clock) - sinceMs >= ANSWER_MS_MIN))
        const latencyMs = Math.round(Math.max(0, answer.latencyMs - Math.min(waitedNow(), WAIT_MS_MAX)))
        for (const key of open) settleByRequest.delete(key)
        open.clear()
        uncount()
        if (!isUnanswered || (answer.status !== "error" && !isLate(answer))) return { ...answer, latencyMs }
        return { ...answer, ...(isLate(answer) ? UNANSWERED : undefined), endedBy: "caller" as const, latencyMs }
      }
    }
  }

  /** Most calls ask their caller nothing, and need no more than this. */
  const follow = (request: McpCallRequest, { invocationId, progress, timeoutMs }: FollowedCall): CallerWait => {
    const { clientSession, onMessage } = request.exchange
    const beganMs = monotonicMs(clock)
    let wait: ReturnType<typeof waitOf> | undefined
    return {
      onMessage: (message) => {
        const id = requestIdOf(message)
        if (id !== undefined && !progress.ended) {
          wait ??= waitOf(request, invocationId, timeoutMs, progress, beganMs)
          wait.begin(keyOf(request.consumerId, clientSession, id))
        }
        onMessage(message)
      },
      extraMs: () => wait?.extraMs() ?? 0,
      end: (answer) => wait?.end(answer) ?? answer
    }
  }

  const answered = (consumerId: ConsumerId, clientSession: string | undefined, requestId: string): void => {
    const key = keyOf(consumerId, clientSession, JSON.stringify(JSON.parse(requestId)))
    settleByRequest.get(key)?.(key)
  }

  return { follow, answered }
})

const isLate = ({ status }: UpstreamResponse): boolean => status === "timeout"

/** The id of a request for input as JSON; undefined for other messages. A ping is answered without the user. */
const requestIdOf = (message: string): string | undefined => {
  if (!message.includes('"method"') || !message.includes('"id"')) return undefined
  const { id, method }: { readonly id?: unknown; readonly method?: unknown } = JSON.parse(message)
  return id === undefined || method === undefined || method === "ping" ? undefined : JSON.stringify(id)
}
