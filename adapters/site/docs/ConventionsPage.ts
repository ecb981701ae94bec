/**
 * The rules that apply to every endpoint of the API reference.
 */
import { Effect } from "effect"
import { RateLimitPolicy } from "../../../domain/accounts/Authentication.ts"
import { HANDLE_CHARS_MAX, HANDLE_CHARS_MIN } from "../../../domain/accounts/Handle.ts"
import { KEYS_PER_OWNER_MAX } from "../../../domain/accounts/Keys.ts"
import { PINS_PER_CONSUMER_MAX } from "../../../domain/metering/ToolDirectory.ts"
import { IDEMPOTENCY_DAYS_KEPT, IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "../../../domain/shared/Page.ts"
import { ERRORS_PAGE, exampleProblem } from "../../http/contract/Problem.ts"
import type { OpenApiDocument } from "../../http/openapi/OpenApiModel.ts"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from "../../http/pipeline/Decoding.ts"
import { HttpSettings } from "../../http/pipeline/Stages.ts"
import { breakable, type Html, html, jsonView, prose, table } from "../kit/Html.ts"
import { copyable } from "../kit/Site.ts"
import type { Heading } from "./Markdown.ts"

// The rate limits that the documentation and the specification state.

/** Limits in requests per minute; 0: no limit. */
export interface DocumentedLimits {
  readonly addressRpm: number
  readonly registrationRpm: number
  readonly consumerRpm: number
  readonly consumerRpmMax: number
  readonly providerRpm: number
}

export const documentedLimits = Effect.gen(function* () {
  const policy = yield* RateLimitPolicy
  const { rateLimits } = yield* HttpSettings
  const { addressRpm, keysLimited, registrationRpm } = rateLimits
  const limits: DocumentedLimits = {
    addressRpm,
    registrationRpm,
    consumerRpm: keysLimited ? policy.defaultRpm : 0,
    consumerRpmMax: keysLimited ? policy.ceilingRpm : 0,
    providerRpm: keysLimited ? policy.providerRpm : 0
  }
  return limits
})

/** Anchor and heading of each chapter. */
const chapters = [
  ["keys", "Authentication"],
  ["names", "Tool names"],
  ["money", "Amounts"],
  ["idempotency", "Idempotent requests"],
  ["errors", "Errors"],
  ["limits", "Limits"],
  ["pages", "Pagination"]
] as const

type ChapterId = (typeof chapters)[number][0]

export const conventionHeadings: ReadonlyArray<Heading> = chapters.map(([id, title]) => ({ id, title, level: 2 }))

/** Each chapter with its anchor. */
export const conventions = (documented: DocumentedLimits): ReadonlyArray<readonly [id: string, body: Html]> => {
  const bodies: Readonly<Record<ChapterId, Html>> = {
    keys,
    names: toolNames,
    money,
    idempotency,
    errors: errors(),
    limits: limits(documented),
    pages
  }
  return chapters.map(([id]) => [id, bodies[id]])
}

export const conventionsPage = (document: OpenApiDocument, documented: DocumentedLimits): Html => {
  const bodies = new Map(conventions(documented))
  return html`<h1>API conventions</h1>
    <p class="lead">The rules that apply to every endpoint.</p>
    <p>Base URL:</p>
    <pre><code class="whole">${breakable(document.servers[0]?.url ?? "")}</code></pre>
    <p>
      The contract is also an <a href="/api/openapi.json">OpenAPI 3.1 document</a>. Requests and responses are JSON
      unless an endpoint says otherwise.
    </p>
    ${chapters.map(
      ([id, title]) =>
        html`<section id="${id}" aria-labelledby="${id}-title">
          <h2 id="${id}-title"><a class="anchor" href="#${id}">${title}</a></h2>
          ${bodies.get(id)}
        </section>`
    )}`
}

const keys = html`<p>Send your API key in the <code>Authorization</code> header:</p>
  ${copyable("Authorization: Bearer atb_c_…")}
  <p><code>X-API-Key: atb_c_…</code> also works. If a request has both headers, <code>Authorization</code> counts.</p>
  <ul>
    <li>
      Consumer keys begin with <code>atb_c_</code>, provider keys with <code>atb_p_</code>. The reference names the role
      that each endpoint requires.
    </li>
    <li>A key is shown only once, when it is created. Only its hash is stored.</li>
    <li>
      An account can have up to ${KEYS_PER_OWNER_MAX} active keys, with a label and an optional expiry. Rotating a key
      creates a new one; the old one remains valid for the grace period that you choose.
    </li>
    <li>Revoked keys are rejected within a second.</li>
  </ul>`

const money = html`<p>
    Amounts are integers in <strong>microcents</strong>, in fields that end in <code>_microcents</code>. They are exact.
  </p>
  ${table(
    "Amounts",
    [{ name: "Amount" }, { name: "Microcents" }],
    [
      ["$1.00", "1,000,000"],
      ["$0.01", "10,000"],
      ["$0.0005", "500"]
    ]
  )}
  <p>
    Fields that end in <code>_cents</code> (rounded toward zero) and strings such as <code>$12.34</code> are for display
    only. The provider receives the billed amount less the platform fee, which
    <code>GET /api/v1/market/pricing</code> returns.
  </p>`

const errors = (): Html =>
  html`<p>
      Errors are <code>application/problem+json</code> (RFC 9457). Branch on <code>code</code>, display
      <code>message</code>, and quote <code>request_id</code> in support requests. <code>type</code> links to the code's
      entry in the <a href="${ERRORS_PAGE}">list of errors</a>; <code>details</code> lists each invalid field with its
      path.
    </p>
    <p>
      Unknown body fields and query parameters are rejected with 422 and the nearest known name. Free-form objects such
      as <code>input</code> and <code>metadata</code> accept any field, and <code>utm_*</code> parameters are ignored.
    </p>
    <pre><code>${jsonView(exampleProblem(422, "VALIDATION_ERROR"))}</code></pre>`

const idempotency = html`<p>
    Every POST that moves money or creates something accepts an <code>Idempotency-Key</code> of 1 to
    ${IDEMPOTENCY_KEY_CHARS_MAX} characters. Keys are scoped to the account and kept for at least
    ${IDEMPOTENCY_DAYS_KEPT} days.
  </p>
  <ul>
    ${[
      "Same key, method, path and body: the stored response with `Idempotent-Replay: true`. The operation is not repeated or charged again.",
      "Same key, different request: 409 `IDEMPOTENCY_CONFLICT`.",
      "An unauthenticated registration is not replayed, because its response contains an API key: 409, and no account is created.",
      "While the first request is in progress, the second one waits for it or returns 409 with `Retry-After`.",
      "After a request that failed without effect, the key can be used again.",
      "CloudEvents at `POST /api/v1/market/meter` need no header: `source` and `id` are the key."
    ].map((rule) => html`<li>${prose(rule)}</li>`)}
  </ul>`

const rate = (rpm: number): string => (rpm === 0 ? "no limit" : rpm.toLocaleString("en-US"))

const limits = (documented: DocumentedLimits): Html =>
  html`${table(
      "Rate limits in requests per minute",
      [{ name: "Scope" }, { name: "Limit" }],
      [
        ["IP address", rate(documented.addressRpm)],
        ["Registrations per IP address", rate(documented.registrationRpm)],
        ["Consumer, default", rate(documented.consumerRpm)],
        ["Consumer, maximum", rate(documented.consumerRpmMax)],
        ["Provider", rate(documented.providerRpm)]
      ]
    )}
    <p>
      Limits are token buckets that refill continuously. Responses carry <code>X-RateLimit-Limit</code>,
      <code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> (seconds). Requests over the limit return
      429 with <code>Retry-After</code> and <code>retry_after_seconds</code>.
    </p>
    <ul>
      <li>
        Request bodies: JSON in UTF-8, at most ${BODY_BYTES_MAX / 1_048_576} MiB and ${JSON_DEPTH_MAX} levels deep.
      </li>
      <li>
        Responses carry <code>X-Request-Id</code>: yours if you sent one, of up to 64 characters.
        <code>traceparent</code> is supported.
      </li>
    </ul>`

const pages = html`<p>
  Lists accept <code>limit</code> (default ${PAGE_LIMIT_DEFAULT}, usually at most ${PAGE_LIMIT_MAX}) and return
  <code>next_cursor</code>. Send it as <code>cursor</code> to get the next page, until it is <code>null</code>. Cursors
  are stable while items are added. <code>offset</code> is supported too; <code>total</code> counts the whole filtered
  list.
</p>`

/** Qualified names, IDs, bare names and handles. */
const toolNames: Html = html`<p>
    A call names its tool in one of three ways. Use the qualified name in programs: it always names the same tool.
  </p>
  <ul>
    <li>
      <strong>Qualified name</strong>, <code>"tool_name": "demo/echo"</code>: the provider's handle, a slash, and the
      tool's name. The catalog returns it as <code>qualified_name</code>.
    </li>
    <li><strong>ID</strong>, <code>"tool_id"</code>: does not change if the provider's handle changes.</li>
    <li>
      <strong>Bare name</strong>, <code>"tool_name": "search"</code>: the only listed tool of that name, or 409
      <code>DUPLICATE</code> with the qualified names in <code>candidates</code> if several providers list one. Your
      account's first successful call pins the name to the tool; a pin never moves. If a pinned tool is withdrawn, the
      name returns 410 <code>TOOL_WITHDRAWN</code> until that tool is listed again. Quotes and failed calls pin nothing.
    </li>
  </ul>
  <p>
    All keys of an account share its pins, at most ${PINS_PER_CONSUMER_MAX.toLocaleString("en-US")}. A bare name with
    <code>provider_id</code> neither uses nor creates a pin. The same rules apply to quotes (<code>dry_run</code>) and
    to calls that you report to <code>POST /api/v1/market/meter</code>. Calls reported by a provider name its own tools.
  </p>
  <p>
    <strong>Handles.</strong> A provider chooses its <code>handle</code> at registration, or gets one derived from its
    name: ${HANDLE_CHARS_MIN} to ${HANDLE_CHARS_MAX} lowercase letters, digits and single dashes, with no dash at the
    start or end. Reserved words and handles that resemble a verified provider's (such as <code>0</code> for
    <code>o</code>) are rejected with 422; handles that another provider has or had, with 409. The operator can change a
    handle; the previous one still names the same provider unless the operator retires it. Tool names may contain
    slashes but cannot begin with another provider's handle and a slash.
  </p>`
