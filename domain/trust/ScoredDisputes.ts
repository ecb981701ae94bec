/**
 * The disputes that a score counts: about calls with a cost, filed within the window, and decided. Open disputes and
 * disputes about free calls do not count.
 */
import type { ConsumerId } from "../shared/Ids.ts"

/** Decisions about the paid calls of one consumer. */
export interface ConsumerRulings {
  readonly consumerId: ConsumerId
  /** Filed by the consumer, and refunded. */
  readonly upheld: number
  /** Filed by the consumer, and denied. */
  readonly denied: number
  /** Of calls that had succeeded, filed by either party. */
  readonly refundedCalls: number
  /** Filed by either party, with any outcome of the call. */
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
