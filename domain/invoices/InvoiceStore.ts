/**
 * Port to documents, closed months, and the ledger's figures of a month.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, InvoiceId, ProviderId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { DraftInvoice, Invoice, Month, OwnerMonth } from "./Invoice.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** A month with its bounds in UTC: `start` belongs to it, `end` does not. */
export interface MonthSpan {
  readonly month: Month
  readonly start: DateTime.Utc
  readonly end: DateTime.Utc
}

/** How many documents a month has, and the total of its calls by ledger, invoices and statements: three equal amounts. */
export interface MonthTotals {
  readonly documents: number
  readonly ledger: bigint
  readonly invoices: bigint
  readonly statements: bigint
}

/** Invoices go to consumers, statements to providers. */
export type InvoiceOwnerId = ConsumerId | ProviderId

export class InvoiceStore extends Context.Service<
  InvoiceStore,
  {
    /** Calls that started before and are still open: they may still be recorded in that month. */
    openCallsBefore(instant: DateTime.Utc): Effect.Effect<number, StoreUnavailable>
    /** Aggregates the month's calls, once. Expects that the month is over and none of its calls is open. */
    stage(span: MonthSpan): Effect.Effect<void, StoreUnavailable>
    /** Of a closed month: aggregates what no document contains. False if there is nothing; the month stays closed. */
    reopen(span: MonthSpan): Effect.Effect<boolean, StoreUnavailable>
    /** Owners with pending documents, in a fixed order. */
    pending(span: MonthSpan, limit: number): Effect.Effect<ReadonlyArray<OwnerMonth>, StoreUnavailable>
    /**
     * Numbers and stores the documents, all or none, without those that the owner already has. Numbers have no gaps, on
     * any number of nodes.
     */
    finalise(
      month: Month,
      drafts: ReadonlyArray<DraftInvoice>,
      issuedAt: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<Invoice>, StoreUnavailable>
    isComplete(month: Month): Effect.Effect<boolean, StoreUnavailable>
    complete(month: Month, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    totals(span: MonthSpan): Effect.Effect<MonthTotals, StoreUnavailable>
    find(id: InvoiceId): Effect.Effect<Option.Option<Invoice>, StoreUnavailable>
    /** What credit notes have refunded of an invoice. Locked until the end of the unit of work. */
    lockCredited(id: InvoiceId): Effect.Effect<bigint, StoreUnavailable>
    /** Newest first. */
    list(owner: InvoiceOwnerId, page: PageRequest): Effect.Effect<Page<Invoice>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/invoices/InvoiceStore") {}
