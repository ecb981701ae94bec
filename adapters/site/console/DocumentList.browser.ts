/**
 * Invoices, statements and credit notes of an account, each as HTML or PDF.
 */
import type { Invoices } from "../kit/ApiResponses.browser.ts"
import { month } from "../kit/Format.browser.ts"
import { ActionButton } from "./ActionButton.browser.ts"
import { type ConsoleContext, saveFile, useConsole } from "./ConsoleContext.browser.ts"
import { type Column, column, moneyColumn, timeColumn } from "./DataTable.browser.ts"
import { ListView } from "./ListView.browser.ts"
import { h, section, type View } from "./View.browser.ts"

type Invoice = Invoices["invoices"][number]

const PATH = "/api/v1/market/invoices"
const PAGE_SIZE = 24

const KINDS = { invoice: "Invoice", statement: "Statement", credit_note: "Credit note" } as const

/** `title`: what the documents of this role are called. */
export const DocumentList = ({ title }: { readonly title: "Invoices" | "Statements" }): View => {
  const console = useConsole()
  return section(
    "documents",
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
  column("Month", (one) => one.month, { cell: (one) => month(one.month) }),
  column("Type", (one) => one.kind, { cell: (one) => KINDS[one.kind] }),
  { name: "Number", cell: (one) => h("span", { class: "nowrap" }, one.number), csv: (one) => one.number },
  timeColumn("Issued", (one) => one.issued_at),
  title === "Statements"
    ? moneyColumn("Net", (one) => one.net_microcents)
    : moneyColumn("Total", (one) => one.total_microcents),
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
