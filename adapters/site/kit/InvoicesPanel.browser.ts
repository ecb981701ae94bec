/**
 * Invoices, statements and credit notes of an account, each as HTML or PDF.
 */
import { accountApi } from "./AccountApi.browser.ts"
import { actionButton, statusArea } from "./Action.browser.ts"
import { el, saveFile } from "./Dom.browser.ts"
import { dateTime, money, month } from "./Format.browser.ts"
import { pagedList } from "./PagedList.browser.ts"
import { type Panel, panel } from "./Panel.browser.ts"
import type { Invoices } from "./ApiResponses.browser.ts"
import type { Role } from "./Session.browser.ts"
import { table } from "./Table.browser.ts"

type Invoice = Invoices["invoices"][number]

const PATH = "/api/v1/market/invoices"
const PAGE_SIZE = 24

const KINDS = { invoice: "Invoice", statement: "Statement", credit_note: "Credit note" } as const
const TITLES = { consumer: "Invoices", provider: "Statements" } as const

export const invoicesPanel = (role: Role): Panel => {
  const status = statusArea()
  return panel("documents", TITLES[role], async () => {
    const list = await pagedList(
      (cursor) => accountApi(role).get<Invoices>(PATH, { limit: PAGE_SIZE, cursor }),
      (page) => page.invoices,
      (all) => invoiceTable(role, all, status)
    )
    return [status, list]
  })
}

const invoiceTable = (role: Role, all: ReadonlyArray<Invoice>, status: HTMLElement): HTMLElement =>
  table(
    TITLES[role],
    [
      { name: "Month", cell: (one: Invoice) => month(one.month) },
      { name: "Type", cell: (one) => KINDS[one.kind] },
      { name: "Number", cell: (one) => el("span", { class: "nowrap" }, one.number) },
      { name: "Issued", cell: (one) => dateTime(one.issued_at) },
      {
        name: role === "provider" ? "Net" : "Total",
        cell: (one) => money(role === "provider" ? one.net_microcents : one.total_microcents),
        isNumber: true
      },
      {
        name: "",
        cell: (one) =>
          el(
            "div",
            { class: "actions tight" },
            (["pdf", "html"] as const).map((format) => downloadButton(role, one, format, status))
          )
      }
    ],
    all,
    `No ${TITLES[role].toLowerCase()} yet. They are issued on the first day of each month (UTC).`
  )

const downloadButton = (role: Role, one: Invoice, format: "pdf" | "html", status: HTMLElement): HTMLElement =>
  actionButton({
    label: format.toUpperCase(),
    name: `Download ${KINDS[one.kind].toLowerCase()} ${one.number} as ${format.toUpperCase()}`,
    style: "tiny plain",
    status,
    run: async () => {
      saveFile(`${one.number}.${format}`, await accountApi(role).file(`${PATH}/${one.invoice_id}.${format}`))
    }
  })
