/**
 * An invoice, statement or credit note as a printable page.
 */
import {
  amountText,
  columnsOf,
  type Invoice,
  type InvoiceLine,
  movementText,
  summaryOf,
  titleOf
} from "../../../domain/invoices/Invoice.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { type Html, html } from "../kit/Html.ts"
import { pageReply } from "../kit/Site.ts"
import { cssVariables, darkColors, lightColors } from "../kit/SiteStyle.ts"

const STYLE = `
:root{${cssVariables(lightColors)};color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{${cssVariables(darkColors)}}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:56rem;margin:0 auto;padding:2rem 1rem 4rem}
header{display:flex;flex-wrap:wrap;gap:1rem 2rem;justify-content:space-between;align-items:flex-start}
.brand{color:var(--accent);font-weight:700;margin:0 0 .25rem}
h1{margin:0;font-size:2rem;line-height:1.2}
dl{display:grid;grid-template-columns:auto auto;gap:.15rem 1rem;margin:0}
dt{color:var(--muted)}dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
address{font-style:normal;margin:1.5rem 0 2rem;overflow-wrap:anywhere}
address small{color:var(--muted);display:block}
.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th{color:var(--muted);font-size:.8rem;text-align:right;padding:.4rem .5rem;border-bottom:1px solid var(--line);white-space:nowrap}
td{text-align:right;padding:.5rem;border-bottom:1px solid var(--line);vertical-align:top}
th:first-child,td:first-child{text-align:left;padding-left:0;min-width:10rem;overflow-wrap:anywhere}
td small{display:block;color:var(--muted)}
.sum{margin:1rem 0 0 auto;width:min(24rem,100%)}.sum td{border:0;padding:.2rem .5rem}.sum td:first-child{text-align:right}
.sum .strong td{font-weight:700;font-size:1.1rem}
h2{font-size:1rem;margin:2.5rem 0 .5rem}
@media print{main{padding:0;max-width:none}:root{${cssVariables(lightColors)}}}
`

export const invoicePage = (invoice: Invoice): EncodedReply =>
  pageReply({
    title: `${titleOf(invoice)} ${invoice.number}`,
    description: `${titleOf(invoice)} for ${invoice.month}`,
    style: STYLE,
    body: html`<main>
      <header>
        <div>
          <p class="brand">Agent Tool Billing</p>
          <h1>${titleOf(invoice)}</h1>
        </div>
        <dl>
          <dt>Number</dt>
          <dd>${invoice.number}</dd>
          <dt>Month</dt>
          <dd>${invoice.month}</dd>
          <dt>Issued</dt>
          <dd><time datetime="${invoice.issuedAt}">${invoice.issuedAt.slice(0, 10)}</time></dd>
        </dl>
      </header>
      <address>
        <small>${invoice.owner.role === "consumer" ? "For" : "To"}</small>${invoice.owner.name}<br />
        ${invoice.owner.email}<small>${invoice.owner.id}</small>
      </address>
      ${invoice.reason === undefined ? undefined : html`<p>${invoice.reason}</p>`}
      ${invoice.lines.length === 0 ? undefined : lines(invoice)}
      <table class="sum">
        <tbody>
          ${summaryOf(invoice).map(
            ({ label, strong, value }) =>
              html`<tr class="${strong ? "strong" : ""}">
                <td>${label}</td>
                <td>${value}</td>
              </tr>`
          )}
        </tbody>
      </table>
      ${invoice.movements.length === 0 ? undefined : movements(invoice)}
    </main>`
  })

const lines = (invoice: Invoice): Html => {
  const { cells, heads } = columnsOf(invoice)
  const row = (line: InvoiceLine) =>
    html`<tr>
      <td>${line.toolName}<small>${line.provider} · price ${line.priceVersion}</small></td>
      ${cells(line).map((cell) => html`<td>${cell}</td>`)}
    </tr>`
  return html`<div class="scroll" role="region" aria-label="Calls" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Tool</th>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${invoice.lines.map(row)}
      </tbody>
    </table>
  </div>`
}

const movements = (invoice: Invoice): Html =>
  html`<h2>Other balance changes this month</h2>
    <table>
      <tbody>
        ${invoice.movements.map(
          ({ amount, kind }) =>
            html`<tr>
              <td>${movementText[kind]}</td>
              <td>${amountText(amount)}</td>
            </tr>`
        )}
      </tbody>
    </table>`
