/**
 * Handles chargebacks: the account is frozen when one opens; the money that the bank takes leaves the ledger, and
 * returns if the chargeback is won. Every event is applied once, in any order.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { CurrentEarningsPolicy } from "../earnings/EarningStates.ts"
import { ProviderMoney } from "../earnings/Earnings.ts"
import { intoWallet, Ledger, legsOf } from "../ledger/Ledger.ts"
import type { ConsumerFunds } from "../ledger/LedgerStore.ts"
import type { PaymentEvent } from "../ledger/PaymentGateway.ts"
import type { Leg, Lot, Transfer } from "../ledger/Transfer.ts"
import { AccountFreezes, type Chargeback, ChargebackStore } from "../payments/AccountFreezes.ts"
import { type Load, LoadStore } from "../payments/Loads.ts"
import { ProcessorFees } from "../payments/ProcessorFees.ts"
import { ReceiptStore } from "../receipts/Receipts.ts"
import type { ConsumerId, LoadId, ProviderId, ReceiptId } from "../shared/Ids.ts"
import { fromCents, Microcents } from "../shared/Microcents.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import type { Dispute, DisputeStatus } from "../trust/DisputeStore.ts"
import { Disputes } from "../trust/Disputes.ts"

/** A chargeback takes back what the consumer's calls earned this provider on this day. */
export interface EarnedFrom {
  readonly providerId: ProviderId
  /** The settlement day, which identifies the provider's lot. */
  readonly day: string
  /** Cost minus fee. */
  readonly net: bigint
}

/** Port to what a consumer's calls earned which provider on which settlement day. */
export class SpendingByLot extends Context.Service<
  SpendingByLot,
  {
    /** Returns the spending on calls settled at that time or later, without the given ones, oldest day first. */
    since(
      consumerId: ConsumerId,
      settledFrom: DateTime.Utc,
      without: ReadonlyArray<ReceiptId>
    ): Effect.Effect<ReadonlyArray<EarnedFrom>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/SpendingByLot") {}

// The legs of a chargeback, as pure functions: unspent funds first, then earnings that are liable for it, then the
// consumer's debt, which is a recorded loss. A reinstatement reverses them.

/** Maturing earnings from this consumer since the load. */
export interface LiablePart {
  readonly providerId: ProviderId
  readonly day: Lot["day"]
  readonly amount: bigint
}

/** A posting has a bounded number of legs; what further parts would bring becomes the consumer's debt. */
const LIABLE_PARTS_MAX = 400

const withdrawnLegs = (
  consumerId: ConsumerId,
  amount: bigint,
  { availableMicrocents }: ConsumerFunds,
  liable: ReadonlyArray<LiablePart>
): ReadonlyArray<Leg> => {
  const into = { kind: "dispute", consumerId, credit: "dispute_clearing" } as const
  const unspent = least(amount, availableMicrocents)
  let left = amount - unspent
  const recovered = liable.slice(0, LIABLE_PARTS_MAX).map((part): Leg => {
    const taken = least(left, part.amount)
    left -= taken
    return { ...into, debit: "provider", providerId: part.providerId, lot: part.day, amount: Microcents.make(taken) }
  })
  return [
    ...legsOf({ ...into, debit: "wallet", amount: Microcents.make(unspent) }, ...recovered),
    ...legsOf({ ...into, debit: "consumer_debt", amount: Microcents.make(left) }),
    { kind: "dispute", consumerId, debit: "dispute_clearing", credit: "processor", amount: Microcents.make(amount) }
  ]
}

/** Every leg of the withdrawal in reverse. If the debt was paid meanwhile, the amount goes to the wallet. */
const reinstatedLegs = (
  consumerId: ConsumerId,
  withdrawn: ReadonlyArray<Transfer>,
  funds: ConsumerFunds
): ReadonlyArray<Leg> => {
  const taken = withdrawn.filter(({ credit }) => credit === "dispute_clearing")
  const total = taken.reduce((sum, { amount }) => sum + amount, 0n)
  const ofProviders = taken.filter(({ debit }) => debit === "provider")
  const own = total - ofProviders.reduce((sum, { amount }) => sum + amount, 0n)
  const from = { kind: "dispute", consumerId, debit: "dispute_clearing" } as const
  return [
    { kind: "dispute", consumerId, debit: "processor", credit: "dispute_clearing", amount: Microcents.make(total) },
    ...ofProviders.map(({ amount, lot, providerId }): Leg => ({
      ...from,
      credit: "provider",
      providerId,
      lot,
      amount
    })),
    ...intoWallet([{ ...from, amount: Microcents.make(own) }], funds)
  ]
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The processor's news of a chargeback: opened, changed or decided. */
export type ChargebackEvent = Extract<PaymentEvent, { readonly _tag: "PaymentDisputed" }>

const DISPUTES_READ_AT_ONCE = 100
const REPLANS_MAX = 10

export class Chargebacks extends Context.Service<
  Chargebacks,
  {
    /** Runs in the unit of work that claims the event. */
    apply(loadId: LoadId, event: ChargebackEvent): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/processor/Chargebacks") {
  static readonly layer = Layer.effect(
    Chargebacks,
    Effect.gen(function* () {
      const loads = yield* LoadStore
      const store = yield* ChargebackStore
      const freezes = yield* AccountFreezes
      const ledger = yield* Ledger
      const fees = yield* ProcessorFees
      const disputes = yield* Disputes
      const receipts = yield* ReceiptStore
      const spending = yield* SpendingByLot
      const money = yield* ProviderMoney
      const { chargebackLiability: liability } = yield* CurrentEarningsPolicy
      const { atomically } = yield* UnitOfWork

      const disputesOf = Effect.fnUntraced(function* (consumerId: ConsumerId, status: DisputeStatus) {
        const found: Array<Dispute> = []
        while (true) {
          const page = { limit: DISPUTES_READ_AT_ONCE, offset: found.length, after: undefined }
          const { items } = yield* disputes.list({ role: "consumer", ownerId: consumerId }, status, page)
          found.push(...items)
          if (items.length < DISPUTES_READ_AT_ONCE) return found
        }
      })

      /** The bank returns the money, so open disputes about these calls are denied. */
      const denyDisputes = Effect.fnUntraced(function* (consumerId: ConsumerId, creditedAt: DateTime.Utc) {
        const open = [...(yield* disputesOf(consumerId, "filed")), ...(yield* disputesOf(consumerId, "under_review"))]
        for (const { id, receiptId } of open) {
          const receipt = Option.getOrUndefined(yield* receipts.find(receiptId))
          if (receipt === undefined || DateTime.isLessThan(DateTime.makeUnsafe(receipt.created_at), creditedAt))
            continue
          yield* disputes.denyByChargeback(id)
        }
      })

      /** Taken by other chargebacks of this consumer: the rest of a lot is from other consumers. */
      const takenBefore = Effect.fnUntraced(function* (consumerId: ConsumerId) {
        const taken = new Map<string, bigint>()
        for (const { funds, id } of yield* store.ofConsumer(consumerId)) {
          if (funds !== "withdrawn") continue
          for (const { amount, debit, lot, providerId } of yield* ledger.byReference(`dispute:${id}`)) {
            if (debit !== "provider") continue
            taken.set(`${providerId} ${lot}`, (taken.get(`${providerId} ${lot}`) ?? 0n) + amount)
          }
        }
        return taken
      })

      /** Returns what still matures of this consumer's calls since the load, except refunded ones. */
      const liableParts = Effect.fnUntraced(function* (consumerId: ConsumerId, creditedAt: DateTime.Utc) {
        if (liability === "platform") return []
        const refunded: ReadonlyArray<ReceiptId> = (yield* disputesOf(consumerId, "resolved_refund")).map(
          ({ receiptId }) => receiptId
        )
        const earned = yield* spending.since(consumerId, creditedAt, refunded)
        const taken = yield* takenBefore(consumerId)
        const maturing = new Map<ProviderId, ReadonlyMap<string, bigint>>()
        const parts: Array<LiablePart> = []
        for (const { day, net, providerId } of earned) {
          if (!maturing.has(providerId)) {
            const holdings = yield* money.holdings(providerId)
            maturing.set(providerId, new Map(holdings.maturing.map((part) => [part.day, part.amount])))
          }
          const there = maturing.get(providerId)!.get(day) ?? 0n
          const left = net - (taken.get(`${providerId} ${day}`) ?? 0n)
          const amount = there < left ? there : left
          if (amount > 0n) parts.push({ providerId, day, amount })
        }
        return parts
      })

      const withdrawOnce = Effect.fnUntraced(function* (load: Load, amount: bigint, reference: string) {
        const { consumerId } = load
        const liable = yield* liableParts(consumerId, load.paidAt ?? load.createdAt)
        const funds = yield* ledger.lockedFunds(consumerId)
        yield* ledger.post({ reference, legs: withdrawnLegs(consumerId, amount, funds, liable) })
      })

      /** A payout or a refund may have taken from a lot since it was read: then read it again. */
      const withdraw = (load: Load, amount: bigint, reference: string) =>
        atomically(withdrawOnce(load, amount, reference)).pipe(
          Effect.retry({ while: (error) => error._tag === "InsufficientBalance", times: REPLANS_MAX }),
          dieUnlessUnavailable
        )

      const reinstate = Effect.fnUntraced(function* (consumerId: ConsumerId, reference: string) {
        const withdrawn = yield* ledger.byReference(reference)
        const funds = yield* ledger.lockedFunds(consumerId)
        const legs = reinstatedLegs(consumerId, withdrawn, funds)
        yield* dieUnlessUnavailable(ledger.post({ reference: `${reference}:returned`, legs }))
      })

      const apply = Effect.fn("Chargebacks.apply")(function* (loadId: LoadId, event: ChargebackEvent) {
        const load = Option.getOrUndefined(yield* loads.lock(loadId))
        if (load === undefined) return yield* Effect.logWarning(`There is no load ${loadId} here`)
        const { consumerId } = load
        // Filing a dispute locks the wallet too: it comes before all of this, or sees its result.
        yield* ledger.lockedFunds(consumerId)
        const now = yield* DateTime.now
        const before = Option.getOrUndefined(yield* store.find(event.disputeId))
        const after: Chargeback = {
          id: event.disputeId,
          loadId,
          consumerId,
          amountCents: before?.amountCents ?? event.amountCents,
          state: stateAfter(before?.state, event.state),
          funds: fundsAfter(before?.funds ?? "none", event.state),
          released: before?.released ?? false,
          openedAt: before?.openedAt ?? now,
          updatedAt: now
        }
        yield* store.put(after)
        const reference = `dispute:${after.id}`
        if (after.funds === "withdrawn" && before?.funds !== "withdrawn") {
          yield* denyDisputes(consumerId, load.paidAt ?? load.createdAt)
          yield* withdraw(load, fromCents(event.amountCents), reference)
        }
        if (after.funds === "reinstated" && before?.funds === "withdrawn") yield* reinstate(consumerId, reference)
        for (const { cents, id } of event.fees ?? []) yield* fees.charge(`${reference}:fee:${id}`, cents)
        yield* freezes.review(consumerId)
      })

      return Chargebacks.of({ apply })
    })
  )
}

/** Late events of an earlier state change nothing. Reinstated money means that the chargeback was won. */
const stateAfter = (before: Chargeback["state"] | undefined, event: ChargebackEvent["state"]): Chargeback["state"] => {
  if (before === "won" || event === "won" || event === "reinstated") return "won"
  return event === "lost" ? "lost" : (before ?? "open")
}

const fundsAfter = (before: Chargeback["funds"], event: ChargebackEvent["state"]): Chargeback["funds"] => {
  if (before === "reinstated" || event === "reinstated") return "reinstated"
  return event === "withdrawn" ? "withdrawn" : before
}
