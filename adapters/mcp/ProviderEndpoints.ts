/**
 * The endpoints that this node has called recently, bounded: each with its sockets and sessions.
 */
import { Effect, type Scope } from "effect"
import type { ProviderId } from "../../domain/shared/Ids.ts"
import { ProviderEndpoint, type EndpointShared } from "./ProviderEndpoint.ts"
import { Sessions } from "./Sessions.ts"

export interface KnownEndpoint {
  readonly endpoint: ProviderEndpoint
  readonly sessions: Sessions
}

export class ProviderEndpoints {
  /** By address, then by provider: two look-ups cost less than building one key. */
  private readonly known = new Map<string, Map<ProviderId, KnownEndpoint>>()
  private count = 0
  private readonly shared: EndpointShared
  private readonly nowMs: () => number
  private readonly scope: Scope.Scope

  constructor(shared: EndpointShared, nowMs: () => number, scope: Scope.Scope) {
    this.shared = shared
    this.nowMs = nowMs
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
    const known = { endpoint, sessions: new Sessions(endpoint, this.nowMs, this.scope) }
    const providers = this.known.get(url) ?? new Map<ProviderId, KnownEndpoint>()
    providers.set(providerId, known)
    this.known.set(url, providers)
    this.count++
    return known
  }
}

const closed = ({ endpoint, sessions }: KnownEndpoint): Effect.Effect<void> =>
  Effect.forEach(sessions.open(), (link) => endpoint.endSession(link), { concurrency: 4, discard: true }).pipe(
    Effect.ensuring(endpoint.destroy)
  )
