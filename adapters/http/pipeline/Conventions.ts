/**
 * Headers of every response: request id, trace, CORS, cache and security rules.
 */
import type { Principal } from "../../../domain/accounts/Principal.ts"
import type { AccessRule } from "../contract/Access.ts"
import type { WebResponse } from "./WebRequest.ts"

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/u
/** Neither the trace nor its parent may be all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/u

/** The caller's own id, if it is well formed. */
export const acceptableRequestId = (given: string | undefined): string | undefined =>
  given !== undefined && REQUEST_ID.test(given) ? given : undefined

export const acceptableTraceparent = (given: string | undefined): string | undefined =>
  given !== undefined && TRACEPARENT.test(given) ? given : undefined

const EXPOSED =
  "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, " +
  "Idempotent-Replay, Link, X-Market-Cost, X-Market-Provider, X-Market-Latency, X-Market-Tool, X-Market-Receipt, " +
  "X-Market-Retried, Mcp-Session-Id"

const SECURITY = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "access-control-allow-origin": "*",
  // A request with an origin gets more headers (`crossOrigin`): a cache must keep the two apart.
  vary: "Origin"
}

/** Only a browser sends an origin and needs these. */
export const crossOrigin = (origin: string | undefined): Readonly<Record<string, string>> =>
  origin === undefined ? NONE : { "access-control-expose-headers": EXPOSED }

const NONE: Readonly<Record<string, string>> = {}

/** Public reads may be cached for a minute, private ones only with revalidation; the operator's, writes and problems not. */
export const cacheControl = (method: string, rule: AccessRule, caller: Principal | undefined): string => {
  if (method !== "GET" && method !== "HEAD") return "no-store"
  if (isOperators(rule) || caller?.role === "operator") return "no-store"
  if (rule.roles.length > 0) return "private, no-cache"
  return rule.cacheable ? "public, max-age=60" : "no-store"
}

const isOperators = ({ roles }: AccessRule): boolean => roles.length === 1 && roles[0] === "operator"

/** The request headers that the responses of one URL depend on. */
export const varyOf = (rule: AccessRule): string => {
  if (rule.roles.includes("operator")) return "Authorization, X-API-Key, Cookie, Origin"
  return rule.roles.length > 0 || rule.keyOptional ? "Authorization, X-API-Key, Origin" : "Origin"
}

export const addHeaders = (
  answer: WebResponse,
  requestId: string,
  extra: Readonly<Record<string, string>>
): WebResponse => ({
  status: answer.status,
  body: answer.body,
  headers: { ...SECURITY, "x-request-id": requestId, ...extra, ...answer.headers }
})

export const preflight = (allow: ReadonlyArray<string>): WebResponse => ({
  status: 204,
  headers: {
    "access-control-allow-methods": allow.join(", "),
    "access-control-allow-headers":
      "Authorization, Content-Type, Idempotency-Key, X-Max-Cost-Microcents, X-Request-Id, traceparent, X-API-Key, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID",
    "access-control-max-age": "86400",
    allow: allow.join(", "),
    "cache-control": "no-store"
  },
  body: ""
})
