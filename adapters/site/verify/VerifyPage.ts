/**
 * A receipt verified in the reader's own browser. The page is served with the key of the log for convenience and says so:
 * who trusts nobody has it from elsewhere.
 */
import { Effect } from "effect"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { uncached } from "../../http/api/Access.ts"
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
      "A page that verifies a receipt in the browser"
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

export const verifyPage = (site: Site, key: string): EncodedReply =>
  site({
    title: "Verify a receipt",
    description: "Check in your own browser that a receipt is in the transparency log. Nothing is sent anywhere.",
    style,
    path: "/verify",
    module: "verify/VerifyPage",
    connects: false,
    body: html`
      <div class="narrow">
        <h1>Verify a receipt</h1>
        <p>
          The check runs here, in your browser. Nothing is sent anywhere: this page may not connect to anything, and
          works offline once it is loaded.
        </p>
        <form id="check">
          <div>
            <label for="files">Drop the files anywhere on this page, or choose them</label>
            <input id="files" type="file" multiple />
          </div>
          ${input("receipt", "The receipt", "As JSON: the eleven fields, from GET /api/v1/market/receipts/:id.", "")}
          ${input("proof", "Its proof", "As text, from GET /api/v1/market/receipts/:id/proof.", "")}
          ${input(
            "key",
            "The log's public key",
            "This service says that it is the following. Compare it with the one that you were given elsewhere.",
            key
          )}
          <button type="submit">Verify</button>
          <p id="verdict" class="verdict" role="status" aria-live="polite">Nothing was checked yet.</p>
        </form>
        <noscript><p class="verdict invalid">The check needs JavaScript; the command line does not.</p></noscript>
        <h2>Without this page</h2>
        <p>In a copy of this service's repository, with the three as files:</p>
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
