/**
 * The providers of the world: requests, invocations and responses. Each request carries a unique word that the response
 * repeats, so a response can be matched to its request.
 */
import { Effect, Layer } from "effect"
import { REPORTED_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import {
  type CallStatus,
  ToolUpstream,
  type UpstreamResponse,
  type UpstreamCall
} from "../../../domain/upstream/ToolUpstream.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import type { Behavior } from "../world/Step.ts"

export interface Told extends Behavior {
  readonly reportedMicrocents: number | undefined
  /** How often it asks for input before it responds. */
  readonly asks?: number
}

export interface Forwarded {
  readonly call: UpstreamCall
  readonly word: string
  /** Undefined while it is being worked on, and where the caller did not wait. */
  status: CallStatus | undefined
  reportedMicrocents: number | undefined
}

export class Providers {
  readonly forwarded = new Map<ReceiptId, Forwarded>()
  /** How a provider behaves when it is called with this word. */
  readonly behaviors = new Map<string, Told>()
  /** Since the last look. */
  readonly fresh: Array<ReceiptId> = []
  /** Requests of each invocation. */
  private readonly legs = new Map<ReceiptId, number>()
  /** Invocations that came once more than they were asked to. */
  readonly repeated: Array<ReceiptId> = []

  readonly layer = Layer.succeed(ToolUpstream, {
    call: (call) =>
      Effect.gen({ self: this }, function* () {
        const word = String(call.arguments["word"])
        const behavior = this.behaviors.get(word)!
        if (behavior.outcome === "unreachable") return unreachable
        const legs = (this.legs.get(call.invocationId) ?? 0) + 1
        this.legs.set(call.invocationId, legs)
        const asks = behavior.asks ?? 0
        if (legs > asks + 1) this.repeated.push(call.invocationId)
        const forwarded: Forwarded = { call, word, status: undefined, reportedMicrocents: undefined }
        this.forwarded.set(call.invocationId, forwarded)
        this.fresh.push(call.invocationId)
        call.onForwarded?.(1)
        if (legs <= asks) {
          yield* Effect.sleep(behavior.latencyMs)
          return asking(legs)
        }
        const late = behavior.latencyMs >= call.timeoutMs
        yield* Effect.sleep(late ? call.timeoutMs : behavior.latencyMs)
        const answer = late ? timeout(call.timeoutMs) : answerOf(word, behavior)
        forwarded.status = answer.status
        if (answer.result !== undefined) forwarded.reportedMicrocents = behavior.reportedMicrocents
        return answer
      })
  })
}

const base = { problem: undefined, attempts: 1, requestBytes: 100, responseBytes: 1_000 } as const

const problem = (kind: NonNullable<UpstreamResponse["problem"]>["kind"], message: string) => ({
  result: undefined,
  problem: { kind, message }
})

const answerOf = (word: string, { latencyMs, outcome, reportedMicrocents }: Told): UpstreamResponse => {
  if (outcome === "rate_limited") {
    return { ...base, ...problem("rate_limited", "Not so fast"), status: "rate_limited", latencyMs }
  }
  const result = {
    content: [{ type: "text", text: word }],
    ...(outcome === "tool_error" ? { isError: true } : {}),
    ...(reportedMicrocents === undefined ? {} : { _meta: { [REPORTED_COST_FIELD]: reportedMicrocents } })
  }
  return { ...base, status: outcome === "success" ? "success" : "error", result, latencyMs }
}

const asking = (leg: number): UpstreamResponse => ({
  ...base,
  ...problem("unfinished", "It asks for input"),
  status: "error",
  pending: {
    kind: "input_required",
    resultText: `{"resultType":"input_required","requestState":"leg ${leg}"}`,
    requestState: `leg ${leg}`
  },
  latencyMs: 10
})

const timeout = (latencyMs: number): UpstreamResponse => ({
  ...base,
  ...problem("timeout", "It did not answer in time"),
  status: "timeout",
  latencyMs
})

/** The call was forwarded or not: its outcome is unknown. */
export const unreachable: UpstreamResponse = {
  ...base,
  ...problem("connection", "Nobody answers there"),
  status: "error",
  attempts: 0,
  latencyMs: 1
}
