/**
 * The specification, for implementers: `docs/spec.md` with the settings of this service.
 */
import { Effect, Schema } from "effect"
import { CatalogPolicy } from "../../../domain/catalog/Terms.ts"
import { DefaultFeeBasisPoints, feeOf, feePercent } from "../../../domain/ledger/PlatformFee.ts"
import { UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { RECEIPT_SCHEMA_PATH, ReceiptBody } from "../../http/contract/SharedFields.ts"
import { type JsonSchema, tidyComponent } from "../../http/openapi/OpenApiModel.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { pageLink } from "../docs/GuidePages.ts"
import { Documents, type Rendered, renderMarkdown } from "../docs/Markdown.ts"
import { html } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"

export const SPEC = "spec.md"

export const specRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const baseUrl = yield* BaseUrl
  const text = withSettings((yield* Documents).get(SPEC) ?? "", {
    ...(yield* UpstreamLimits),
    freeCalls: (yield* CatalogPolicy).freeTierCalls,
    feeBasisPoints: yield* DefaultFeeBasisPoints
  })
  // As for the documentation, the Markdown parser is loaded with the first page.
  const page = yield* Effect.cached(
    Effect.map(
      Effect.promise(() => import("marked")),
      ({ lexer }) => specPage(site, renderMarkdown(lexer, text, { linkOf: (href) => pageLink(SPEC, href) }))
    )
  )
  return [
    documentRoute("/spec", publicRead, page, "Specification"),
    documentRoute(
      "/spec.md",
      publicRead,
      Effect.succeed({ status: 200, headers: { "content-type": "text/markdown; charset=utf-8" }, body: text }),
      "Specification as Markdown"
    ),
    documentRoute(
      RECEIPT_SCHEMA_PATH,
      publicRead,
      Effect.sync(() => receiptSchema(baseUrl)),
      "JSON Schema of a receipt"
    )
  ]
})

interface SpecSettings {
  readonly timeoutMs: number
  readonly retriesMax: number
  readonly freeCalls: number
  readonly feeBasisPoints: number
}

const FEE_EXAMPLES = [1n, 4n, 5n, 14n, 15n, 500n, 1_000_000n]

const grouped = (value: number | bigint): string => value.toLocaleString("en-US")

/** A value that a service may set stands in the text as `{{name}}`. */
const withSettings = (text: string, { feeBasisPoints, freeCalls, retriesMax, timeoutMs }: SpecSettings): string => {
  const examples = FEE_EXAMPLES.map((amount) => {
    const fee = feeOf(amount, feeBasisPoints)
    return `| ${[amount, fee, amount - fee].map(grouped).join(" | ")} |`
  })
  const settings: Readonly<Record<string, string>> = {
    default_fee: `${feePercent(feeBasisPoints)} (${grouped(feeBasisPoints)} basis points)`,
    fee_examples: ["| Billed | Fee | Provider |", "| --- | --- | --- |", ...examples].join("\n"),
    free_calls: grouped(freeCalls),
    timeout_ms: grouped(timeoutMs),
    retries: retriesMax === 1 ? "one retry" : `${retriesMax} retries`
  }
  return text.replaceAll(/\{\{(\w+)\}\}/gu, (_, name: string) => settings[name]!)
}

const receiptSchema = (baseUrl: string): EncodedReply => {
  const receipt = Schema.toJsonSchemaDocument(ReceiptBody).definitions["Receipt"] as JsonSchema
  return {
    status: 200,
    headers: { "content-type": "application/schema+json; charset=utf-8" },
    body: JSON.stringify({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `${baseUrl}${RECEIPT_SCHEMA_PATH}`,
      ...tidyComponent("Receipt", { ...receipt, additionalProperties: false })
    })
  }
}

const STYLE = `
.spec{display:grid;gap:1rem 3rem;grid-template-columns:minmax(0,1fr)}
.spec h2{border-top:1px solid var(--line);padding-top:1.75rem;margin-top:2rem}
.spec h3{margin-top:1.75rem}
.spec .anchor{color:inherit;text-decoration:none}
.spec p,.spec ul,.spec ol{max-width:46rem}
.spec .scroll{margin-bottom:1rem}
.spec tbody th{min-width:6.5rem;padding-right:1.25rem}
.spec td{min-width:7rem}
.contents{font-size:.9375rem}
.contents ol{list-style:none;padding:0;margin:0;display:flex;flex-wrap:wrap;gap:.1rem 1.1rem}
.contents li{margin:0}
.contents a{display:inline-block;padding:.25rem 0;text-decoration:none}
.contents a:hover{text-decoration:underline}
@media (min-width:60rem){
.spec{grid-template-columns:12rem minmax(0,1fr)}
.contents{position:sticky;top:1.5rem;align-self:start}
.contents ol{display:block}
}
`

const specPage = (site: Site, { body, headings }: Rendered): EncodedReply =>
  site({
    title: "Specification",
    description: "Receipts, transparency log, money, errors, limits and trust.",
    path: "/spec",
    style: STYLE,
    body: html`
      <div class="spec">
        <nav class="contents" aria-label="On this page">
          <ol>
            ${headings
              .filter(({ level }) => level === 2)
              .map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
          </ol>
        </nav>
        <div>${body}</div>
      </div>
    `
  })
