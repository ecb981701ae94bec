/**
 * The specification, for people who implement against the service. Lists, limits and check values are taken from the rules
 * that the service runs on.
 */
import { Effect } from "effect"
import { RateLimitPolicy } from "../../../domain/accounts/RateLimitPolicy.ts"
import { DefaultFreeTierCalls } from "../../../domain/catalog/Pricing.ts"
import { UpstreamLimits } from "../../../domain/metering/UpstreamLimits.ts"
import { publicRead } from "../../http/api/Access.ts"
import { RateLimitSettings } from "../../http/pipeline/RateLimits.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import type { DocsFacts } from "../docs/DocsIntroduction.ts"
import { type Html, html } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"
import { errorsPart, idempotencyPart, requestsPart } from "./SpecConventions.ts"
import { logPart } from "./SpecLog.ts"
import { moneyPart } from "./SpecMoney.ts"
import type { SpecPart } from "./SpecParts.ts"
import { meteringPart, providersPart, type UpstreamFacts } from "./SpecProviders.ts"
import { receiptsPart } from "./SpecReceipts.ts"
import { disputesPart, trustPart } from "./SpecTrust.ts"

export interface SpecFacts extends DocsFacts, UpstreamFacts {
  readonly freeCalls: number
}

export const specRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const policy = yield* RateLimitPolicy
  const { addressRpm, keysLimited, registrationRpm } = yield* RateLimitSettings
  const { retriesMax, timeoutMs } = yield* UpstreamLimits
  const page = specPage(site, {
    addressRpm,
    registrationRpm,
    consumerRpm: keysLimited ? policy.defaultRpm : 0,
    consumerRpmMax: policy.ceilingRpm,
    providerRpm: keysLimited ? policy.providerRpm : 0,
    retriesMax,
    timeoutMs,
    freeCalls: yield* DefaultFreeTierCalls
  })
  return [documentRoute("/spec", publicRead, Effect.succeed(page), "The specification, for people who implement it")]
})

const partsOf = (facts: SpecFacts): ReadonlyArray<SpecPart> => [
  receiptsPart(),
  logPart(),
  moneyPart(facts.freeCalls),
  requestsPart(facts),
  idempotencyPart(),
  errorsPart(),
  providersPart(facts),
  meteringPart(),
  disputesPart(),
  trustPart()
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

export const specPage = (site: Site, facts: SpecFacts): EncodedReply => {
  const parts = partsOf(facts)
  return site({
    title: "Specification",
    description: "Receipts, transparency log, money, errors, limits and trust: what an implementation can rely on.",
    path: "/spec",
    style: STYLE,
    body: html`
      <h1>Specification</h1>
      <p class="lead">
        What an implementation can rely on. Lists, limits and check values on this page are taken from the rules that
        this very service runs on; every endpoint is in the <a href="/docs">documentation</a>.
      </p>
      <div class="spec">
        <nav class="contents" aria-label="On this page">
          <ol>
            ${parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
          </ol>
        </nav>
        <div>${parts.map(section)}</div>
      </div>
    `
  })
}

const section = ({ body, id, title }: SpecPart): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${body}
  </section>`
