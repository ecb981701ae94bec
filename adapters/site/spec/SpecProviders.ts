/**
 * Specification of requests to providers and of metering without the proxy.
 */
import { REPORT_DAYS_MAX } from "../../../domain/metering/DirectMetering.ts"
import { GRANT_TOOLS_MAX, type GrantPeriod, GRANTS_PER_CONSUMER_MAX } from "../../../domain/metering/Grants.ts"
import { SIGNED_TEXT } from "../../http/trust/Trust.ts"
import { code, definitions, formatNumber, heading, list, paragraph, type SpecSection, table } from "./SpecMarkup.ts"

/** In the order in which they are sent. */
export const SIGNED_HEADERS = {
  "X-Market-Consumer": "UUID of the consumer; `-` for requests outside of calls.",
  "X-Market-Tool": "Name of the tool, or `-`.",
  "X-Market-Invocation": "Id of the call and its receipt, or `-`.",
  "X-Market-Timestamp": "Time of signing: ISO 8601, UTC, milliseconds.",
  "X-Market-Signature": "64 lowercase hex digits."
}

export interface UpstreamFacts {
  readonly timeoutMs: number
  readonly retriesMax: number
}

export const providersSection = ({ retriesMax, timeoutMs }: UpstreamFacts): SpecSection => ({
  id: "providers",
  title: "Requests to providers",
  body: [
    paragraph(
      "A call is one `tools/call` request to the provider's MCP server over streamable HTTP. The caller's key is not forwarded."
    ),
    table(
      "Request headers",
      ["Header", "Value"],
      Object.entries(SIGNED_HEADERS).map(([name, value]) => [`\`${name}\``, value])
    ),
    heading("Signature"),
    paragraph("The signature is HMAC-SHA256 in lowercase hex of this text, in which `\\n` is a newline:"),
    code(SIGNED_TEXT.replaceAll("\n", "\\n")),
    list(
      "The first four values are the headers of the same names, byte for byte. `<body>` is the SHA-256 of the request body in lowercase hex; GET and DELETE have an empty body.",
      "The key is the provider's signing secret in UTF-8, from `GET /api/v1/market/providers/signing-secret`. It changes when the operator replaces the service's signing secret.",
      "Header values that are not ASCII are sent as `=?base64?…?=` with the UTF-8 in base64.",
      "Reject timestamps older than a few minutes, and invocations that were already processed."
    ),
    heading("Tracing"),
    paragraph(
      "Sampled `tools/call` requests carry a W3C `traceparent` with flag `01`. It continues the trace of the consumer's request, if",
      "there is one, with this service as the parent. It is not signed."
    ),
    heading("Timeouts and retries"),
    list(
      `The timeout of an attempt is ${formatNumber(timeoutMs)} ms unless the tool sets another one.`,
      `At most ${retriesMax === 1 ? "one retry" : `${retriesMax} retries`} after a 5xx; after a timeout or a broken stream only if the tool is idempotent. A call is billed once, however many attempts it took.`,
      "Redirects are not followed. The endpoint's host is resolved and checked before each connection, which goes to the checked address.",
      "After repeated failures, calls to a provider are rejected for a while at no charge."
    )
  ]
})

const GRANT_PERIODS: Readonly<Record<GrantPeriod, string>> = {
  day: "The limit applies per day (UTC).",
  month: "The limit applies per calendar month (UTC).",
  total: "The limit applies to the whole grant."
}

export const meteringSection = (): SpecSection => ({
  id: "metering",
  title: "Metering without the proxy",
  body: [
    paragraph(
      "`POST /api/v1/market/meter` records a call that did not pass through the proxy, and returns its receipt."
    ),
    list(
      "A consumer's key reports the consumer's own calls. They are billed at the list price, free calls included; a reported cost is ignored, and no cost limit is needed.",
      "A provider's key reports calls of its own tools. It bills a consumer within a grant of that consumer; without one, 403. The cost is at most the tool's maximum; above that, 422. A call made before the last change of terms is billed at the better of the terms then and now.",
      "A provider's report without a consumer is a test call and costs 0.",
      "A status other than `success` costs 0.",
      `\`timestamp\` is within the last ${REPORT_DAYS_MAX} days and not in the future.`,
      "CloudEvents 1.0 envelopes with the same body as `data` are accepted."
    ),
    heading("Grants"),
    paragraph(
      `A consumer creates a grant for a provider at \`POST /api/v1/market/grants\`: for up to ${GRANT_TOOLS_MAX} tools or all tools,`,
      `up to a limit, until it expires or is revoked. A consumer has at most ${GRANTS_PER_CONSUMER_MAX} grants.`,
      "Balance and budgets apply as to any call. Revoking a grant does not affect calls that were already billed."
    ),
    definitions("Periods of a grant", "Period", GRANT_PERIODS)
  ]
})
