/**
 * Requests and responses of the pipeline, independent of the server.
 */
import { Context, Deferred, Duration, Effect, Layer, Schema } from "effect"
import ipaddr from "ipaddr.js"
import type { Principal } from "../../../domain/accounts/Authentication.ts"
import { SESSION_LIFE } from "../../../domain/operator/OperatorSessions.ts"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { lowestOf, type Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import { inSeconds } from "../../../domain/shared/Time.ts"
import type { AccessRule } from "../contract/Endpoint.ts"
import { BadRequest, type PayloadTooLarge } from "./Failures.ts"

export interface WebRequest {
  readonly method: string
  /** The path without the query, not decoded. */
  readonly path: string
  /** The query without the `?`; empty if there is none. */
  readonly query: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly remoteAddress: string
  /** Reads the body, at most `bytesMax` of it. Nothing is read earlier. */
  body(bytesMax: number): Effect.Effect<Uint8Array, PayloadTooLarge>
  /**
   * Sends an event before the response, if the server can. The first event starts a stream with these headers; the response
   * is then its last event: `result` or `problem`, unless `last` says otherwise.
   */
  readonly sendEvent?: (headers: Readonly<Record<string, string>>, event: ServerSentEvent, last?: LastEvent) => void
}

/** Without any fields it is a comment, which clients ignore: it keeps the connection open. */
export interface ServerSentEvent {
  readonly event?: string
  /** A client resumes the stream by this id. */
  readonly id?: string
  /** The time that a client waits before it resumes the stream. */
  readonly retryMs?: number
  /** JSON. */
  readonly data?: string
  /**
   * A required event is never dropped: a client that does not read it in time is disconnected. Others are dropped then.
   */
  readonly required?: boolean
}

/** The response as the last event of its stream; undefined ends the stream without another event. */
export type LastEvent = (answer: WebResponse) => ServerSentEvent | undefined

/** A whole response, before the server or your router sends it. */
export interface WebResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

export const header = (request: WebRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === "string" || value === undefined ? value : value.join(", ")
}

/** Empty if there is no token. */
export const bearer = (request: WebRequest): string => {
  const authorization = header(request, "authorization")
  return authorization !== undefined && /^bearer /iu.test(authorization) ? authorization.slice(7).trim() : ""
}

/** Returns why an `Authorization` header contains no key. */
export const bearerFault = (request: WebRequest): "no_scheme" | "other_scheme" | undefined => {
  const authorization = header(request, "authorization")?.trim() ?? ""
  if (authorization === "" || /^bearer(?: |$)/iu.test(authorization)) return undefined
  return authorization.includes(" ") ? "other_scheme" : "no_scheme"
}

/** Browsers accept HTML first. */
export const wantsPage = (request: WebRequest): boolean => /^\s*text\/html\b/iu.test(header(request, "accept") ?? "")

export const EVENT_STREAM = "text/event-stream"

export const JSON_TYPE = { "content-type": "application/json; charset=utf-8" }

export const json = (
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {}
): WebResponse => ({ status, headers: { ...JSON_TYPE, ...headers }, body })

export const idempotencyKey = (request: WebRequest): Effect.Effect<string | undefined, BadRequest> => {
  const key = header(request, "idempotency-key")
  return key === undefined || (key !== "" && key.length <= IDEMPOTENCY_KEY_CHARS_MAX)
    ? Effect.succeed(key)
    : Effect.fail(new BadRequest({ reason: `Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters.` }))
}

const CAP_HEADER = "X-Max-Cost-Microcents"

/**
 * The maximum cost that the caller accepts for this call: the lower of the header, which is for clients that cannot change
 * the body, and `named`, which the body has.
 */
export const callCap = (
  request: WebRequest,
  named: Microcents | undefined
): Effect.Effect<Microcents | undefined, BadRequest> => {
  const text = header(request, "x-max-cost-microcents")
  const cap = text !== undefined && /^\d{1,16}$/u.test(text) ? BigInt(text) : undefined
  return text === undefined || (cap !== undefined && cap <= MICROCENTS_MAX)
    ? Effect.succeed(lowestOf(named, cap as Microcents | undefined))
    : Effect.fail(new BadRequest({ reason: `${CAP_HEADER} must be an integer between 0 and ${MICROCENTS_MAX}.` }))
}

// The client's address: the peer's, or, behind trusted proxies, the last address in `X-Forwarded-For` that is not one of
// them.

export type TrustedProxies = ReadonlyArray<readonly [ipaddr.IPv4 | ipaddr.IPv6, number]>

/** Addresses and CIDR ranges. Throws an error that names the malformed one. */
export const parseTrustedProxies = (ranges: ReadonlyArray<string>): TrustedProxies =>
  ranges.map((range) => {
    try {
      if (range.includes("/")) return ipaddr.parseCIDR(range)
      const address = ipaddr.process(range)
      return [address, address.kind() === "ipv4" ? 32 : 128] as const
    } catch {
      throw new Error(`"${range}" is neither an IP address nor a CIDR range`)
    }
  })

export const clientAddress = (request: WebRequest, trusted: TrustedProxies): string => {
  if (trusted.length === 0) return request.remoteAddress
  const forwarded = (header(request, "x-forwarded-for") ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
  let address = request.remoteAddress
  while (forwarded.length > 0 && isTrusted(address, trusted)) {
    const next = forwarded.pop()!
    if (!ipaddr.isValid(next)) break
    address = ipaddr.process(next).toString()
  }
  return address
}

/** Limits by address do not apply to a client whose address the server does not tell. */
export const UNKNOWN_ADDRESS = "unknown"

/** An IPv4 peer of a dual-stack socket without its IPv6 prefix. */
export const plainAddress = (address: string | undefined): string =>
  address === undefined ? UNKNOWN_ADDRESS : address.startsWith("::ffff:") ? address.slice(7) : address

/** An IPv4 address, or the 64 bits of an IPv6 network, whose holder may use any address in it. */
export const networkOf = (address: string): string =>
  address.includes(":") && ipaddr.IPv6.isValid(address)
    ? `${ipaddr.IPv6.parse(address)
        .parts.slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
    : address

export const isTrusted = (address: string, trusted: TrustedProxies): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return trusted.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))
}

// Headers of every response: request id, trace, CORS, cache and security rules.

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

// The cookie of an operator's session, and who may use it: only pages of this service. A cookie is sent along by the
// browser, so alone it proves nothing about the page that sent the request.

const TOKEN = /^[0-9a-f]{64}$/u

/** Browsers let no other site and no plain HTTP set a cookie with this prefix. */
const nameFor = (isSecure: boolean): string => (isSecure ? "__Host-operator-session" : "operator-session")

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:")

const attributes = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Strict${isSecure(baseUrl) ? "; Secure" : ""}`

export const sessionCookie = (baseUrl: string, token: string): string =>
  `${nameFor(isSecure(baseUrl))}=${token}; Max-Age=${Duration.toSeconds(SESSION_LIFE)}; ${attributes(baseUrl)}`

export const endedCookie = (baseUrl: string): string =>
  `${nameFor(isSecure(baseUrl))}=; Max-Age=0; ${attributes(baseUrl)}`

/** Undefined without a cookie that has the form of ours. */
export const sessionToken = (request: WebRequest, baseUrl: string): string | undefined => {
  const prefix = `${nameFor(isSecure(baseUrl))}=`
  const cookies = (header(request, "cookie") ?? "").split(";").map((cookie) => cookie.trim())
  const token = cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length)
  return token !== undefined && TOKEN.test(token) ? token : undefined
}

/**
 * Tells whether a page of this service sent the request: no page can set these headers. A browser sends `Origin` with
 * every request that may change something; an old browser may read without either header, and `SameSite` covers it.
 */
export const isFromOwnPage = (request: WebRequest, baseUrl: string): boolean => {
  const site = header(request, "sec-fetch-site")
  if (site !== undefined && site !== "same-origin") return false
  const origin = header(request, "origin")
  if (origin === undefined) return request.method === "GET" || request.method === "HEAD"
  return origin === new URL(baseUrl).origin || isOwnHost(origin, header(request, "host"), isSecure(baseUrl))
}

/** Behind HTTPS, a page that came in plain text is not ours: anyone on its way may have written it. */
const isOwnHost = (origin: string, host: string | undefined, onlySecure: boolean): boolean => {
  const page = URL.parse(origin)
  return host !== undefined && page?.host === host.toLowerCase() && (!onlySecure || page.protocol === "https:")
}

// Events before a response, for a client that accepts a stream on a server that can send one.

/** Progress events per request. Later ones are dropped. */
const EVENTS_MAX = 1_000

/** Sends events; `last` writes the response as the last one. */
export type EventStarter = (last?: LastEvent) => (event: ServerSentEvent) => void

/** The stream has the headers that the response would have at the time of its first event. */
export const eventStarter = (
  request: WebRequest,
  requestId: string,
  headers: () => Readonly<Record<string, string>>
): EventStarter | undefined => {
  const { sendEvent } = request
  if (sendEvent === undefined || !takesEvents(request)) return undefined
  return (last) => {
    let sentHeaders: Readonly<Record<string, string>> | undefined
    return (event) => {
      const begins = { "cache-control": "no-store", "content-type": EVENT_STREAM }
      sentHeaders ??= addHeaders({ status: 200, body: "", headers: begins }, requestId, headers()).headers
      sendEvent(sentHeaders, event, last)
    }
  }
}

export const progressSender = (start: EventStarter | undefined): ((event: ServerSentEvent) => void) | undefined => {
  if (start === undefined) return undefined
  const send = start()
  let sent = 0
  return (event) => {
    if (++sent <= EVENTS_MAX) send(event)
  }
}

export const takesEvents = (request: WebRequest): boolean => {
  const accept = header(request, "accept")
  return accept === MCP_ACCEPT || (accept !== undefined && accept.split(",").some(isEvents))
}

/** The text that the SDKs of MCP write. */
const MCP_ACCEPT = "application/json, text/event-stream"

/** A weight of zero means not accepted (RFC 9110, 12.4.2). */
const isEvents = (taken: string): boolean =>
  /^\s*text\/event-stream\s*(?:;|$)/iu.test(taken) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/iu.test(taken)

// Responses that stay open until the client or the service ends them. Counted per account, and ended when the service stops.

/** A node that is about to stop. It still answers, but a load balancer sends new requests elsewhere. */
export class Draining extends Context.Service<
  Draining,
  {
    readonly begin: Effect.Effect<void>
    readonly isBegun: Effect.Effect<boolean>
  }
>()("agent-tool-billing/adapters/http/Draining") {
  static readonly layer = Layer.sync(Draining, () => {
    let isBegun = false
    return Draining.of({
      begin: Effect.sync(() => void (isBegun = true)),
      isBegun: Effect.sync(() => isBegun)
    })
  })
}

/** The limit per account and node. */
export const STREAMS_PER_ACCOUNT_MAX = 32
const RETRY_AFTER_SECONDS = 10
/** The last event of a stream that ends with the service: another node takes the client then, or this one after its restart. */
export const RECONNECT_AFTER_MS = 1_000

export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", {
  max: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `Too many open streams: this account has ${this.max}, the maximum. Close one, or retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

export class OpenStreams extends Context.Service<
  OpenStreams,
  {
    /** Runs the stream of an account until it ends, or until the service stops: then `atStop` ends it. */
    keep<A, E>(
      owner: string,
      stream: Effect.Effect<A, E>,
      atStop: Effect.Effect<A>
    ): Effect.Effect<A, E | TooManyStreams>
    /** Streams that are opened later end at once. */
    readonly endAll: Effect.Effect<void>
  }
>()("agent-tool-billing/adapters/http/OpenStreams") {
  static readonly layer = Layer.effect(
    OpenStreams,
    Effect.gen(function* () {
      const stopped = yield* Deferred.make<void>()
      const counts = new Map<string, number>()
      const endAll = Effect.asVoid(Deferred.succeed(stopped, undefined))
      yield* Effect.addFinalizer(() => endAll)

      const release = (owner: string): void => {
        const left = (counts.get(owner) ?? 1) - 1
        if (left === 0) counts.delete(owner)
        else counts.set(owner, left)
      }

      return OpenStreams.of({
        keep: <A, E>(owner: string, stream: Effect.Effect<A, E>, atStop: Effect.Effect<A>) =>
          Effect.suspend((): Effect.Effect<A, E | TooManyStreams> => {
            const count = counts.get(owner) ?? 0
            if (count >= STREAMS_PER_ACCOUNT_MAX) {
              return Effect.fail(
                new TooManyStreams({ max: STREAMS_PER_ACCOUNT_MAX, retryAfterSeconds: RETRY_AFTER_SECONDS })
              )
            }
            counts.set(owner, count + 1)
            return Effect.raceFirst(stream, Effect.andThen(Deferred.await(stopped), atStop)).pipe(
              Effect.ensuring(Effect.sync(() => release(owner)))
            )
          }),
        endAll
      })
    })
  )
}
