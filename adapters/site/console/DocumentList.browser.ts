/**
 * Invoices, statements and credit notes of an account, each as HTML or PDF.
 */
import type { Invoices } from "../kit/ApiResponses.browser.ts"
import { money, month } from "../kit/Format.browser.ts"
import { ActionButton } from "./ActionButton.browser.ts"
import { type ConsoleContext, saveFile, useConsole } from "./ConsoleContext.browser.ts"
import type { Column } from "./DataTable.browser.ts"
import { ListView } from "./ListView.browser.ts"
import { h, TimeText, type View } from "./View.browser.ts"

type Invoice = Invoices["invoices"][number]

const PATH = "/api/v1/market/invoices"
const PAGE_SIZE = 24

const KINDS = { invoice: "Invoice", statement: "Statement", credit_note: "Credit note" } as const

/** `title`: what the documents of this role are called. */
export const DocumentList = ({ title }: { readonly title: "Invoices" | "Statements" }): View => {
  const console = useConsole()
  return h(
    "section",
    { id: "documents" },
    h(ListView<Invoice>, {
      id: title.toLowerCase(),
      caption: title,
      load: async (cursor) => {
        const page = await console.api.get<Invoices>(PATH, { limit: PAGE_SIZE, cursor })
        return { rows: page.invoices, next: page.next_cursor }
      },
      keyOf: ({ invoice_id }) => invoice_id,
      textOf: (one) => `${one.number} ${month(one.month)} ${KINDS[one.kind]}`,
      empty: `No ${title.toLowerCase()} yet. They are issued on the first day of each month (UTC).`,
      columns: columnsOf(console, title)
    })
  )
}

const columnsOf = (console: ConsoleContext, title: string): ReadonlyArray<Column<Invoice>> => [
  { name: "Month", cell: (one) => month(one.month), sortBy: (one) => one.month, csv: (one) => one.month },
  { name: "Type", cell: (one) => KINDS[one.kind], sortBy: (one) => one.kind, csv: (one) => one.kind },
  { name: "Number", cell: (one) => h("span", { class: "nowrap" }, one.number), csv: (one) => one.number },
  {
    name: "Issued",
    cell: (one) => h(TimeText, { at: one.issued_at }),
    sortBy: (one) => one.issued_at,
    csv: (one) => one.issued_at
  },
  {
    name: title === "Statements" ? "Net" : "Total",
    cell: (one) => money(amountOf(one, title)),
    isNumber: true,
    sortBy: (one) => amountOf(one, title),
    csv: (one) => money(amountOf(one, title))
  },
  {
    name: "",
    cell: (one) =>
      h(
        "div",
        { class: "actions tight" },
        (["pdf", "html"] as const).map((format) => h(DownloadButton, { key: format, of: one, format, console }))
      )
  }
]

const amountOf = (one: Invoice, title: string): number =>
  title === "Statements" ? one.net_microcents : one.total_microcents

interface DownloadButtonProps {
  readonly of: Invoice
  readonly format: "pdf" | "html"
  readonly console: ConsoleContext
}

const DownloadButton = ({ console, format, of: one }: DownloadButtonProps): View =>
  h(ActionButton, {
    label: format.toUpperCase(),
    name: `Download ${KINDS[one.kind].toLowerCase()} ${one.number} as ${format.toUpperCase()}`,
    style: "tiny plain",
    run: async () => {
      saveFile(`${one.number}.${format}`, await console.api.file(`${PATH}/${one.invoice_id}.${format}`))
    }
  })
