/**
 * The specification of what reaches a provider's server, how it knows that it is this market's, and how calls that went
 * past the proxy are metered.
 */
import type { GrantPeriod } from "../../../domain/metering/Grant.ts"
import { REPORT_DAYS_MAX } from "../../../domain/metering/DirectMetering.ts"
import { GRANTS_PER_CONSUMER_MAX, GRANT_TOOLS_MAX } from "../../../domain/metering/Grants.ts"
import { SIGNED_TEXT } from "../../http/handlers/TrustHandlers.ts"
import { heading, listing, points, said, type SpecPart, text } from "./SpecParts.ts"

/** In the order in which they are sent. */
export const SIGNED_HEADERS = {
  "X-Market-Consumer": "UUID of the consumer; `-` where a request belongs to no call.",
  "X-Market-Tool": "The tool's name; `-` likewise.",
  "X-Market-Invocation": "The call's id, which is its receipt's; `-` likewise.",
  "X-Market-Timestamp": "When the request was signed: ISO 8601, UTC, milliseconds.",
  "X-Market-Signature": "64 lowercase hex digits."
}

export interface UpstreamFacts {
  readonly timeoutMs: number
  readonly retriesMax: number
}

export const providersPart = ({ retriesMax, timeoutMs }: UpstreamFacts): SpecPart => ({
  id: "providers",
  title: "Requests to providers",
  body: [
    said(
      "A call is one `tools/call` to the provider's MCP server over streamable HTTP. The caller's key never travels there."
    ),
    listing(
      "Headers of every request",
      ["Header", "Value"],
      Object.entries(SIGNED_HEADERS).map(([name, value]) => [`\`${name}\``, value])
    ),
    heading("Checking the signature"),
    said("The signature is HMAC-SHA256, in lowercase hex, of this text; `\\n` is a newline:"),
    text(SIGNED_TEXT.replaceAll("\n", "\\n")),
    points(
      "The first four values are those of the headers of the same names, exactly as they stand there; `<body>` is the SHA-256 of the request's body in lowercase hex, of no bytes for a GET or DELETE.",
      "The key is the text that `GET /api/v1/market/providers/signing-secret` shows to the provider's key, as UTF-8. Every provider has one of its own. It changes when the operator replaces the service's signing secret.",
      "Text that plain ASCII cannot carry travels as `=?base64?…?=`, with the UTF-8 in base64.",
      "Refuse a timestamp older than a few minutes, and an invocation that you have served already."
    ),
    heading("Traces"),
    said(
      "The `tools/call` of a call that this service traces (a few in a hundred, where its operator has a collector) carries a W3C",
      "`traceparent` with flag `01`: go on with it, and your spans stand below ours. Where the consumer's request brought one, the",
      "trace is the consumer's and the parent is ours; nothing else of it travels. It is not signed, and no call needs it."
    ),
    heading("Time and repetition"),
    points(
      `An attempt has ${timeoutMs.toLocaleString("en-US")} ms where the tool says nothing else.`,
      `At most ${retriesMax === 1 ? "one retry" : `${retriesMax} retries`}, after a 5xx; after a time-out or a broken stream only where the tool is declared idempotent. A call is billed once, however many attempts it took.`,
      "Redirects are not followed. The endpoint's name is resolved and checked before every connection, and the connection is made to the address that was checked.",
      "A provider that fails again and again is left alone for a while; calls to it are answered at once and cost nothing."
    )
  ]
})

const PERIODS: Readonly<Record<GrantPeriod, string>> = {
  day: "The cap holds for a day of UTC.",
  month: "The cap holds for a calendar month of UTC.",
  total: "The cap holds for all time."
}

export const meteringPart = (): SpecPart => ({
  id: "metering",
  title: "Metering without the proxy",
  body: [
    said(
      "`POST /api/v1/market/meter` records a call that did not pass through the proxy, and answers with its receipt."
    ),
    points(
      "A consumer's key meters its own calls only, and is billed as the proxy would bill it, free calls included. Billed is the list price: what it says of the cost does not count, and no cap is needed.",
      "A provider's key meters its own tools only. It bills a consumer within a grant of that consumer; without one: 403. The cost it names is at most the tool's maximum; 422 above that. A call from before the last change of terms is billed at the better of then and now.",
      "A provider that names no consumer reports a test call of its own. It costs 0.",
      "A status other than `success` costs 0.",
      `\`timestamp\` lies within the last ${REPORT_DAYS_MAX} days and not in the future.`,
      "A CloudEvents 1.0 envelope with the same body as `data` is taken too."
    ),
    heading("Grants"),
    said(
      `A consumer gives a grant to a provider at \`POST /api/v1/market/grants\`: for up to ${GRANT_TOOLS_MAX} tools or all of them, up to a cap,`,
      `until it ends or is taken back. At most ${GRANTS_PER_CONSUMER_MAX} a consumer.`
    ),
    listing(
      "Periods of a grant",
      ["Period", "Meaning"],
      Object.entries(PERIODS).map(([name, meaning]) => [`\`${name}\``, meaning])
    ),
    said(
      "Under a grant the consumer's balance and budgets count as for any call. What was billed before a grant was taken back stays billed."
    )
  ]
})

export const periodNames = Object.keys(PERIODS)
