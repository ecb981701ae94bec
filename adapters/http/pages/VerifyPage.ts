/**
 * A receipt verified in the reader's own browser. The page is served with the key of the log for convenience and says so:
 * who trusts nobody has it from elsewhere.
 */
import { Effect } from "effect"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { uncached } from "../api/Access.ts"
import { documentRoute, type EncodedReply } from "../pipeline/Route.ts"
import { assetsVersion } from "./AssetRoutes.ts"
import { type Html, html } from "./Html.ts"
import { pageReply } from "./Page.ts"
import { pageStyle } from "./PageStyle.ts"

export const verifyRoutes = Effect.gen(function* () {
  const log = yield* ReceiptLog
  const version = yield* assetsVersion
  return [
    documentRoute(
      "/verify",
      uncached,
      Effect.map(log.logs, (logs) => verifyPage(logs.at(-1)?.key ?? "", version)),
      "A page that verifies a receipt in the browser"
    )
  ]
})

const style = `${pageStyle}
main{max-width:52rem;margin:0 auto;padding:2rem 1rem 4rem}
form{display:grid;gap:1.25rem;grid-template-columns:minmax(0,1fr)}
pre code{overflow-wrap:anywhere}
label{font-weight:650;display:block;margin-bottom:.35rem}
.hint{overflow-wrap:anywhere;color:var(--muted);font-size:.9375rem;margin:0 0 .5rem}
textarea{width:100%;min-height:8rem;padding:.75rem;border:1px solid var(--muted);border-radius:8px;background:var(--panel);color:var(--ink);font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;resize:vertical}
#key{min-height:4.5rem}
input[type=file]{color:var(--ink);font:inherit;max-width:100%}
button{justify-self:start;background:var(--accent);color:var(--ground);border:0;border-radius:8px;padding:.7rem 1.4rem;font:inherit;font-weight:650;cursor:pointer}
h2{margin-top:2.5rem}
.verdict{margin:0;border-radius:8px;padding:1rem 1.1rem;background:var(--tint);overflow-wrap:anywhere}
.verdict.valid{background:var(--get-ground);color:var(--get)}
.verdict.invalid{background:var(--delete-ground);color:var(--delete)}
`

export const verifyPage = (key: string, version: string): EncodedReply =>
  pageReply({
    title: "Verify a receipt",
    description: "Check in your own browser that a receipt is in the transparency log. Nothing is sent anywhere.",
    style,
    modules: [`/assets/${version}/VerifyPage.js`],
    body: html`
      <a class="skip" href="#main">Skip to the content</a>
      <main id="main" tabindex="-1">
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
      </main>
    `
  })

const input = (id: string, title: string, hint: string, value: string): Html =>
  html`<div>
    <label for="${id}">${title}</label>
    <p class="hint" id="${id}-hint">${hint}</p>
    <textarea id="${id}" aria-describedby="${id}-hint" spellcheck="false" autocomplete="off">${value}</textarea>
  </div>`
