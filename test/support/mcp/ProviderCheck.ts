/**
 * The check that a provider performs: whether the headers and the body of a request are signed with its secret.
 */
import { Redacted } from "effect"
import { createHash, createHmac } from "node:crypto"

export const isSignedByMarket = (
  secret: Redacted.Redacted,
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  body: string
): boolean => {
  const signed = ["timestamp", "consumer", "tool", "invocation"].map((name) =>
    String(headers[`x-market-${name}`] ?? "")
  )
  const text = ["market-v1", ...signed, createHash("sha256").update(body).digest("hex")].join("\n")
  const expected = createHmac("sha256", Redacted.value(secret)).update(text).digest("hex")
  return headers["x-market-signature"] === expected
}
