/**
 * The page that verifies a receipt in the browser. It is served with the log's key for convenience.
 */
import { Effect } from "effect"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { uncached } from "../../http/contract/Endpoint.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { type Html, html } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"

export const verifyRoutes = Effect.gen(function* () {
  const log = yield* ReceiptLog
  const site = yield* makeSite
  return [
    documentRoute(
      "/verify",
      uncached,
      Effect.map(log.logs, (logs) => verifyPage(site, logs.at(-1)?.key ?? "")),
      "Verify a receipt in the browser"
    )
  ]
})

const style = `
form{display:grid;gap:1.25rem;grid-template-columns:minmax(0,1fr)}
pre code{overflow-wrap:anywhere}
label{font-weight:650;display:block;margin-bottom:.35rem}
.hint{overflow-wrap:anywhere;color:var(--muted);font-size:.9375rem;margin:0 0 .5rem}
textarea{min-height:8rem;background:var(--panel)}
#key{min-height:4.5rem}
form button{justify-self:start}
h2{margin-top:2.5rem}
.verdict{margin:0;border-radius:8px;padding:1rem 1.1rem;background:var(--tint);overflow-wrap:anywhere}
.verdict.valid{background:var(--get-ground);color:var(--get)}
.verdict.invalid{background:var(--delete-ground);color:var(--delete)}
`

const verifyPage = (site: Site, key: string): EncodedReply =>
  site({
    title: "Verify a receipt",
    description: "Verify in your browser that a receipt is in the transparency log.",
    style,
    path: "/verify",
    modules: ["verify/VerifyPage"],
    connects: false,
    body: html`
      <div class="narrow">
        <h1>Verify a receipt</h1>
        <p class="lead">Verification runs in your browser. Nothing is uploaded, and the page works offline.</p>
        <form id="check">
          <div>
            <label for="files">Select files, or drop them on this page</label>
            <input id="files" type="file" multiple />
          </div>
          ${input("receipt", "Receipt", "JSON from GET /api/v1/market/receipts/:id.", "")}
          ${input("proof", "Proof", "Text from GET /api/v1/market/receipts/:id/proof.", "")}
          ${input("key", "Log public key", "As served by this service. Compare it with a key from another source.", key)}
          <button type="submit">Verify receipt</button>
          <p id="verdict" class="verdict" role="status" aria-live="polite">Not verified.</p>
        </form>
        <noscript><p class="verdict invalid">This page requires JavaScript. Use the command line instead.</p></noscript>
        <h2>Command line</h2>
        <p>In a checkout of this service's repository:</p>
        <pre><code>npm run -s cli -- verify receipt.json receipt.tlog-proof --vkey log.vkey</code></pre>
      </div>
    `
  })

const input = (id: string, title: string, hint: string, value: string): Html =>
  html`<div>
    <label for="${id}">${title}</label>
    <p class="hint" id="${id}-hint">${hint}</p>
    <textarea id="${id}" aria-describedby="${id}-hint" spellcheck="false" autocomplete="off">${value}</textarea>
  </div>`
