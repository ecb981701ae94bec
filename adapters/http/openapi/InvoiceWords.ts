/**
 * Words of invoices, statements and credit notes.
 */
import { TOOL_ID } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

const INVOICE_ID = "0193fa06-8192-73b4-a5d6-e7f8091a2b3c"
const URL = `https://market.example/api/v1/market/invoices/${INVOICE_ID}`

export const invoiceWords: Words = {
  "InvoiceHead.": ["A document, without its lines."],
  "InvoicePage.": ["Your documents, the newest first."],
  "InvoicePage.invoices": ["A page of them."],
  "Invoice.": ["A document as it was finalised; it never changes."],
  invoice_id: ["The document.", INVOICE_ID],
  number: ["Given when it was finalised, without gaps.", "INV-2026-000042"],
  "InvoiceHead.kind": ["An invoice, a provider's statement, or a credit note."],
  "Invoice.kind": ["An invoice, a provider's statement, or a credit note."],
  month: ["The calendar month, UTC.", "2026-10"],
  issued_at: ["When it was finalised.", "2026-11-01T00:05:12.345Z"],
  total_microcents: ["What the calls cost, or brought in gross; of a credit note, what is given back. Exact.", 602_000],
  total_cents: ["The same in whole cents.", 60],
  "InvoiceHead.total": ["The same for people, exact.", "$0.602"],
  "Invoice.total": ["The same for people, exact.", "$0.602"],
  net_microcents: ["What was paid, or earned, in the end. Exact.", 602_000],
  net: ["The same for people, exact.", "$0.602"],
  corrects: ["The invoice that a credit note corrects; null where it is none, or for the month's refunds.", null],
  html_url: ["The document as a page.", `${URL}.html`],
  pdf_url: ["The document as a file.", `${URL}.pdf`],
  "Invoice.owner": [
    "Whom it is made out to, as it was then.",
    {
      role: "consumer",
      id: "0193f9c1-63a4-7c11-8f5b-6d2e9a0b4c7d",
      name: "Research agent",
      email: "agent@example.org"
    }
  ],
  "Invoice.id": ["The account.", "0193f9c1-63a4-7c11-8f5b-6d2e9a0b4c7d"],
  "Invoice.name": ["Its name.", "Research agent"],
  "Invoice.email": ["Its e-mail address.", "agent@example.org"],
  "Invoice.role": ["Whether it calls tools or offers them."],
  "Invoice.fee_microcents": ["The platform's share, on a statement. Exact.", 0],
  amount_due_cents: ["Calls are paid from the balance, so nothing is due.", 0],
  "Invoice.reason": ["Why a credit note was made.", null],
  lines: [
    "A line for each tool and price.",
    [
      {
        tool_id: TOOL_ID,
        tool_name: "search",
        provider: "Ada's tools",
        price_version: 1,
        unit_price_microcents: 2_000,
        calls: 320,
        billed_calls: 301,
        free_calls: 10,
        failed_calls: 9,
        amount_microcents: 602_000,
        fee_microcents: 60_200
      }
    ]
  ],
  "Invoice.tool_id": ["The tool.", TOOL_ID],
  "Invoice.provider": ["Who provides it, as it was called then.", "Ada's tools"],
  price_version: ["Which of the tool's prices.", 1],
  unit_price_microcents: ["That price. Exact.", 2_000],
  "Invoice.calls": ["How many calls.", 320],
  billed_calls: ["How many of them cost something.", 301],
  free_calls: ["How many of them succeeded and cost nothing.", 10],
  failed_calls: ["How many of them failed and cost nothing.", 9],
  amount_microcents: ["In microcents, exact.", 602_000],
  fee_microcents: ["The platform's share. Exact.", 60_200],
  movements: [
    "What else moved the balance in the month; below zero: out of it.",
    [{ kind: "load", amount_microcents: 5_000_000 }]
  ],
  "RunInvoices.": ["Which month to close."],
  "InvoicesMade.": ["What was made, and whether it agrees with the books."],
  issued: ["Made now.", 42],
  documents: ["All of the month.", 42],
  ledger_microcents: ["What the ledger says calls moved.", 602_000],
  invoices_microcents: ["What the invoices say.", 602_000],
  statements_microcents: ["What the statements say.", 602_000],
  agrees: ["Whether it is one figure.", true],
  "CreditInvoice.": ["How much goes back, and why."],
  "CreditInvoice.amount_microcents": ["At most what is left of the invoice.", 500],
  "CreditInvoice.reason": ["For the credit note.", "Two calls were metered twice"],
  "invoices.find.id": ["The document; with `.html` or `.pdf` behind it, in that form.", INVOICE_ID],
  "invoices.credit.id": ["The invoice.", INVOICE_ID]
}
