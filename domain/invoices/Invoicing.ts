/**
 * Closes a month: an invoice for every consumer with calls, a statement for every provider, a credit note for refunds.
 * An interrupted run is continued; a closed month does not change.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { Ledger } from "../ledger/Ledger.ts"
import { type FundsTooLow, fundsTooLow } from "../ledger/PlatformFunds.ts"
import { Entropy } from "../shared/Cryptography.ts"
import { ConsumerId, InvoiceId } from "../shared/Ids.ts"
import { formatAmount, type Microcents } from "../shared/Microcents.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { databaseTime } from "../shared/Time.ts"
import {
  documentsOf,
  type DraftInvoice,
  type Invoice,
  InvoiceStore,
  Month,
  type MonthSpan,
  type MonthTotals
} from "./Invoice.ts"

const OWNERS_AT_ONCE = 500
/** The clocks of nodes differ; by then, everything recorded in the month has arrived. */
const AFTER_MONTH_END = Duration.minutes(5)

/** A month is closed once: not before its end, nor while calls that belong to it are open. */
export class MonthNotOver extends Schema.TaggedError<MonthNotOver>()("MonthNotOver", {
  month: Month,
  openCalls: Schema.Int
}) {
  override get message() {
    return this.openCalls === 0
      ? `${this.month} is not over. Documents can be created from five minutes after its end (UTC).`
      : `${this.openCalls} calls that started before the end of ${this.month} are still open. Retry in a minute.`
  }
}

/** The account has no such document. Documents of other accounts are not found either. */
export class InvoiceNotFound extends Schema.TaggedError<InvoiceNotFound>()("InvoiceNotFound", { id: Schema.String }) {
  override get message() {
    return `You have no document ${this.id}.`
  }
}

/** A credit note is for an invoice, and together with others at most for its total. */
export class CreditRejected extends Schema.TaggedError<CreditRejected>()("CreditRejected", {
  leftMicrocents: Schema.BigInt
}) {
  override get message() {
    return `Only an invoice can be credited, by $0.000001 to ${formatAmount(this.leftMicrocents)}.`
  }
}

/** The documents that closing a month created, and whether they sum up to the ledger. */
export interface Closed extends MonthTotals {
  /** Created now; 0 if the month was closed before. */
  readonly issued: number
  readonly agrees: boolean
}

export class Invoicing extends Context.Service<
  Invoicing,
  {
    close(month: Month): Effect.Effect<Closed, MonthNotOver | StoreUnavailable>
    /** The previous month, unless it is closed already. */
    readonly closeLast: Effect.Effect<Option.Option<Closed>, MonthNotOver | StoreUnavailable>
    /** Creates documents for what those of a month that was closed too early do not contain. */
    supplement(month: Month): Effect.Effect<Closed, MonthNotOver | StoreUnavailable>
    /** Refunds a part of an invoice to the consumer, at the platform's cost. */
    correct(
      id: InvoiceId,
      amount: Microcents,
      reason: string
    ): Effect.Effect<Invoice, InvoiceNotFound | CreditRejected | FundsTooLow | StoreUnavailable>
  }
>()("agent-tool-billing/domain/invoices/Invoicing") {
  static readonly layer = Layer.effect(
    Invoicing,
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const ledger = yield* Ledger
      const entropy = yield* Entropy
      const { atomically } = yield* UnitOfWork
      const databaseNow = yield* databaseTime

      const withId = Effect.fnUntraced(function* (document: Omit<DraftInvoice, "id">) {
        return { ...document, id: InvoiceId.make(yield* entropy.uuid) }
      })

      const issue = Effect.fnUntraced(function* (span: MonthSpan) {
        let issued = 0
        while (true) {
          const owners = yield* store.pending(span, OWNERS_AT_ONCE)
          if (owners.length === 0) return issued
          const drafts = yield* Effect.forEach(
            owners.flatMap((owner) => documentsOf(span.month, owner)),
            withId
          )
          const made = yield* store.finalise(span.month, drafts, yield* DateTime.now)
          issued += made.length
        }
      })

      const mustBeOver = Effect.fnUntraced(function* ({ end, month }: MonthSpan) {
        const now = yield* databaseNow
        if (DateTime.isLessThan(now, DateTime.addDuration(end, AFTER_MONTH_END))) {
          return yield* new MonthNotOver({ month, openCalls: 0 })
        }
        const openCalls = yield* store.openCallsBefore(end)
        if (openCalls > 0) return yield* new MonthNotOver({ month, openCalls })
      })

      const close = Effect.fn("Invoicing.close")(function* (month: Month) {
        const span = spanOf(month)
        let issued = 0
        if (!(yield* store.isComplete(month))) {
          yield* mustBeOver(span)
          yield* store.stage(span)
          issued = yield* issue(span)
          yield* store.complete(month, yield* databaseNow)
        }
        const totals = yield* store.totals(span)
        const agrees = totals.ledger === totals.invoices && totals.ledger === totals.statements
        if (!agrees) {
          const { invoices, statements, ledger: books } = totals
          yield* Effect.logError(`${month}: invoices ${invoices}, statements ${statements}, ledger ${books} differ`)
        }
        return { ...totals, issued, agrees }
      })

      const supplement = Effect.fn("Invoicing.supplement")(function* (month: Month) {
        const span = spanOf(month)
        yield* mustBeOver(span)
        if (yield* store.isComplete(month)) yield* store.reopen(span)
        return yield* close(month)
      })

      const closeLast = Effect.gen(function* () {
        const last = monthBefore(yield* databaseNow)
        if (yield* store.isComplete(last)) return Option.none<Closed>()
        return Option.some(yield* close(last))
      }).pipe(Effect.withSpan("Invoicing.closeLast"))

      const correct = Effect.fn("Invoicing.correct")(function* (id: InvoiceId, amount: Microcents, reason: string) {
        const found = Option.getOrUndefined(yield* store.find(id))
        if (found === undefined) return yield* new InvoiceNotFound({ id })
        const credited = yield* store.lockCredited(id)
        const leftMicrocents = found.kind === "invoice" ? found.total - credited : 0n
        if (amount <= 0n || amount > leftMicrocents) return yield* new CreditRejected({ leftMicrocents })
        const { month, owner } = found
        const draft = { kind: "credit_note", month, owner, lines: [], movements: [], fee: 0n } as const
        const [made] = yield* store.finalise(
          month,
          [yield* withId({ ...draft, total: amount, net: amount, corrects: id, reason })],
          yield* DateTime.now
        )
        yield* ledger
          .adjust({
            owner: { consumerId: ConsumerId.make(owner.id) },
            direction: "credit",
            amount,
            reference: `credit_note:${made!.id}`
          })
          .pipe(Effect.catchTags({ InsufficientBalance: fundsTooLow, DuplicateReference: Effect.die }))
        return made!
      }, atomically)

      return Invoicing.of({ close, closeLast, supplement, correct })
    })
  )
}

export const monthBefore = (now: DateTime.Utc): Month =>
  Month.make(DateTime.formatIsoDateUtc(DateTime.subtract(DateTime.startOf(now, "month"), { days: 1 })).slice(0, 7))

export const spanOf = (month: Month): MonthSpan => {
  const start = DateTime.makeUnsafe(`${month}-01T00:00:00.000Z`)
  return { month, start, end: DateTime.add(start, { months: 1 }) }
}
