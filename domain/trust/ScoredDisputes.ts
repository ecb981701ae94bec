/**
 * The disputes that a score looks at: about calls that cost something, filed within the window, and decided. An open one
 * is a claim, and one about a free call costs its filer nothing: neither says anything about the provider.
 */
import type { ConsumerId } from "../shared/Ids.ts"

/** What was decided about the paid calls of one consumer. */
export interface ConsumerRulings {
  readonly consumerId: ConsumerId
  /** Filed by the consumer, and refunded. */
  readonly upheld: number
  /** Filed by the consumer, and denied. */
  readonly denied: number
  /** Of those that had succeeded, whoever filed. */
  readonly refundedCalls: number
  /** Whoever filed, and whatever the outcome of the call was. */
  readonly refundedMicrocents: bigint
}

export interface ScoredDisputes {
  readonly upheld: number
  readonly denied: number
}

export const scoredDisputesOf = (rulings: ReadonlyArray<ConsumerRulings>): ScoredDisputes => ({
  upheld: rulings.reduce((sum, one) => sum + one.upheld, 0),
  denied: rulings.reduce((sum, one) => sum + one.denied, 0)
})
