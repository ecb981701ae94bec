/**
 * The texts and figures of a document, for print and page. Amounts are exact, with at least two decimal places.
 */
import { MICROCENTS_PER_DOLLAR } from "../shared/Microcents.ts"
import type { Invoice, InvoiceLine, Movement } from "./Invoice.ts"

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

export const countText = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/gu, ",")

export const amountText = (amount: bigint): string => {
  const whole = amount < 0n ? -amount : amount
  const dollars = String(whole / MICROCENTS_PER_DOLLAR).replace(/\B(?=(\d{3})+$)/gu, ",")
  const decimals = String(whole % MICROCENTS_PER_DOLLAR)
    .padStart(6, "0")
    .replace(/0{1,4}$/u, "")
  return `${amount < 0n ? "-" : ""}$${dollars}.${decimals}`
}

export const unitText = ({ unitPrice }: Pick<InvoiceLine, "unitPrice">): string =>
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
