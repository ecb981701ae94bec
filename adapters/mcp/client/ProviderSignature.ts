/**
 * The headers by which a provider knows that a request came through this market, and for whom.
 *
 *     X-Market-Consumer, X-Market-Tool, X-Market-Invocation   whose call it is; `-` where a request belongs to no call
 *     X-Market-Timestamp                                      when it was signed, ISO 8601
 *     X-Market-Signature                                      64 lowercase hex digits:
 *         HMAC-SHA256(secret, "market-v1\n" timestamp "\n" consumer "\n" tool "\n" invocation "\n" SHA256-hex(body))
 *
 * The four values are signed exactly as the headers carry them; the secret is the text that the provider was shown,
 * as UTF-8; the body is the bytes of the request, empty for a GET or DELETE. A provider should refuse a timestamp
 * older than a few minutes and an invocation that it has served already.
 */
import { DateTime, Redacted } from "effect"
import { hash, hkdfSync } from "node:crypto"
import type { ProviderId } from "../../../domain/shared/Ids.ts"

/** The origin of a request. Ids are ASCII by their schemas; tool names may contain any character. */
export interface SignedFor {
  readonly consumerId: string
  readonly toolName: string
  readonly invocationId: string
}

/** Belongs to a consumer, but to no call. */
export const ofConsumer = (consumerId: string): SignedFor => ({ ...WITHOUT_SUBJECT, consumerId })

export const WITHOUT_SUBJECT: SignedFor = { consumerId: "-", toolName: "-", invocationId: "-" }

/** One secret per provider, derived from a configured one: none reveals another. */
export const derivedSecrets = (master: Redacted.Redacted<string>) => (providerId: ProviderId) => {
  const bytes = hkdfSync("sha256", Redacted.value(master), "agent-tool-billing", `provider-signature|${providerId}`, 32)
  return Redacted.make(Buffer.from(bytes).toString("hex"))
}

/** The HMAC-SHA256 of a text under the secret of a provider, in hex. */
export type Signer = (text: string) => string

/** Appends the five headers as name, value, name, value. */
export const appendSignedHeaders = (
  headers: Array<string>,
  sign: Signer,
  subject: SignedFor,
  body: string,
  nowMs: number
): void => {
  const timestamp = isoOf(nowMs)
  const tool = headerText(subject.toolName)
  const { consumerId, invocationId } = subject
  headers.push(
    "x-market-consumer",
    consumerId,
    "x-market-tool",
    tool,
    "x-market-invocation",
    invocationId,
    "x-market-timestamp",
    timestamp,
    "x-market-signature",
    sign(`market-v1\n${timestamp}\n${consumerId}\n${tool}\n${invocationId}\n${hash("sha256", body, "hex")}`)
  )
}

/** ISO 8601 in milliseconds; calls of one second share all but the last digits. */
let secondMs = Number.NaN
let secondIso = ""
const isoOf = (nowMs: number): string => {
  const millis = nowMs % 1_000
  if (nowMs - millis !== secondMs) {
    secondMs = nowMs - millis
    secondIso = DateTime.formatIso(DateTime.makeUnsafe(secondMs)).slice(0, -"000Z".length)
  }
  return `${secondIso}${millis < 10 ? "00" : millis < 100 ? "0" : ""}${millis}Z`
}

/**
 * Any text as a header value. Text that plain ASCII cannot represent is encoded as `=?base64?…?=`, the form of MCP's
 * `Mcp-Name` and `Mcp-Param-*`; the `X-Market-*` headers use it as well.
 */
export const headerText = (text: string): string =>
  plain.test(text) && !(text.startsWith(prefix) && text.endsWith(suffix))
    ? text
    : `${prefix}${Buffer.from(text, "utf8").toString("base64")}${suffix}`

const prefix = "=?base64?"
const suffix = "?="

/** Visible ASCII with inner spaces, or empty. */
const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/u
