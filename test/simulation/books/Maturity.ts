/**
 * Earnings are not paid out before they mature, and the reserve stays. Counted from receipts and the processor's transfers.
 */
import { Effect } from "effect"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import type { MadeTransfer } from "../parts/Processor.ts"
import { wrong } from "../world/Asking.ts"
import type { World } from "../world/World.ts"
import { makeFeeOf } from "./Books.ts"

const CENT = 10_000n
const DAY_MS = 24 * 3_600_000
/** Clocks are set by that much at most. */
const SKEW_MS = 30 * 60_000

export const makeMaturityCheck = ({ facts, processor, terms }: World) => {
  const feeOf = makeFeeOf(facts)
  let checked = 0

  const receiptsOf = (providerId: string): ReadonlyArray<Receipt> =>
    [...facts.receipts.values()].filter((one) => one.provider_id === providerId && one.cost_microcents > 0n)

  const payableAt = (providerId: string, atMs: number): bigint => {
    const joinedAtMs = facts.joinedAtMs.get(providerId) ?? -Infinity
    let sum = 0n
    for (const { cost_microcents: cost, created_at, receipt_id: id } of receiptsOf(providerId)) {
      const settledAtMs = Date.parse(created_at)
      const ageMs = atMs + SKEW_MS - settledAtMs
      const isNew = settledAtMs - joinedAtMs < (terms.newProviderDays - 1) * DAY_MS
      const delayDays = isNew ? terms.newProviderDelayDays : terms.payoutDelayDays
      const net = cost - feeOf(id, cost)
      if (ageMs < delayDays * DAY_MS) continue
      const reserved = ageMs < terms.reserveDays * DAY_MS ? (net * BigInt(terms.reservePercent)) / 100n : 0n
      sum += net - reserved
    }
    return sum
  }

  return Effect.suspend(() => {
    const made = [...processor.transfers.values()]
    while (checked < made.length) {
      const transfer = made[checked++]!
      const paid = made.slice(0, checked).reduce((sum, one) => sum + (sameAccount(one, transfer) ? kept(one) : 0n), 0n)
      const payable = payableAt(transfer.accountId.slice("acct_".length), transfer.madeAtMs)
      if (paid > payable) {
        return wrong("earnings mature", `${transfer.accountId} was paid ${paid} in all, of ${payable} that had matured`)
      }
    }
    return Effect.void
  })
}

const sameAccount = (one: MadeTransfer, other: MadeTransfer): boolean => one.accountId === other.accountId

const kept = ({ amountCents, reversedCents }: MadeTransfer): bigint => BigInt(amountCents - reversedCents) * CENT
