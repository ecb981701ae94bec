/**
 * Checks all records from their parts: balances from transfers, the log from its entries, receipts, caps from calls, and
 * closed months. It reads everything, so it does not run after every step.
 */
import { Context, DateTime, Effect } from "effect"
import { InvoiceStore, type Month } from "../../../domain/invoices/Invoice.ts"
import { monthBefore, spanOf } from "../../../domain/invoices/Invoicing.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { LogCheck } from "../../../domain/log/LogCheck.ts"
import { format } from "../../../domain/shared/Time.ts"
import { wrong } from "../world/Asking.ts"
import { capsHold } from "../world/Caps.ts"
import { nowMs, type World } from "../world/World.ts"

export const makeWholeCheck = (world: World) => {
  const { facts, stores } = world
  const ledger = Context.get(stores, LedgerStore)
  const invoices = Context.get(stores, InvoiceStore)
  const closedMonths = new Set<Month>()

  const auditIsClean = Effect.gen(function* () {
    const [first] = (yield* ledger.audit).discrepancies
    if (first !== undefined) {
      const { account, figure, kept, ownerId, recomputed } = first
      return yield* wrong(
        "the audit finds nothing",
        `${figure} of ${account} ${ownerId}: ${kept}, recomputed ${recomputed}`
      )
    }
  })

  const logIsSound = Effect.gen(function* () {
    const { findings, receipts } = yield* Effect.catchTag(
      world.service(LogCheck).check,
      "SignerUnavailable",
      Effect.die
    )
    if (findings.length > 0) return yield* wrong("the log is sound", findings.join(" "))
    if (receipts !== facts.receipts.size) {
      return yield* wrong("one receipt per call", `${receipts} receipts, ${facts.receipts.size} calls that ended`)
    }
  })

  const invoicesAreTheLedger = Effect.gen(function* () {
    const last = monthBefore(DateTime.makeUnsafe(yield* nowMs))
    if (yield* invoices.isComplete(last)) closedMonths.add(last)
    for (const month of closedMonths) {
      const span = spanOf(month)
      const totals = yield* invoices.totals(span)
      let costs = 0n
      for (const { created_at, cost_microcents } of facts.receipts.values()) {
        if (created_at >= format(span.start) && created_at < format(span.end)) costs += cost_microcents
      }
      if (totals.invoices !== costs || totals.statements !== costs || totals.ledger !== costs) {
        const { invoices: invoiced, ledger: booked, statements } = totals
        return yield* wrong(
          "invoices equal ledger",
          `${month}: ${invoiced}, ${statements}, ${booked}, receipts ${costs}`
        )
      }
    }
  })

  return Effect.gen(function* () {
    yield* auditIsClean
    yield* capsHold(facts)
    yield* logIsSound
    yield* invoicesAreTheLedger
  })
}
