/**
 * Faults planted under the ports: each is a plausible mistake, occurs now and then, and keeps debits equal to credits. The
 * simulation must find all of them.
 */
import { Context, DateTime, Effect, Option } from "effect"
import { InvoiceStore } from "../../domain/invoices/Invoice.ts"
import { BudgetStore } from "../../domain/ledger/Budgets.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { feeOf } from "../../domain/ledger/PlatformFee.ts"
import { TransferId } from "../../domain/ledger/Transfer.ts"
import { LogStore } from "../../domain/log/LogStore.ts"
import { type CallIdempotency, CallStore, type CloseCall, type OpenCall } from "../../domain/metering/CallStore.ts"
import { GrantStore } from "../../domain/metering/Grants.ts"
import type { ReceiptId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import type { Stores } from "./parts/Ports.ts"

export type Plant = (stores: Context.Context<Stores>) => Context.Context<Stores>

/** The money of one call in four is moved, and moved again. */
const doubleSettle: Plant = (stores) => {
  const calls = Context.get(stores, CallStore)
  const ledger = Context.get(stores, LedgerStore)
  return Context.add(stores, CallStore, {
    ...calls,
    close: Effect.fnUntraced(function* (call: CloseCall) {
      const closed = yield* calls.close(call)
      const { cost_microcents: cost, created_at, provider_id: providerId, receipt_id: id } = call.receipt
      const amount = Microcents.make(cost - feeOf(cost, call.feeBasisPoints))
      if (closed._tag !== "Closed" || !closed.now || amount === 0n || call.receipt.duration_ms % 4 > 0) return closed
      const at = DateTime.makeUnsafe(created_at)
      const again = {
        book: Option.getOrThrow(yield* ledger.book),
        transferId: TransferId.make(`${id.slice(5, 13)}-0000-8000-8000-${id.slice(25)}`),
        reference: `again:${id}`,
        legs: [
          { kind: "adjustment", debit: "wallet", credit: "provider", amount, consumerId: call.consumerId, providerId }
        ],
        effectiveAt: at,
        recordedAt: at
      } as const
      yield* Effect.ignore(ledger.post(again))
      return closed
    })
  })
}

/** The store says that it holds the money, and has not written it down: for some tools. */
const lostHold: Plant = (stores) => {
  const calls = Context.get(stores, CallStore)
  return Context.add(stores, CallStore, {
    ...calls,
    open: (call) =>
      call.toolName === "tool_1"
        ? Effect.map(calls.callFunds(call.consumerId, call.toolId, call.openedAt), ({ availableMicrocents }) => ({
            _tag: "Opened",
            held: call.holdAmount,
            free: false,
            freeCallsLeft: undefined,
            availableMicrocents: availableMicrocents - call.holdAmount
          }))
        : calls.open(call)
  })
}

/** One call in four is written down with the next odd number of basis points. */
const feeTooHigh: Plant = (stores) => {
  const calls = Context.get(stores, CallStore)
  const bent = <A extends OpenCall | CloseCall>(call: A, id: ReceiptId): A =>
    id.charCodeAt(id.length - 1) % 4 === 0 ? { ...call, feeBasisPoints: call.feeBasisPoints | 1 } : call
  return Context.add(stores, CallStore, {
    ...calls,
    open: (call) => calls.open(bent(call, call.invocationId)),
    close: (call) => calls.close(bent(call, call.receipt.receipt_id))
  })
}

/** A part of the key is taken for the key, and the request is not compared. */
const replayUnderAnotherKey: Plant = (stores) => {
  const calls = Context.get(stores, CallStore)
  const cut = ({ keyHash }: CallIdempotency): CallIdempotency => ({
    keyHash: keyHash.slice(0, 1).repeat(64),
    requestHash: "0".repeat(64)
  })
  return Context.add(stores, CallStore, {
    ...calls,
    open: (call) => calls.open(call.idempotency === undefined ? call : { ...call, idempotency: cut(call.idempotency) }),
    earlier: (consumerId, idempotency) => calls.earlier(consumerId, cut(idempotency))
  })
}

/** The provider gives its share back, the platform keeps its own. */
const refundWithoutFee: Plant = (stores) => {
  const ledger = Context.get(stores, LedgerStore)
  return Context.add(stores, LedgerStore, {
    ...ledger,
    post: (posting) => {
      const legs = posting.legs.filter(({ debit, kind }) => kind !== "refund" || debit !== "platform_fee")
      return ledger.post(legs.length === 0 ? posting : { ...posting, legs })
    }
  })
}

/** A settlement is answered before it is written down, and then it is not. */
const lostSettlement: Plant = (stores) => {
  const calls = Context.get(stores, CallStore)
  return Context.add(stores, CallStore, {
    ...calls,
    close: (call) =>
      call.receipt.duration_ms % 4 === 1
        ? Effect.succeed({ _tag: "Closed", now: true, availableMicrocents: 0n })
        : calls.close(call)
  })
}

/** The last of a batch is taken, and never given a place. */
const receiptOutOfLog: Plant = (stores) => {
  const log = Context.get(stores, LogStore)
  return Context.add(stores, LogStore, {
    ...log,
    take: (limit) => Effect.map(log.take(limit), (taken) => (taken.length > 2 ? taken.slice(0, -1) : taken))
  })
}

/** A document leaves one of several lines out. */
const lineOffInvoice: Plant = (stores) => {
  const invoices = Context.get(stores, InvoiceStore)
  return Context.add(stores, InvoiceStore, {
    ...invoices,
    pending: (span, limit) =>
      Effect.map(invoices.pending(span, limit), (owners) =>
        owners.map((owner) => (owner.lines.length > 1 ? { ...owner, lines: owner.lines.slice(1) } : owner))
      )
  })
}

/** Money that the bank took back is written down as taken, and stays in the wallet. */
const disputeWithoutMoney: Plant = (stores) => {
  const ledger = Context.get(stores, LedgerStore)
  return Context.add(stores, LedgerStore, {
    ...ledger,
    post: (posting) =>
      posting.reference.startsWith("dispute:dispute_")
        ? Effect.succeed({ transferId: posting.transferId, repeated: false })
        : ledger.post(posting)
  })
}

/** A budget is kept with twice its cap; what is spent of it is counted right. */
const widerBudget: Plant = (stores) => {
  const budgets = Context.get(stores, BudgetStore)
  return Context.add(stores, BudgetStore, {
    ...budgets,
    create: (budget, most) => budgets.create({ ...budget, cap: Microcents.make(budget.cap * 2n) }, most)
  })
}

/** What a provider bills within a grant is not counted. */
const forgetfulGrant: Plant = (stores) => {
  const grants = Context.get(stores, GrantStore)
  return Context.add(stores, GrantStore, {
    ...grants,
    setSpent: (id, consumerId, spent, start) =>
      spent > 0n ? Effect.void : grants.setSpent(id, consumerId, spent, start)
  })
}

/** `rules`: those that must find it, whichever is violated first. `seed`: of a run that finds it early. */
type Planted = readonly [name: string, plant: Plant, rules: ReadonlyArray<string>, seed?: number]

export const plants: ReadonlyArray<Planted> = [
  ["a double settle", doubleSettle, ["balances are explained"]],
  ["a lost hold", lostHold, ["one receipt per call", "no failure by itself", "balances are explained", "no defect"]],
  ["a fee that is too high", feeTooHigh, ["balances are explained"]],
  ["a replay under another key", replayUnderAnotherKey, ["own answer"], 14],
  ["a refund without its fee", refundWithoutFee, ["balances are explained"]]
]

export const furtherPlants: ReadonlyArray<Planted> = [
  ["a lost settlement", lostSettlement, ["nothing acknowledged and lost"]],
  ["a receipt that is left out of the log", receiptOutOfLog, ["in the log"]],
  ["a line that is left off an invoice", lineOffInvoice, ["invoices equal ledger"]],
  ["a bank's dispute that moves nothing", disputeWithoutMoney, ["balances are explained"]]
]

/** Caps are reached late: these need longer runs. */
export const latePlants: ReadonlyArray<Planted> = [
  ["a budget with twice its cap", widerBudget, ["budgets hold"]],
  ["a grant that forgets", forgetfulGrant, ["grants hold"], 14]
]
