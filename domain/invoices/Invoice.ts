/**
 * Monthly documents: a consumer's invoice, a provider's self-billing statement, and credit notes. Each is a snapshot;
 * once numbered it never changes.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import { type ConsumerId, InvoiceId, type ProviderId, ToolId } from "../shared/Ids.ts"
import { MICROCENTS_PER_DOLLAR } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { Timestamp } from "../shared/Time.ts"

export const InvoiceKind = Schema.Literals(["invoice", "statement", "credit_note"])
export type InvoiceKind = typeof InvoiceKind.Type

/** A calendar month, UTC: `2026-11`. */
export const Month = Schema.String.check(
  Schema.isPattern(/^20\d{2}-(0[1-9]|1[0-2])$/u, { message: "must be a month such as 2026-11" })
).pipe(Schema.brand("Month"))
export type Month = typeof Month.Type

/** The account as it was when the document was made. */
export const InvoiceOwner = Schema.Struct({
  role: Schema.Literals(["consumer", "provider"]),
  id: Schema.String,
  name: Schema.String,
  email: Schema.String
})
export type InvoiceOwner = typeof InvoiceOwner.Type

/** The calls of one tool at one price. */
export const InvoiceLine = Schema.Struct({
  toolId: ToolId,
  toolName: Schema.String,
  /** An invoice has the tool's provider. */
  provider: Schema.String,
  priceVersion: Schema.Int,
  unitPrice: Schema.BigInt,
  calls: Schema.Int,
  billedCalls: Schema.Int,
  /** Successful calls without cost. */
  freeCalls: Schema.Int,
  failedCalls: Schema.Int,
  amount: Schema.BigInt,
  fee: Schema.BigInt
})
export type InvoiceLine = typeof InvoiceLine.Type

/** Other movements of the balance in the month; below zero: outgoing. Not part of the total. */
export const Movement = Schema.Struct({
  kind: Schema.Literals([
    "load",
    "refund",
    "payout",
    "dispute",
    "credit",
    "credit_expiry",
    "adjustment",
    "withdrawal",
    "processor_fee"
  ]),
  amount: Schema.BigInt
})
export type Movement = typeof Movement.Type

export const Invoice = Schema.Struct({
  id: InvoiceId,
  number: Schema.String,
  kind: InvoiceKind,
  month: Month,
  owner: InvoiceOwner,
  lines: Schema.Array(InvoiceLine),
  movements: Schema.Array(Movement),
  /** Invoice: what the calls cost. Statement: gross earnings. Credit note: what is refunded. */
  total: Schema.BigInt,
  fee: Schema.BigInt,
  net: Schema.BigInt,
  issuedAt: Timestamp,
  /** The invoice that a credit note corrects; none for the month's refunds. */
  corrects: Schema.optionalKey(InvoiceId),
  reason: Schema.optionalKey(Schema.String)
})
export type Invoice = typeof Invoice.Type

/** The invoice before it is finalized. */
export type DraftInvoice = Omit<Invoice, "number" | "issuedAt">

/** Everything of an owner in a month; in a supplement, what its earlier documents do not contain. */
export interface OwnerMonth {
  readonly isSupplement: boolean
  readonly owner: InvoiceOwner
  readonly lines: ReadonlyArray<InvoiceLine>
  readonly movements: ReadonlyArray<Movement>
}

/** The documents of an owner, in the order of their numbers. */
export const documentsOf = (
  month: Month,
  { isSupplement, lines, movements, owner }: OwnerMonth
): ReadonlyArray<Omit<DraftInvoice, "id">> => {
  const total = lines.reduce((sum, line) => sum + line.amount, 0n)
  const fee = lines.reduce((sum, line) => sum + line.fee, 0n)
  const refunded = movements.reduce((sum, { amount, kind }) => (kind === "refund" ? sum + amount : sum), 0n)
  const reason = isSupplement ? { reason: `Supplement: recorded after ${month} was closed.` } : {}
  const base = { month, owner, lines, movements, ...reason }
  if (owner.role === "provider") return [{ ...base, kind: "statement", total, fee, net: total - fee + refunded }]
  const others = movements.filter(({ kind }) => kind !== "refund")
  return [
    ...(lines.length === 0
      ? []
      : [{ ...base, movements: others, kind: "invoice", total, fee: 0n, net: total } as const]),
    ...(refunded > 0n
      ? [{ ...base, lines: [], movements: [], kind: "credit_note", total: refunded, fee: 0n, net: refunded } as const]
      : [])
  ]
}

/** Each kind has its own numbers, each year. */
export const seriesOf = ({ kind, month }: Pick<Invoice, "kind" | "month">): string =>
  `${{ invoice: "INV", statement: "ST", credit_note: "CN" }[kind]}-${month.slice(0, 4)}`

export const numberIn = (series: string, count: number): string => `${series}-${String(count).padStart(6, "0")}`

/** A month with its bounds in UTC: `start` belongs to it, `end` does not. */
export interface MonthSpan {
  readonly month: Month
  readonly start: DateTime.Utc
  readonly end: DateTime.Utc
}

/** The number of a month's documents, and three equal totals of its calls: by ledger, invoices and statements. */
export interface MonthTotals {
  readonly documents: number
  readonly ledger: bigint
  readonly invoices: bigint
  readonly statements: bigint
}

/** Invoices go to consumers, statements to providers. */
type InvoiceOwnerId = ConsumerId | ProviderId

/** Port to documents, closed months, and the ledger's figures of a month. */
export class InvoiceStore extends Context.Service<
  InvoiceStore,
  {
    /** Calls that started before and are still open: they may still be recorded in that month. */
    openCallsBefore(instant: DateTime.Utc): Effect.Effect<number, StoreUnavailable>
    /** Aggregates the month's calls, once. Expects that the month is over and none of its calls is open. */
    stage(span: MonthSpan): Effect.Effect<void, StoreUnavailable>
    /** Aggregates what no document of a closed month contains. False if there is nothing; the month stays closed. */
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
    /** Returns what credit notes have refunded of an invoice, which stays locked until the end of the unit of work. */
    lockCredited(id: InvoiceId): Effect.Effect<bigint, StoreUnavailable>
    /** Newest first. */
    list(owner: InvoiceOwnerId, page: PageRequest): Effect.Effect<Page<Invoice>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/invoices/InvoiceStore") {}

/** Every document is also available as HTML and JSON. */
export class PdfNotConfigured extends Schema.TaggedError<PdfNotConfigured>()("PdfNotConfigured", {}) {
  override get message() {
    return "This service does not create PDF files. Read the document as HTML or JSON."
  }
}

/** Port that renders a document as a printable file. */
export class InvoicePrinter extends Context.Service<
  InvoicePrinter,
  {
    pdf(invoice: Invoice): Effect.Effect<Uint8Array, PdfNotConfigured>
  }
>()("agent-tool-billing/domain/invoices/InvoicePrinter") {}

// The texts and figures of a document, for print and page. Amounts are exact, with at least two decimal places.

export const titleOf = ({ kind }: Pick<Invoice, "kind">): string =>
  ({ invoice: "Invoice", statement: "Statement of earnings", credit_note: "Credit note" })[kind]

export const movementText: Readonly<Record<Movement["kind"], string>> = {
  load: "Loaded",
  refund: "Refunds of calls",
  payout: "Paid out",
  dispute: "Chargebacks",
  credit: "Promotional credit",
  credit_expiry: "Expired promotional credit",
  adjustment: "Adjustments and credit notes",
  withdrawal: "Withdrawals of unspent funds",
  processor_fee: "Processing fees of withdrawals"
}

const countText = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/gu, ",")

export const amountText = (amount: bigint): string => {
  const whole = amount < 0n ? -amount : amount
  const dollars = String(whole / MICROCENTS_PER_DOLLAR).replace(/\B(?=(\d{3})+$)/gu, ",")
  const decimals = String(whole % MICROCENTS_PER_DOLLAR)
    .padStart(6, "0")
    .replace(/0{1,4}$/u, "")
  return `${amount < 0n ? "-" : ""}$${dollars}.${decimals}`
}

const unitText = ({ unitPrice }: Pick<InvoiceLine, "unitPrice">): string =>
  unitPrice === 0n ? "Free" : amountText(unitPrice)

/** The columns beside the tool's name, and their values for a line. */
export const columnsOf = ({ kind }: Pick<Invoice, "kind">) =>
  kind === "statement"
    ? {
        heads: ["Calls", "Free", "Failed", "Unit price", "Fee", "Gross"],
        cells: (line: InvoiceLine): ReadonlyArray<string> => [
          countText(line.calls),
          countText(line.freeCalls),
          countText(line.failedCalls),
          unitText(line),
          amountText(line.fee),
          amountText(line.amount)
        ]
      }
    : {
        heads: ["Calls", "Billed", "Free", "Failed", "Unit price", "Amount"],
        cells: (line: InvoiceLine): ReadonlyArray<string> => [
          countText(line.calls),
          countText(line.billedCalls),
          countText(line.freeCalls),
          countText(line.failedCalls),
          unitText(line),
          amountText(line.amount)
        ]
      }

export interface SummaryRow {
  readonly label: string
  readonly value: string
  readonly strong: boolean
}

const row = (label: string, amount: bigint, strong = false): SummaryRow => ({
  label,
  value: amountText(amount),
  strong
})

/** The figures below the lines, in order. */
export const summaryOf = (invoice: Invoice): ReadonlyArray<SummaryRow> => {
  switch (invoice.kind) {
    case "invoice":
      return [
        row("Total", invoice.total, true),
        row("Paid from prepaid balance", -invoice.total),
        row("Amount due", 0n, true)
      ]
    case "credit_note":
      return [row("Credited to the balance", invoice.total, true)]
    case "statement": {
      const refunds = invoice.net - invoice.total + invoice.fee
      return [
        row("Gross revenue", invoice.total),
        row("Platform fee", -invoice.fee),
        ...(refunds === 0n ? [] : [row("Refunded to consumers", refunds)]),
        row("Net earnings", invoice.net, true)
      ]
    }
  }
}
