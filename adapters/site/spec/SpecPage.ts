/**
 * The specification, for implementers. Lists, limits and test vectors are taken from the code that the service runs.
 */
import { Effect, Schema } from "effect"
import { DefaultFreeTierCalls } from "../../../domain/catalog/Terms.ts"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { publicRead } from "../../http/contract/Access.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import { RECEIPT_SCHEMA_PATH, ReceiptBody } from "../../http/contract/SharedFields.ts"
import type { JsonSchema } from "../../http/openapi/OpenApiModel.ts"
import { tidyComponent } from "../../http/openapi/TidySchema.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { type DocumentedLimits, documentedLimits } from "../kit/DocumentedLimits.ts"
import { type Html, html } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"
import { errorsSection, idempotencySection, requestsSection } from "./SpecConventions.ts"
import { logSection } from "./SpecLog.ts"
import type { SpecSection } from "./SpecMarkup.ts"
import { moneySection } from "./SpecMoney.ts"
import { meteringSection, providersSection, type UpstreamFacts } from "./SpecProviders.ts"
import { receiptsSection } from "./SpecReceipts.ts"
import { disputesSection, trustSection } from "./SpecTrust.ts"

interface SpecFacts extends DocumentedLimits, UpstreamFacts {
  readonly freeCalls: number
  readonly feeBasisPoints: number
}

export const specRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const baseUrl = yield* BaseUrl
  const { retriesMax, timeoutMs } = yield* UpstreamLimits
  const page = specPage(site, {
    ...(yield* documentedLimits),
    retriesMax,
    timeoutMs,
    freeCalls: yield* DefaultFreeTierCalls,
    feeBasisPoints: yield* DefaultFeeBasisPoints
  })
  return [
    documentRoute("/spec", publicRead, Effect.succeed(page), "Specification"),
    documentRoute(
      RECEIPT_SCHEMA_PATH,
      publicRead,
      Effect.sync(() => receiptSchema(baseUrl)),
      "JSON Schema of a receipt"
    )
  ]
})

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

const sectionsOf = (facts: SpecFacts): ReadonlyArray<SpecSection> => [
  receiptsSection(),
  logSection(),
  moneySection(facts),
  requestsSection(facts),
  idempotencySection(),
  errorsSection(),
  providersSection(facts),
  meteringSection(),
  disputesSection(),
  trustSection()
]

const STYLE = `
.spec{display:grid;gap:1rem 3rem;grid-template-columns:minmax(0,1fr)}
.spec section{border-top:1px solid var(--line);padding-top:1.75rem;margin-top:2rem}
.spec section:first-of-type{border-top:0;padding-top:0;margin-top:0}
.spec h3{margin-top:1.75rem}
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

const specPage = (site: Site, facts: SpecFacts): EncodedReply => {
  const sections = sectionsOf(facts)
  return site({
    title: "Specification",
    description: "Receipts, transparency log, money, errors, limits and trust.",
    path: "/spec",
    style: STYLE,
    body: html`
      <h1>Specification</h1>
      <p class="lead">
        The rules that implementations can rely on, with this service's limits. Endpoints are in the
        <a href="/docs">documentation</a>.
      </p>
      <div class="spec">
        <nav class="contents" aria-label="On this page">
          <ol>
            ${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
          </ol>
        </nav>
        <div>${sections.map(section)}</div>
      </div>
    `
  })
}

const section = ({ body, id, title }: SpecSection): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${body}
  </section>`
