/**
 * Sessions of MCP clients. Each has a session of its own at the provider's server, where that has any,
 * so that what the server asks for reaches the client that it concerns.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { longestMsOf, TOOL_TIMEOUT_MS_MAX, type UpstreamBounds, UpstreamLimits } from "../metering/CallTerms.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Entropy } from "../shared/Cryptography.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { memberOf, membersOf, objectWith } from "../shared/JsonText.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { passedParams, SESSION_VERSIONS, withoutTasks, withOwnTasks } from "../upstream/Protocol.ts"
import {
  listingCapabilities,
  ProviderServers,
  type ServerAddress,
  type ServerFailed
} from "../upstream/ProviderServers.ts"
import { WAIT_MS_MAX } from "./CallerWaits.ts"
import { type McpSession, McpSessionStore } from "./McpStores.ts"

// The answer to `initialize` where no server gives its own.

/** A server's description of itself, as JSON texts. */
export interface SessionProfile {
  readonly capabilities: string
  readonly serverInfo: string
  readonly instructions: string | undefined
}

/** A client that asks for another version gets the newest one, as the specification says. */
export const negotiatedVersion = (requested: string): string =>
  SESSION_VERSIONS.find((known) => known === requested) ?? SESSION_VERSIONS[0]

export const initializeResult = (
  { capabilities, instructions, serverInfo }: SessionProfile,
  version: string
): string => {
  const last = instructions === undefined ? "" : `,"instructions":${instructions}`
  return `{"protocolVersion":"${version}","capabilities":${capabilities},"serverInfo":${serverInfo}${last}}`
}

/** The server's own result, as it is offered here. A server that is called without a session starts no tasks for one. */
export const offeredResult = (result: string, sessions: boolean): string =>
  withCapabilities(result, sessions ? withOwnTasks : withoutTasks)

/** Replaces the capabilities; the rest stays verbatim. */
export const withCapabilities = (result: string, offered: (capabilities: string) => string): string => {
  const capabilities = membersOf(result).findLast(({ name }) => name === "capabilities")
  return capabilities === undefined ? result : objectWith(result, "capabilities", offered(capabilities.text))
}

/** A session as requests use it: without its params, which are large, because many sessions are in memory. */
export interface LiveSession extends Omit<McpSession, "clientParams"> {
  /** The client's capabilities by which servers choose the tools that they list. */
  readonly listingCapabilities: string
}

export const liveOf = ({ clientParams, ...live }: McpSession): LiveSession => ({
  ...live,
  listingCapabilities: listingCapabilities(memberOf(clientParams, 0, "capabilities"))
})

export const isUsable = (
  session: LiveSession,
  consumerId: ConsumerId,
  server: ServerAddress | undefined,
  now: DateTime.Utc
): boolean =>
  session.consumerId === consumerId &&
  session.server?.providerId === server?.providerId &&
  session.expiresAt.epochMilliseconds > now.epochMilliseconds

// Ends sessions at provider's servers once no call can use them any more. A server that is told to end a session closes the
// streams of its calls, which would then fail and cost nothing although the server did their work. Calls of a session may run
// on any node, so nothing but time tells that the last one has ended.

/** The limit per node. Further sessions, and those of a process that stops, end by their server's own idle time-out. */
export const LATE_ENDINGS_MAX = 10_000

/** The longest call, with all waits for its caller, begun by a node that learned of the session's end `staleMs` late. */
export const endsAfter = (limits: UpstreamBounds, staleMs: number): Duration.Duration => {
  const timeoutMs = Math.max(TOOL_TIMEOUT_MS_MAX, limits.timeoutMs)
  return Duration.millis(longestMsOf(timeoutMs, limits) + WAIT_MS_MAX + staleMs)
}

/** Nothing waits for the server, which may be away. */
export const makeLateEndings = Effect.fnUntraced(function* (staleMs: number) {
  const servers = yield* ProviderServers
  const delay = endsAfter(yield* UpstreamLimits, staleMs)
  const scope = yield* Effect.scope
  let pending = 0

  return ({ server, upstream }: Pick<LiveSession, "server" | "upstream">): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (server === undefined || upstream === undefined || pending >= LATE_ENDINGS_MAX) return Effect.void
      pending++
      return Effect.sleep(delay).pipe(
        Effect.andThen(servers.end(server, upstream)),
        Effect.ensuring(Effect.sync(() => pending--)),
        Effect.forkIn(scope),
        Effect.asVoid
      )
    })
})

/** The longest unused one ends when another is opened. */
export const SESSIONS_PER_ACCOUNT_MAX = 100
export const SESSION_IDLE_MAX = Duration.hours(24)
export const SESSION_AGE_MAX = Duration.days(7)
export const CLIENT_PARAMS_BYTES_MAX = 65_536

const CACHED_MAX = 20_000
const CACHE_TTL_MS = 30_000
/** A write at most this often for a session in use. */
const TOUCH_EVERY_MS = 60_000
const ID_BYTES = 32

/** A session of another account or provider is not found either, so that no answer tells which ids exist. */
export class McpSessionNotFound extends Schema.TaggedError<McpSessionNotFound>()("McpSessionNotFound", {
  reason: Schema.Literals(["unknown", "server_restarted"])
}) {
  override get message() {
    return messages[this.reason]
  }
}

const messages = {
  unknown: "This MCP session is unknown, or it has ended.",
  server_restarted:
    "The provider's server no longer knows this MCP session, and its subscriptions and settings are lost."
}

/** The reason why a client's `initialize` opens no session. */
export class McpInitializeRejected extends Schema.TaggedError<McpInitializeRejected>()("McpInitializeRejected", {
  reason: Schema.Literals(["params_too_large", "no_common_version"])
}) {
  override get message() {
    return this.reason === "params_too_large"
      ? `The params of initialize are larger than ${CLIENT_PARAMS_BYTES_MAX} bytes.`
      : `The provider's server supports none of these protocol versions: ${SESSION_VERSIONS.join(", ")}.`
  }
}

/** An `initialize` of a client with sessions. */
export interface SessionRequest {
  readonly consumerId: ConsumerId
  /** Undefined for a session with the market itself. */
  readonly server: ServerAddress | undefined
  /** The client's params of `initialize`, verbatim. */
  readonly params: string
  /** The version in them. */
  readonly requested: string
}

/** A new session and the response to `initialize`. */
export interface SessionOpened {
  readonly session: LiveSession
  /** The result of `initialize`: of a server with sessions its own, verbatim. */
  readonly result: string
}

export class McpSessions extends Context.Service<
  McpSessions,
  {
    /** `profile`: the result of `initialize` for sessions without a server that has any. */
    open<E>(
      request: SessionRequest,
      profile: Effect.Effect<SessionProfile, E>
    ): Effect.Effect<SessionOpened, E | ServerFailed | McpInitializeRejected | StoreUnavailable>
    /** A session that this node knows is found at the call, not when the effect runs. */
    find(
      id: string,
      consumerId: ConsumerId,
      server: ServerAddress | undefined
    ): Effect.Effect<LiveSession, McpSessionNotFound | StoreUnavailable>
    /**
     * Opens another upstream session with the client's own params, after the server said that it does not know the old
     * one. A session with state at the server ends instead.
     */
    renew(session: LiveSession): Effect.Effect<LiveSession, McpSessionNotFound | ServerFailed | StoreUnavailable>
    /** The server keeps state for the session from now on. */
    markState(session: LiveSession): Effect.Effect<void, StoreUnavailable>
    /** Ends it here at once, at the provider's server when the last call that it may still run has ended. */
    end(session: LiveSession): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/McpSessions") {
  static readonly layer = Layer.effect(
    McpSessions,
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const servers = yield* ProviderServers
      const feed = yield* ChangeFeed
      const entropy = yield* Entropy
      const clock = yield* Clock.Clock
      const cache = yield* makeFreshCache<Option.Option<LiveSession>>({ entriesMax: CACHED_MAX, ttlMs: CACHE_TTL_MS })

      yield* onEachChange(feed, ({ id, topic }) => {
        if (topic === "mcp_session") cache.forget(id)
        else if (topic === "everything") cache.forgetAll()
      })

      const announce = (id: string) =>
        Effect.suspend(() => {
          cache.forget(id)
          return feed.publish({ topic: "mcp_session", id })
        })

      const endUpstream = yield* makeLateEndings(CACHE_TTL_MS)

      const handshake = Effect.fnUntraced(function* <E>(
        { consumerId, params, requested, server }: SessionRequest,
        own: Effect.Effect<SessionProfile, E>
      ) {
        const sessions = server !== undefined && (yield* servers.profile(server)).sessions
        // A server that is called without one may open sessions too, with requests of its own.
        const initialized =
          server === undefined
            ? undefined
            : yield* servers.initialize(server, passedParams(params), consumerId).pipe(
                Effect.catchIf(
                  () => !sessions,
                  () => Effect.undefined
                )
              )
        if (initialized === undefined) {
          const version = negotiatedVersion(requested)
          return { version, upstream: undefined, result: initializeResult(yield* own, version) }
        }
        const { result, session } = initialized
        const version = SESSION_VERSIONS.find((known) => known === session.version)
        if (version === undefined) return yield* new McpInitializeRejected({ reason: "no_common_version" })
        return { version, upstream: session, result: offeredResult(result, sessions) }
      })

      const open = Effect.fn("McpSessions.open")(function* <E>(
        request: SessionRequest,
        profile: Effect.Effect<SessionProfile, E>
      ) {
        const { consumerId, params, server } = request
        if (bytesOf(params) > CLIENT_PARAMS_BYTES_MAX) {
          return yield* new McpInitializeRejected({ reason: "params_too_large" })
        }
        const { result, upstream, version } = yield* handshake(request, profile)
        const now = yield* DateTime.now
        const session: McpSession = {
          id: yield* entropy.hex(ID_BYTES),
          consumerId,
          server,
          version,
          upstream,
          clientParams: params,
          hasState: false,
          createdAt: now,
          lastSeenAt: now,
          expiresAt: expiryOf(now, now)
        }
        const replaced = yield* store.open(session, SESSIONS_PER_ACCOUNT_MAX)
        for (const old of replaced) {
          yield* announce(old.id)
          yield* endUpstream(old)
        }
        return { session: liveOf(session), result }
      })

      const load = (id: string) => Effect.suspend(() => Effect.map(store.find(id), Option.map(liveOf)))

      const touched = (session: LiveSession, now: DateTime.Utc) => {
        cache.forget(session.id)
        return Effect.as(store.touch(session.id, now, expiryOf(session.createdAt, now)), session)
      }

      const refreshed = (session: LiveSession, server: ServerAddress | undefined, now: DateTime.Utc) => {
        // The provider moved its server, which does not know the session.
        if (session.server?.endpointUrl !== server?.endpointUrl) return endRestarted(session)
        const unseenMs = now.epochMilliseconds - session.lastSeenAt.epochMilliseconds
        return unseenMs < TOUCH_EVERY_MS ? Effect.succeed(session) : touched(session, now)
      }

      /** The hot path uses no generator. */
      const find = (id: string, consumerId: ConsumerId, server: ServerAddress | undefined) =>
        Effect.flatMapEager(cache.readThrough(id, load(id), Option.isSome), (found) => {
          const now = DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
          return Option.isSome(found) && isUsable(found.value, consumerId, server, now)
            ? refreshed(found.value, server, now)
            : Effect.fail(new McpSessionNotFound({ reason: "unknown" }))
        })

      const end = Effect.fn("McpSessions.end")(function* (session: LiveSession) {
        const ended = yield* store.end(session.id)
        yield* announce(session.id)
        if (Option.isSome(ended)) yield* endUpstream(ended.value)
      })

      const endRestarted = (session: LiveSession) =>
        Effect.andThen(end(session), Effect.fail(new McpSessionNotFound({ reason: "server_restarted" })))

      const renew = Effect.fn("McpSessions.renew")(function* (session: LiveSession) {
        const { server, upstream: lost } = session
        if (server === undefined || lost === undefined || session.hasState) return yield* endRestarted(session)
        const current = Option.getOrUndefined(yield* store.find(session.id))
        if (current === undefined) return yield* new McpSessionNotFound({ reason: "unknown" })
        // Another request or node was faster.
        if (current.upstream?.sessionId !== lost.sessionId) return liveOf(current)
        // Marked after this request read the session.
        if (current.hasState) return yield* endRestarted(session)
        const { clientParams, consumerId } = current
        const { session: next } = yield* servers.initialize(server, passedParams(clientParams), consumerId)
        if (next.version !== session.version) return yield* endRestarted(session)
        yield* servers.tell(server, next, INITIALIZED, consumerId)
        const isReplaced = yield* store.replaceUpstream(session.id, lost, next)
        yield* announce(session.id)
        if (isReplaced) return { ...session, upstream: next }
        // No request has used it.
        yield* Effect.forkDetach(servers.end(server, next))
        const winner = Option.getOrUndefined(yield* store.find(session.id))
        if (winner === undefined) return yield* new McpSessionNotFound({ reason: "unknown" })
        // It got state meanwhile, which the server has lost.
        return winner.upstream?.sessionId === lost.sessionId ? yield* endRestarted(session) : liveOf(winner)
      })

      const markState = Effect.fn("McpSessions.markState")(function* ({ hasState, id }: LiveSession) {
        if (hasState) return
        yield* store.markState(id)
        yield* announce(id)
      })

      return McpSessions.of({ open, find, renew, markState, end })
    })
  )
}

const INITIALIZED = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

const expiryOf = (createdAt: DateTime.Utc, seenAt: DateTime.Utc): DateTime.Utc =>
  DateTime.min(DateTime.addDuration(seenAt, SESSION_IDLE_MAX), DateTime.addDuration(createdAt, SESSION_AGE_MAX))

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
