/**
 * Invoices, statements and credit notes of whoever is signed in, each to keep as a page or as a PDF.
 */
import type { Invoices } from "./Answers.browser.ts"
import { ask, askFile } from "./Api.browser.ts"
import { deed, saying } from "./Action.browser.ts"
import { el, empty } from "./Dom.browser.ts"
import { money, moment, month } from "./Figures.browser.ts"
import { type Panel, panel } from "./Panel.browser.ts"
import { pages } from "./Paging.browser.ts"
import { save } from "./Save.browser.ts"
import { keyOf, type Role } from "./Session.browser.ts"
import { table } from "./Table.browser.ts"

type Document = Invoices["invoices"][number]

const PATH = "/api/v1/market/invoices"
const SHOWN_AT_ONCE = 24

const KINDS = { invoice: "Invoice", statement: "Statement", credit_note: "Credit note" } as const
const TITLES = { consumer: "Invoices", provider: "Statements" } as const
const NONE = {
  consumer: "No invoices yet. On the first day of each month, UTC, last month's calls are put on one.",
  provider: "No statements yet. On the first day of each month, UTC, what your tools earned last month is put on one."
} as const

export const documents = (role: Role): Panel => {
  const said = saying()
  return panel("documents", TITLES[role], async () => {
    const found = await pages(
      async (cursor) => {
        const query = new URLSearchParams({ limit: String(SHOWN_AT_ONCE), ...(cursor === undefined ? {} : { cursor }) })
        const page = await ask<Invoices>("GET", `${PATH}?${query}`, { key: keyOf(role) })
        return { items: page.invoices, next: page.next_cursor }
      },
      (all) => [all.length === 0 ? empty(NONE[role]) : documentTable(role, all, said)]
    )
    return [said, found]
  })
}

const documentTable = (role: Role, all: ReadonlyArray<Document>, said: HTMLElement): HTMLElement =>
  table(
    TITLES[role],
    [
      { name: "Month", cell: (one: Document) => month(one.month) },
      { name: "Document", cell: (one) => KINDS[one.kind] },
      { name: "Number", cell: (one) => el("span", { class: "nowrap" }, one.number) },
      { name: "Issued", cell: (one) => moment(one.issued_at) },
      {
        name: role === "provider" ? "Net" : "Total",
        cell: (one) => money(role === "provider" ? one.net_microcents : one.total_microcents),
        isNumber: true
      },
      {
        name: "",
        cell: (one) =>
          el("div", { class: "actions tight" }, download(role, one, "pdf", said), download(role, one, "html", said))
      }
    ],
    all
  )

const download = (role: Role, one: Document, form: "pdf" | "html", said: HTMLElement): HTMLElement => {
  const made = deed(
    form.toUpperCase(),
    said,
    async () => {
      save(`${one.number}.${form}`, await askFile(`${PATH}/${one.invoice_id}.${form}`, keyOf(role)))
      return undefined
    },
    "tiny plain"
  )
  made.setAttribute("aria-label", `${KINDS[one.kind]} ${one.number} as ${form.toUpperCase()}`)
  return made
}
