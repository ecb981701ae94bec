/**
 * Outgoing requests to addresses from users: a name is resolved once per connection, each of its addresses is checked against
 * the policy, and one of exactly these addresses is dialed. There is no second look-up, so DNS rebinding does not work.
 */
import { Effect, Schema, type Scope } from "effect"
import { lookup as systemLookup } from "node:dns"
import { isIP, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Agent, buildConnector } from "undici"
import { EndpointBlocked, type EndpointGuard } from "../../../domain/accounts/EndpointGuard.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { type EgressPolicy, mayDial } from "./AddressGuard.ts"

// A provider's MCP server within this process. A connection to it is a new pair of streams: it has no address, so no policy
// needs an exception for it, and an endpoint of any other provider never reaches it.

export interface BuiltInServer {
  /** Only endpoints of this provider are connected to the server, whatever their URLs are. */
  readonly providerId: ProviderId
  /** Opens a connection. */
  readonly open: () => Duplex
}

export const builtInConnector =
  ({ open }: BuiltInServer): buildConnector.connector =>
  (_target, callback) =>
    // undici uses a socket only as a stream, except for methods that it looks for first.
    queueMicrotask(() => callback(null, open() as Socket))

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export type Resolve = (
  hostname: string,
  callback: (error: Error | null, addresses: ReadonlyArray<ResolvedAddress>) => void
) => void

/** The message omits the address: what a private name resolves to is confidential. */
export class AddressRejected extends Schema.TaggedError<AddressRejected>()("AddressRejected", {
  hostname: Schema.String
}) {
  override get message() {
    return `${this.hostname} resolves to an address that the service may not call`
  }
}

/** The DNS has no address for the name. */
export class NameUnresolved extends Schema.TaggedError<NameUnresolved>()("NameUnresolved", {
  hostname: Schema.String
}) {
  override get message() {
    return `${this.hostname} has no address`
  }
}

export interface GuardOptions {
  readonly policy: EgressPolicy
  readonly resolve?: Resolve | undefined
  readonly connectTimeoutMs: number
}

export const guardedConnector = (options: GuardOptions): buildConnector.connector => {
  const resolve = guardedResolve(options.policy, options.resolve)
  const connect = buildConnector({
    allowH2: false,
    timeout: options.connectTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 400,
    lookup: (hostname, lookupOptions, callback) =>
      resolve(hostname, (error, addresses) => {
        const first = addresses[0]
        if (error !== null) callback(error, [])
        else if (lookupOptions.all === true)
          callback(
            null,
            addresses.map((found) => ({ ...found }))
          )
        else callback(null, first?.address ?? "", first?.family)
      })
  })
  return (target, callback) => {
    // A literal address never reaches the look-up.
    if (isIP(target.hostname) !== 0 && !mayDial(options.policy, target.hostname, target.hostname)) {
      return callback(new AddressRejected({ hostname: target.hostname }), null)
    }
    return connect(target, (error, socket) => {
      if (error !== null) return callback(error, null)
      if (!isDialled(options.policy, target.hostname, socket)) {
        socket.destroy()
        return callback(new AddressRejected({ hostname: target.hostname }), null)
      }
      return callback(null, socket)
    })
  }
}

/** The same check without a connection, for an address that is registered now and called later. */
export const checkUrl = (options: GuardOptions) => {
  const resolve = guardedResolve(options.policy, options.resolve)
  return (url: string): Effect.Effect<void, AddressRejected | NameUnresolved> =>
    Effect.callback<void, AddressRejected | NameUnresolved>((resume) => {
      const hostname = URL.parse(url)?.hostname.replace(/^\[|\]$/gu, "") ?? ""
      if (isIP(hostname) !== 0) {
        const allowed = mayDial(options.policy, hostname, hostname)
        return resume(allowed ? Effect.void : Effect.fail(new AddressRejected({ hostname })))
      }
      resolve(hostname, (error) => resume(error === null ? Effect.void : Effect.fail(error)))
    }).pipe(
      Effect.timeoutOrElse({
        duration: options.connectTimeoutMs,
        orElse: () => Effect.fail(new NameUnresolved({ hostname: URL.parse(url)?.hostname ?? url }))
      })
    )
}

type Resolved = (error: AddressRejected | NameUnresolved | null, addresses: ReadonlyArray<ResolvedAddress>) => void

/** Concurrent look-ups of one name are shared. */
const guardedResolve = (policy: EgressPolicy, resolve: Resolve = systemResolve) => {
  const waiting = new Map<string, Array<Resolved>>()
  return (hostname: string, callback: Resolved): void => {
    const others = waiting.get(hostname)
    if (others !== undefined) {
      others.push(callback)
      return
    }
    const callbacks = [callback]
    waiting.set(hostname, callbacks)
    resolve(hostname, (error, addresses) => {
      waiting.delete(hostname)
      const rejection =
        error !== null || addresses.length === 0
          ? new NameUnresolved({ hostname })
          : addresses.every(({ address }) => mayDial(policy, hostname, address))
            ? null
            : new AddressRejected({ hostname })
      for (const done of callbacks) done(rejection, rejection === null ? addresses : [])
    })
  }
}

const systemResolve: Resolve = (hostname, callback) =>
  systemLookup(hostname, { all: true, order: "verbatim" }, (error, addresses) => callback(error, addresses ?? []))

const isDialled = (policy: EgressPolicy, hostname: string, socket: Socket): boolean =>
  socket.remoteAddress === undefined || mayDial(policy, hostname, socket.remoteAddress)

// Checks an endpoint at its registration with the address guard. Look-ups use threads of the whole process, and anyone
// may register a name with a slow server: few run at once, and further ones are skipped.

const LOOKUPS_MAX = 2

export const registeredEndpoints = ({ resolve = systemResolve, ...guard }: GuardOptions): EndpointGuard => {
  let lookups = 0
  /** A look-up counts until it ends, even if its caller has given up. */
  const bounded: Resolve = (hostname, callback) => {
    if (lookups >= LOOKUPS_MAX) return callback(new Error("Too many lookups"), [])
    lookups++
    resolve(hostname, (error, addresses) => {
      lookups--
      callback(error, addresses)
    })
  }
  const check = checkUrl({ ...guard, resolve: bounded })
  return {
    check: (url) =>
      check(url).pipe(
        Effect.catchTags({
          AddressRejected: ({ hostname }) => Effect.fail(new EndpointBlocked({ hostname })),
          NameUnresolved: () => Effect.void
        })
      )
  }
}

// Any other request to an address from a user (a well-known file, a repository, a webhook): through the same guard,
// with a deadline and a size limit, following redirects on the same host only.

export interface GuardedRequest {
  readonly url: string
  readonly method?: "GET" | "POST"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The limit includes redirects. */
  readonly timeoutMs: number
  readonly bodyBytesMax: number
  readonly redirectsMax?: number
}

export interface GuardedResponse {
  /** The URL of the response, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly body: Buffer
}

/** The URL could not be read, and why. */
export class FetchFailed extends Schema.TaggedError<FetchFailed>()("FetchFailed", {
  hostname: Schema.String,
  reason: Schema.Literals(["not_a_url", "connection", "timeout", "too_large", "redirected_away"])
}) {
  override get message() {
    return `${this.hostname} could not be read: ${sentences[this.reason]}`
  }
}

export type GuardedFetch = (
  request: GuardedRequest
) => Effect.Effect<GuardedResponse, AddressRejected | NameUnresolved | FetchFailed>

export const makeGuardedFetch = (guard: GuardOptions): Effect.Effect<GuardedFetch, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Agent({
            connect: guardedConnector(guard),
            connections: 4,
            allowH2: false,
            maxHeaderSize: HEADER_BYTES_MAX
          })
      ),
      (agent) => Effect.promise(() => agent.destroy())
    ),
    (agent) => (request) =>
      follow(agent, request, request.url, request.redirectsMax ?? 0).pipe(
        Effect.timeoutOrElse({
          duration: request.timeoutMs,
          orElse: () => Effect.fail(failed(request.url, "timeout"))
        })
      )
  )

const HEADER_BYTES_MAX = 16 * 1024

const sentences = {
  not_a_url: "it is not an http or https address",
  connection: "the connection failed",
  timeout: "it did not respond in time",
  too_large: "its response is too large",
  redirected_away: "it redirects elsewhere"
} as const

const failed = (url: string, reason: FetchFailed["reason"]) =>
  new FetchFailed({ hostname: URL.parse(url)?.hostname ?? url.slice(0, 100), reason })

const follow: (agent: Agent, request: GuardedRequest, url: string, redirectsLeft: number) => ReturnType<GuardedFetch> =
  Effect.fnUntraced(function* (agent, request, url, redirectsLeft) {
    const parsed = URL.parse(url)
    if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
      return yield* failed(url, "not_a_url")
    }
    const response = yield* Effect.tryPromise({
      try: (signal) => send(agent, request, parsed, signal),
      catch: (error) =>
        error instanceof AddressRejected || error instanceof NameUnresolved || error instanceof FetchFailed
          ? error
          : failed(url, "connection")
    })
    const location = response.headers["location"]
    if (response.status < 300 || response.status >= 400 || typeof location !== "string") return response
    const target = URL.parse(location, url)
    if (redirectsLeft === 0 || target === null || target.host !== parsed.host || request.method === "POST") {
      return yield* failed(url, "redirected_away")
    }
    return yield* follow(agent, request, target.href, redirectsLeft - 1)
  })

const send = async (
  agent: Agent,
  { body, bodyBytesMax, headers, method = "GET", timeoutMs }: GuardedRequest,
  url: URL,
  signal: AbortSignal
): Promise<GuardedResponse> => {
  const response = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { ...headers, "accept-encoding": "identity" },
    body: body ?? null,
    signal,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs
  })
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of response.body) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > bodyBytesMax) throw failed(url.href, "too_large")
  }
  return { url: url.href, status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}
