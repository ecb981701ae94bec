/**
 * What a newcomer needs to know before the reference: how to begin, and the rules that hold everywhere.
 */
import { KEYS_PER_OWNER_MAX } from "../../../domain/accounts/ApiKey.ts"
import { IDEMPOTENCY_DAYS_KEPT } from "../../../domain/shared/Idempotency.ts"
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "../../../domain/shared/Page.ts"
import { codesByStatus, problemAnchor } from "../../http/api/Problem.ts"
import type { OpenApiDocument } from "../../http/openapi/OpenApiModel.ts"
import { exampleProblem, guide, statuses } from "../../http/openapi/ProblemGuide.ts"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from "../../http/pipeline/RequestBody.ts"
import { codesIn, statusBadge } from "./DocsEndpoint.ts"
import { names } from "./DocsNames.ts"
import { firstSteps } from "./DocsSteps.ts"
import { breakable, type Html, html, prose } from "../kit/Html.ts"
import { jsonView } from "../kit/JsonView.ts"

/** Requests a minute; 0: no limit. */
export interface DocsFacts {
  readonly addressRpm: number
  readonly registrationRpm: number
  readonly consumerRpm: number
  readonly consumerRpmMax: number
  readonly providerRpm: number
}

/** Anchor and heading of every part, in reading order. */
export const parts = [
  ["start", "Begin in five minutes"],
  ["keys", "Keys"],
  ["names", "How tools are named"],
  ["money", "How money is written"],
  ["idempotency", "Sending a request again"],
  ["errors", "Errors"],
  ["limits", "Limits"],
  ["pages", "Pages of a list"]
] as const

type PartId = (typeof parts)[number][0]

export const introduction = (document: OpenApiDocument, facts: DocsFacts): ReadonlyArray<Html> => {
  const bodies: Readonly<Record<PartId, Html>> = {
    start: firstSteps(document),
    keys,
    names,
    money,
    idempotency,
    errors: errors(document),
    limits: limits(facts),
    pages
  }
  return parts.map(
    ([id, title]) =>
      html`<section class="part" id="${id}" aria-labelledby="${id}-title">
        <h2 id="${id}-title">${title}</h2>
        ${bodies[id]}
      </section>`
  )
}

const keys = html`<p>Send your key with every request that is yours:</p>
  <pre><code>Authorization: Bearer atb_c_…</code></pre>
  <ul>
    <li>
      <code>atb_c_</code> begins a consumer's key, <code>atb_p_</code> a provider's. Each endpoint below says whose key
      it needs.
    </li>
    <li>A key is shown once, when it is made. Only its hash is kept, so nobody can look it up for you.</li>
    <li>
      You may have up to ${KEYS_PER_OWNER_MAX} live keys, each with a label and an end if you like. Rotation gives you a
      new one while the old one works on for the grace time that you choose.
    </li>
    <li>A revoked key is refused everywhere within a second.</li>
  </ul>`

const money = html`<p>
    Amounts are whole numbers of <strong>microcents</strong>, in fields that end in <code>_microcents</code>. They are
    never rounded and never a decimal number.
  </p>
  <table class="plain">
    <caption>
      Amounts
    </caption>
    <thead>
      <tr>
        <th scope="col">Amount</th>
        <th scope="col">In microcents</th>
      </tr>
    </thead>
    <tbody>
      <tr>
        <th scope="row">1 US dollar</th>
        <td>1 000 000</td>
      </tr>
      <tr>
        <th scope="row">1 cent</th>
        <td>10 000</td>
      </tr>
      <tr>
        <th scope="row">a call at $0.0005</th>
        <td>500</td>
      </tr>
    </tbody>
  </table>
  <p>
    Beside them, for people, stand whole cents (<code>*_cents</code>, rounded toward zero) and texts such as
    <code>$12.34</code>. Do not compute with those. The platform keeps 10 % of what is billed; the provider gets the
    rest, exactly.
  </p>`

const idempotency = html`<p>
    A network may lose an answer. Send an <code>Idempotency-Key</code> of your own making with every POST, a UUID for
    instance, and you can send the same request again until you hear back:
  </p>
  <ul>
    <li>
      <strong>Same key, same request:</strong> the stored answer again, with <code>Idempotent-Replay: true</code>.
      Nothing is done or charged twice.
    </li>
    <li><strong>Same key, another request:</strong> 409 <code>IDEMPOTENCY_CONFLICT</code>.</li>
    <li>
      <strong>A registration without a key:</strong> its answer shows an API key, so it is not repeated. The second
      request is 409 and creates nothing; send a new key to register another account.
    </li>
    <li>
      <strong>The first one is still under way:</strong> the second waits for it, or gets 409 with
      <code>Retry-After</code>.
    </li>
    <li><strong>The first one failed and changed nothing:</strong> the key is free again.</li>
  </ul>
  <p>Keys are yours alone and are remembered for at least ${IDEMPOTENCY_DAYS_KEPT} days.</p>`

/** What is answered to a request that reaches no endpoint. */
const BEFORE_ANY_ENDPOINT = ["NOT_FOUND", "METHOD_NOT_ALLOWED", "REQUEST_TIMEOUT", "HEADERS_TOO_LARGE"]

const errors = (document: OpenApiDocument): Html => {
  const possible = new Set<string>([...BEFORE_ANY_ENDPOINT, ...codesIn(document)])
  return html`<p>
      Whatever goes wrong is answered as <code>application/problem+json</code> (RFC 9457). Branch on <code>code</code>,
      show <code>message</code>, and name <code>request_id</code> when you ask for help. <code>type</code> is the
      address of the code's entry in this table; <code>details</code> lists every fault with its path.
    </p>
    <p>
      Unknown body fields and query parameters are rejected with 422 and the nearest known name, so a typo never costs
      money. Free-form objects such as <code>input</code> and <code>metadata</code> take any field, and
      <code>utm_*</code> parameters are ignored.
    </p>
    <pre><code>${jsonView(exampleProblem(422, "VALIDATION_ERROR"))}</code></pre>
    <table class="codes" role="table">
      <caption>
        Every code
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Status and code</th>
          <th role="columnheader" scope="col">What to do</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${statuses.flatMap((status) =>
          codesByStatus[status]
            .filter((code) => possible.has(code))
            .map(
              (code) =>
                html` <tr role="row" id="${problemAnchor(code)}">
                  <th role="rowheader" scope="row">${statusBadge(String(status))} <code>${breakable(code)}</code></th>
                  <td role="cell">${prose(guide[code].remedy)}</td>
                </tr>`
            )
        )}
      </tbody>
    </table>`
}

const limits = (facts: DocsFacts): Html =>
  html`<ul>
    <li>
      Requests from one address: ${perMinute(facts.addressRpm)}. Registrations from it:
      ${perMinute(facts.registrationRpm)}.
    </li>
    <li>
      Of a consumer that asked for nothing:
      ${perMinute(facts.consumerRpm)}${facts.consumerRpm === 0 ? "" : html`, up to ${facts.consumerRpmMax} where it asked for more`}.
      Of a provider: ${perMinute(facts.providerRpm)}.
    </li>
    <li>
      <code>X-RateLimit-Limit</code>, <code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> (seconds)
      say where you stand. Past the limit comes 429 with <code>Retry-After</code>.
    </li>
    <li>
      A body has at most ${BODY_BYTES_MAX / 1_048_576} MiB, is JSON in UTF-8, and is nested at most ${JSON_DEPTH_MAX}
      levels deep.
    </li>
    <li>
      Every answer carries <code>X-Request-Id</code>: yours if you sent one, else a new one. <code>traceparent</code> is
      taken up.
    </li>
  </ul>`

const perMinute = (rpm: number): string => (rpm === 0 ? "no limit" : `${rpm} a minute`)

const pages = html`<p>
  Lists take <code>limit</code> (${PAGE_LIMIT_DEFAULT} if absent, mostly ${PAGE_LIMIT_MAX} at most) and answer
  <code>next_cursor</code>. Send that as <code>cursor</code> for the next page, until it is <code>null</code>: a page
  stays right while items are being added. <code>offset</code> is there for clients that count;
  <code>total</code> counts the whole filtered list.
</p>`
