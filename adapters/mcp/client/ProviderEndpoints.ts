/**
 * The endpoints that this node has called recently, bounded: each with its sockets, its sessions and the handshake that opens them.
 */
import { Deferred, Effect, type Scope } from "effect"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"
import {
  HEADER_MISMATCH,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  UNSUPPORTED_VERSION
} from "../../../domain/upstream/Protocol.ts"
import type { Link } from "./Dialect.ts"
import { fault, type Reply } from "./HttpExchange.ts"
import { discover, modernDialect, modernLink, readTools } from "./ModernDialect.ts"
import { type EndpointShared, ProviderEndpoint } from "./ProviderEndpoint.ts"

// Determines the protocol version of an endpoint. A server that does not answer `server/discover` is offered a session. Both are
// harmless: no tool runs before the version is known.

export const isLink = (outcome: Link | Reply): outcome is Link => "dialect" in outcome

/** A link, or the reply that prevented it. */
export const establish = Effect.fnUntraced(function* (endpoint: ProviderEndpoint): Effect.fn.Return<Link | Reply> {
  const { nowMs, sessionDialect } = endpoint
  const untilMs = nowMs() + endpoint.options.setupTimeoutMs
  const leftMs = () => endpoint.leftMs(untilMs)
  const opened = sessionDialect.open(endpoint, "{}", leftMs, (link, reply) => recordGreeting(endpoint, link, reply))
  if (endpoint.dialect === sessionDialect) {
    const outcome = yield* opened
    if (isLink(outcome) || (outcome.kind !== "rpc_error" && outcome.kind !== "status")) return outcome
    endpoint.dialect = undefined
  }
  const verdict = yield* detect(endpoint, leftMs)
  if (verdict === "sessions") {
    const outcome = yield* opened
    if (isLink(outcome)) endpoint.dialect = sessionDialect
    return outcome
  }
  if (verdict === "modern") {
    endpoint.dialect = modernDialect
    yield* readTools(endpoint, leftMs)
    return modernLink
  }
  return verdict
})

/** Keeps what the server said of itself. */
export const recordGreeting = (endpoint: ProviderEndpoint, { dialect, version }: Link, reply: Reply): void => {
  if (reply.kind !== "result") return
  const whole = reply.text ?? JSON.stringify(reply.result)
  const text = whole.length > endpoint.options.profileBytesMax ? undefined : whole
  endpoint.greeting = { dialect, version, text, atMs: endpoint.nowMs() }
}

type Verdict = "modern" | "sessions" | Reply

const detect = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  leftMs: () => number
): Effect.fn.Return<Verdict> {
  const probe = Effect.suspend(() => discover(endpoint, Math.min(endpoint.options.probeTimeoutMs, leftMs())))
  let reply = yield* probe
  if (verdictOf(endpoint, reply) === "again") reply = yield* probe
  const verdict = verdictOf(endpoint, reply)
  if (verdict === "modern") recordGreeting(endpoint, modernLink, reply)
  return verdict === "again" ? incompatible : verdict
})

const verdictOf = ({ sessionDialect }: ProviderEndpoint, reply: Reply): Verdict | "again" => {
  switch (reply.kind) {
    case "result": {
      const supported = reply.result["supportedVersions"]
      if (!Array.isArray(supported)) return "sessions"
      if (supported.includes(MODERN_VERSION)) return "modern"
      return sessionDialect.speaks(supported) ? "sessions" : incompatible
    }
    case "rpc_error": {
      const { code, data } = reply.error
      if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return "modern"
      if (code !== UNSUPPORTED_VERSION) return "sessions"
      const supported = isObject(data) && Array.isArray(data["supported"]) ? data["supported"] : []
      if (supported.includes(MODERN_VERSION)) return "again"
      return sessionDialect.speaks(supported) ? "sessions" : incompatible
    }
    case "status":
      return reply.status === 429 || reply.status < 400 ? reply : "sessions"
    case "blocked":
    case "connection":
    case "overloaded":
    case "no_room":
      return reply
    default:
      return "sessions"
  }
}

export const incompatible = fault("malformed", "The provider supports no MCP version that this service supports")

/**
 * The links to one endpoint. One is shared by all calls, as MCP intends. A server that rejects concurrent requests in a
 * session (409) gets a bounded number of sessions, each used by one call at a time.
 */
export class Sessions {
  /** The shared link; undefined before the handshake, after a loss, and for exclusive sessions. */
  shared: Link | undefined = undefined
  exclusive = false

  private readonly endpoint: ProviderEndpoint
  private readonly scope: Scope.Scope
  private pending: Deferred.Deferred<Link | Reply> | undefined = undefined
  private retired: Link | undefined = undefined
  private readonly idle = new Set<Link>()
  private readonly leased = new Set<Link>()
  private readonly own = new WeakSet<Link>()
  private readonly waiting = new Set<() => void>()
  private opening = 0

  constructor(endpoint: ProviderEndpoint, scope: Scope.Scope) {
    this.endpoint = endpoint
    this.scope = scope
  }

  /** Runs `use` over a link, or returns the reply that prevented a link. */
  with<A>(timeoutMs: number, use: (link: Link) => Effect.Effect<A>): Effect.Effect<A | Reply> {
    if (this.shared !== undefined) return use(this.shared)
    if (this.exclusive) return this.withExclusive(timeoutMs, use)
    return Effect.flatMap(this.join(timeoutMs), (outcome): Effect.Effect<A | Reply> =>
      isLink(outcome) ? use(outcome) : Effect.succeed(outcome)
    )
  }

  /** The server does not know this session, or its reply does not match its dialect. */
  lose(link: Link, forgetDialect: boolean): void {
    const isShared = this.shared === link
    const isHeld = this.idle.delete(link) || this.leased.delete(link)
    // Reported once per link.
    if (!isShared && !isHeld) return
    if (isShared) this.shared = undefined
    if (forgetDialect) this.endpoint.dialect = undefined
  }

  /** The server wants a session for each request; false if this link was one already. */
  makeExclusive(link: Link): boolean {
    if (this.own.has(link)) return false
    this.exclusive = true
    if (this.shared === link) {
      this.shared = undefined
      this.retired = link
    }
    return true
  }

  /** Links whose sessions the server still holds. */
  open(): ReadonlyArray<Link> {
    return [this.shared, this.retired, ...this.idle, ...this.leased]
      .filter((link) => link !== undefined)
      .filter((link) => link.sessionId !== undefined)
  }

  /** One handshake at a time, shared by all waiting callers and independent of any of them. */
  private join(timeoutMs: number): Effect.Effect<Link | Reply> {
    return Effect.suspend(() => {
      if (this.pending !== undefined) return Deferred.await(this.pending)
      const deferred = Deferred.makeUnsafe<Link | Reply>()
      this.pending = deferred
      return establish(this.endpoint).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            this.pending = undefined
            if (exit._tag === "Success" && isLink(exit.value) && !this.exclusive) this.shared = exit.value
          })
        ),
        Deferred.into(deferred),
        Effect.forkIn(this.scope),
        Effect.andThen(Deferred.await(deferred))
      )
    }).pipe(Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => Effect.succeed(notReady) }))
  }

  private withExclusive<A>(timeoutMs: number, use: (link: Link) => Effect.Effect<A>): Effect.Effect<A | Reply> {
    const untilMs = this.endpoint.nowMs() + timeoutMs
    const run = (restore: <B>(effect: Effect.Effect<B>) => Effect.Effect<B>): Effect.Effect<A | Reply> =>
      Effect.suspend(() => {
        const [link] = this.idle
        if (link !== undefined) return this.lease(link, restore(use(link)))
        if (this.idle.size + this.leased.size + this.opening < this.endpoint.options.exclusiveSessionsMax) {
          this.opening++
          return Effect.flatMap(
            Effect.onExit(restore(establish(this.endpoint)), () => Effect.sync(() => this.opening--)),
            (made): Effect.Effect<A | Reply> =>
              isLink(made) ? this.lease(made, restore(use(made))) : Effect.as(this.wakeOne, made)
          )
        }
        return Effect.flatMap(restore(this.turn(untilMs - this.endpoint.nowMs())), (woken): Effect.Effect<A | Reply> =>
          woken ? run(restore) : Effect.succeed(allBusy)
        )
      })
    return Effect.uninterruptibleMask(run)
  }

  private lease<A>(link: Link, used: Effect.Effect<A>): Effect.Effect<A> {
    this.idle.delete(link)
    this.leased.add(link)
    this.own.add(link)
    return Effect.onExit(used, () => {
      if (this.leased.delete(link)) this.idle.add(link)
      return this.wakeOne
    })
  }

  private readonly wakeOne: Effect.Effect<void> = Effect.sync(() => {
    const [wake] = this.waiting
    if (wake === undefined) return
    this.waiting.delete(wake)
    wake()
  })

  private turn(timeoutMs: number): Effect.Effect<boolean> {
    return Effect.callback<boolean>((resume) => {
      const wake = () => resume(Effect.succeed(true))
      this.waiting.add(wake)
      return Effect.sync(() => this.waiting.delete(wake))
    }).pipe(Effect.timeoutOrElse({ duration: Math.max(1, timeoutMs), orElse: () => Effect.succeed(false) }))
  }
}

const notReady = fault("timeout", "The provider did not complete the handshake in time")
const allBusy = fault("timeout", "The provider's sessions were all in use")

export interface KnownEndpoint {
  readonly endpoint: ProviderEndpoint
  readonly sessions: Sessions
}

export class ProviderEndpoints {
  /** Endpoints by address, then by provider: two look-ups cost less than building one key. */
  private readonly known = new Map<string, Map<ProviderId, KnownEndpoint>>()
  private count = 0
  private readonly shared: EndpointShared
  private readonly scope: Scope.Scope

  constructor(shared: EndpointShared, scope: Scope.Scope) {
    this.shared = shared
    this.scope = scope
  }

  /** The endpoint of a provider; two providers never share sockets or sessions, even at one address. */
  of(providerId: ProviderId, url: string, atMs: number): KnownEndpoint | "not_a_url" | "no_room" {
    const known = this.known.get(url)?.get(providerId) ?? this.add(providerId, url)
    if (typeof known === "object") known.endpoint.lastUsedMs = atMs
    return known
  }

  /** Ends sessions on servers, within a bounded time, and closes every socket. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    const all = [...this.known.values()].flatMap((providers) => [...providers.values()])
    this.known.clear()
    return Effect.forEach(all, closed, { concurrency: "unbounded", discard: true })
  })

  /** Closes the one that has been idle longest; false if all are in use. */
  private makeRoom(): boolean {
    let oldest: { readonly url: string; readonly id: ProviderId; readonly known: KnownEndpoint } | undefined = undefined
    for (const [url, providers] of this.known) {
      for (const [id, known] of providers) {
        if (known.endpoint.awaited > 0) continue
        if (oldest === undefined || known.endpoint.lastUsedMs < oldest.known.endpoint.lastUsedMs) {
          oldest = { url, id, known }
        }
      }
    }
    if (oldest === undefined) return false
    const providers = this.known.get(oldest.url)
    providers?.delete(oldest.id)
    if (providers?.size === 0) this.known.delete(oldest.url)
    this.count--
    Effect.runFork(Effect.forkIn(closed(oldest.known), this.scope))
    return true
  }

  private add(providerId: ProviderId, url: string): KnownEndpoint | "not_a_url" | "no_room" {
    const parsed = URL.parse(url)
    if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) return "not_a_url"
    if (this.count >= this.shared.options.endpointsMax && !this.makeRoom()) return "no_room"
    const endpoint = new ProviderEndpoint(parsed, providerId, this.shared.options.signerOf(providerId), this.shared)
    const known = { endpoint, sessions: new Sessions(endpoint, this.scope) }
    const providers = this.known.get(url) ?? new Map<ProviderId, KnownEndpoint>()
    providers.set(providerId, known)
    this.known.set(url, providers)
    this.count++
    return known
  }
}

const closed = ({ endpoint, sessions }: KnownEndpoint): Effect.Effect<void> =>
  Effect.forEach(sessions.open(), (link) => link.dialect.end(endpoint, link), { concurrency: 4, discard: true }).pipe(
    Effect.ensuring(endpoint.destroy)
  )
