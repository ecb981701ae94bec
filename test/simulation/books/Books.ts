/**
 * The expected balances, computed from documents: payments at the processor, receipts, decisions, payouts and credits. Does
 * not read the ledger.
 */
import { Context, Effect, Option } from "effect"
import { ClaimStore } from "../../../domain/earnings/Claims.ts"
import { PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { InvoiceStore } from "../../../domain/invoices/Invoice.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { ChargebackStore } from "../../../domain/payments/AccountFreezes.ts"
import { LoadStore } from "../../../domain/payments/Loads.ts"
import { isOpenPart, WithdrawalStore } from "../../../domain/payments/Withdrawals.ts"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import { ConsumerId, type ReceiptId } from "../../../domain/shared/Ids.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { type Dispute, type DisputeId, DisputeStore, isOpen } from "../../../domain/trust/DisputeStore.ts"
import { wrong } from "../world/Asking.ts"
import type { World } from "../world/World.ts"
import type { Facts } from "./Facts.ts"
import { makeFeesKnown } from "./ProcessorFees.ts"
import type { Violation } from "./Violation.ts"

/** Of consumers and providers by id, of the market's own accounts by name. */
export type Balances = Map<string, bigint>

export interface Books {
  /** A receipt, for good. */
  bill(receipt: Receipt): void
  readonly expected: Effect.Effect<Balances, Violation | StoreUnavailable>
}

const CENT = 10_000n

/** Rounded half up, at least 1 of anything above 0 unless the fee is 0: written down here a second time. */
const shareOf = (cost: bigint, basisPoints: bigint): bigint => {
  if (cost * basisPoints === 0n) return 0n
  const [whole, rest] = [(cost * basisPoints) / 10_000n, (cost * basisPoints) % 10_000n]
  const rounded = rest * 2n < 10_000n ? whole : whole + 1n
  return rounded > 1n ? rounded : 1n
}

/** By the fee with which the call was held. */
export const makeFeeOf =
  ({ heldFees }: Facts) =>
  (receiptId: ReceiptId, cost: bigint): bigint =>
    shareOf(cost, BigInt(heldFees.get(receiptId)!))

export const makeBooks = (world: World): Books => {
  const { facts, processor, stores, terms } = world
  const feeOf = makeFeeOf(facts)
  const feesKnown = makeFeesKnown(world)
  const ledger = Context.get(stores, LedgerStore)
  const withdrawals = Context.get(stores, WithdrawalStore)
  const loads = Context.get(stores, LoadStore)
  const chargebacks = Context.get(stores, ChargebackStore)
  const disputes = Context.get(stores, DisputeStore)
  const payouts = Context.get(stores, PayoutStore)
  const invoices = Context.get(stores, InvoiceStore)
  const claims = Context.get(stores, ClaimStore)
  /** What will not change any more, and what it was. */
  const settled: Balances = new Map()
  const known = new Set<string>()
  const decided = new Map<DisputeId, Dispute>()

  const takeInLoads = Effect.gen(function* () {
    for (const { amountCents, consumerId, loadId, state } of processor.checkouts.values()) {
      const load = known.has(loadId) ? undefined : Option.getOrUndefined(yield* loads.find(loadId))
      if (load?.state !== "paid") continue
      if (state !== "paid") return yield* wrong("loads were paid", `${loadId} is ${state} at the processor`)
      known.add(loadId)
      move(settled, consumerId, BigInt(amountCents) * CENT)
      move(settled, "processor", -BigInt(amountCents) * CENT)
    }
  })

  /** What of a refund is outstanding is a claim, and moves with what is paid of it. */
  const addRefund = Effect.fnUntraced(function* (
    now: Balances,
    { consumerId, cost, id, providerId, receiptId }: Dispute
  ) {
    const fee = feeOf(receiptId, cost)
    let [toConsumer, fromProvider, fromPlatform]: [bigint, bigint, bigint] = [cost, cost - fee, fee]
    for (const { amount, creditor, debtor, paid } of yield* claims.ofSubjects([id])) {
      const open = amount - paid
      if (creditor !== undefined) toConsumer -= open
      if (debtor === undefined) fromPlatform -= open
      else fromProvider -= open
      if (creditor === undefined) fromPlatform += open
    }
    move(now, consumerId, toConsumer)
    move(now, providerId, -fromProvider)
    move(now, "platform_fee", -fromPlatform)
  })

  const addDisputes = Effect.fnUntraced(function* (now: Balances) {
    for (const id of facts.disputes) {
      const dispute = decided.get(id) ?? Option.getOrUndefined(yield* disputes.find(id))
      if (dispute === undefined || isOpen(dispute)) continue
      decided.set(id, dispute)
      if (dispute.status === "resolved_refund") yield* addRefund(now, dispute)
      if (dispute.status !== "resolved_credit") continue
      move(now, dispute.consumerId, dispute.decision!.amount)
      move(now, "platform_fee", -dispute.decision!.amount)
    }
  })

  const addReversals = Effect.fnUntraced(function* (now: Balances) {
    for (const { amountCents, id, loadId } of processor.goneBack.values()) {
      const reversal = Option.getOrUndefined(yield* loads.reversal(id))
      const chargeback = Option.getOrUndefined(yield* chargebacks.find(id))
      if (reversal?.state !== "taken" && chargeback?.funds !== "withdrawn") continue
      const out = BigInt(amountCents) * CENT
      move(now, processor.checkouts.get(`cs_${loadId}`)!.consumerId, (yield* addLiable(now, id)) - out)
      move(now, "processor", out)
    }
  })

  /** Which earnings still matured when the bank took the money, only the posting knows. */
  const addLiable = Effect.fnUntraced(function* (now: Balances, id: string) {
    let sum = 0n
    if (terms.chargebackLiability === "platform") return sum
    for (const { amount, debit, providerId } of yield* ledger.byReference(`dispute:${id}`)) {
      if (debit !== "provider") continue
      move(now, providerId!, -amount)
      sum += amount
    }
    return sum
  })

  const addFees = Effect.fnUntraced(function* (now: Balances) {
    const { sum } = yield* feesKnown
    move(now, "platform_fee", -sum)
    move(now, "processor", sum)
  })

  const addWithdrawals = Effect.fnUntraced(function* (now: Balances) {
    for (const id of facts.withdrawals) {
      for (const part of Option.getOrUndefined(yield* withdrawals.find(id))?.parts ?? []) {
        const made = processor.refunds.get(part.id)
        const amount = BigInt(part.amountCents) * CENT
        const fee = BigInt(part.feeCents) * CENT
        const isMade = made !== undefined && made.amountCents === part.amountCents - part.feeCents
        if (part.state === "paid" ? !isMade : part.state === "failed" && made?.state === "settled") {
          return yield* wrong(
            "withdrawals were refunded",
            `${part.id} is ${part.state}, ${made?.state} at the processor`
          )
        }
        if (part.state === "failed") continue
        move(now, part.consumerId, part.state === "returned" ? -fee : -amount)
        if (isOpenPart(part)) {
          move(now, "refund_clearing", amount)
          continue
        }
        move(now, "platform_fee", fee)
        if (part.state === "paid") move(now, "processor", amount - fee)
      }
    }
  })

  const addPayouts = Effect.fnUntraced(function* (now: Balances) {
    for (const id of facts.payouts) {
      const payout = Option.getOrUndefined(yield* payouts.find(id))
      if (payout === undefined) continue
      const { amountCents, providerId, reversedCents, state } = payout
      const open = state === "requested" || state === "transferring"
      const made = processor.transfers.get(id)?.amountCents
      if (!open && made !== (state === "failed" ? undefined : amountCents)) {
        return yield* wrong("payouts were paid", `${id} over ${amountCents} is ${state}, and ${made} at the processor`)
      }
      if (state === "failed") continue
      const out = BigInt(amountCents) * CENT
      const back = BigInt(reversedCents) * CENT
      move(now, providerId, back - out)
      move(now, open ? "payout_clearing" : "processor", out - back)
    }
  })

  const addCreditNotes = Effect.fnUntraced(function* (now: Balances) {
    for (const { id } of facts.corrected ? facts.consumers : []) {
      const { items } = yield* invoices.list(ConsumerId.make(id), { after: undefined, limit: 1_000, offset: 0 })
      for (const { corrects, total } of items) {
        if (corrects === undefined) continue
        move(now, id, total)
        move(now, "platform_fee", -total)
      }
    }
  })

  return {
    bill: ({ agent_id, cost_microcents: cost, provider_id, receipt_id }) => {
      const fee = feeOf(receipt_id, cost)
      move(settled, agent_id, -cost)
      move(settled, provider_id, cost - fee)
      move(settled, "platform_fee", fee)
    },
    expected: Effect.gen(function* () {
      yield* takeInLoads
      const now = new Map(settled)
      yield* addDisputes(now)
      yield* addReversals(now)
      yield* addFees(now)
      yield* addWithdrawals(now)
      yield* addPayouts(now)
      yield* addCreditNotes(now)
      return now
    })
  }
}

const move = (balances: Balances, whose: string, amount: bigint): void => {
  balances.set(whose, (balances.get(whose) ?? 0n) + amount)
}
