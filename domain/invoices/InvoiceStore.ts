/**
 * Documents, the months that they close, and what the books say of a month.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, InvoiceId, ProviderId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { DraftInvoice, Invoice, Month, OwnerMonth } from "./Invoice.ts"

export interface MonthSpan {
  readonly month: Month
  readonly start: DateTime.Utc
  readonly end: DateTime.Utc
}

/** What calls of a month moved, three times over: it is one figure. */
export interface MonthSums {
  readonly documents: number
  readonly ledger: bigint
  readonly invoices: bigint
  readonly statements: bigint
}

export type InvoiceOwnerId = ConsumerId | ProviderId

export class InvoiceStore extends Context.Service<
  InvoiceStore,
  {
    /** Calls that began before and have not ended: they may still be recorded in the past. */
    openCallsBefore(instant: DateTime.Utc): Effect.Effect<number>
    /** Sums the month's calls up, once and for good. Expects that the month is over and no call of it is open. */
    stage(span: MonthSpan): Effect.Effect<void>
    /**
     * Of a month that is complete: sums up what was recorded in it and is in no document, so that documents are made for
     * that. False where there is nothing; the month stays complete.
     */
    reopen(span: MonthSpan): Effect.Effect<boolean>
    /** Owners who have something to be told and have not been told, in a fixed order. */
    pending(span: MonthSpan, limit: number): Effect.Effect<ReadonlyArray<OwnerMonth>>
    /**
     * Gives each its number and keeps it, all or none; one that the owner has already is left out. Numbers have no gaps,
     * however many nodes do this at once.
     */
    finalise(
      month: Month,
      drafts: ReadonlyArray<DraftInvoice>,
      issuedAt: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<Invoice>>
    isComplete(month: Month): Effect.Effect<boolean>
    complete(month: Month, at: DateTime.Utc): Effect.Effect<void>
    sums(span: MonthSpan): Effect.Effect<MonthSums>
    find(id: InvoiceId): Effect.Effect<Option.Option<Invoice>>
    /** What credit notes have given back of an invoice. Nobody else adds to it until the unit of work around it ends. */
    lockCredited(id: InvoiceId): Effect.Effect<bigint>
    /** Newest first. */
    list(owner: InvoiceOwnerId, page: PageRequest): Effect.Effect<Page<Invoice>>
  }
>()("agent-tool-billing/domain/invoices/InvoiceStore") {}
