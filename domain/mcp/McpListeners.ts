/**
 * Streams of messages that belong to no request, from the provider's server to a client in a session. A server allows
 * one for each session, so a client's newest connection replaces earlier ones, at any node. Its events have the server's own
 * ids: what a client missed, the server repeats.
 */
import { Context, Deferred, Duration, Effect, Fiber, Layer, Option, Result } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Entropy } from "../shared/Cryptography.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import {
  ProviderServers,
  type ServerAddress,
  type ServerEvent,
  type ServerFailed
} from "../upstream/ProviderServers.ts"
import { type LiveSession, McpSessions } from "./McpSessions.ts"
import { McpSessionStore } from "./McpStores.ts"
import { listenEventId, type StreamSink } from "./McpStreams.ts"

/** `NotOffered`: the server has no such stream. */
export type Listening = "Ended" | "NotOffered"

/** The client reconnects then, and its key is checked again. */
export const LISTEN_MAX = Duration.hours(1)
/** A server without such a stream says so at once. */
const BEGIN_AFTER = Duration.millis(500)
const AGAIN_AFTER = Duration.seconds(1)
const FAILURES_MAX = 5
const METHOD_NOT_ALLOWED = 405
const NAME_BYTES = 8

/** The messages that a client receives on the stream that it listens to. */
export interface Messages {
  /** Sends messages of the service itself, until it is interrupted. */
  readonly own?: ((send: (message: string) => void) => Effect.Effect<never>) | undefined
  readonly isPassed: (message: string) => boolean
}

const ALL: Messages = { isPassed: () => true }

interface Listener {
  readonly name: string
  readonly server: ServerAddress | undefined
  end(): void
}

export class McpListeners extends Context.Service<
  McpListeners,
  {
    /** `from`: the server's id of the last event that the client received. */
    listen(
      session: LiveSession,
      from: string | undefined,
      sink: StreamSink,
      messages?: Messages
    ): Effect.Effect<Listening, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/McpListeners") {
  static readonly layer = Layer.effect(
    McpListeners,
    Effect.gen(function* () {
      const servers = yield* ProviderServers
      const sessions = yield* McpSessions
      const store = yield* McpSessionStore
      const feed = yield* ChangeFeed
      const entropy = yield* Entropy
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const listeners = new Map<string, Listener>()

      const endIfGone = (id: string): Effect.Effect<void> =>
        Effect.match(store.find(id), {
          onFailure: () => {},
          onSuccess: (found) => {
            if (Option.isNone(found)) listeners.get(id)?.end()
          }
        })

      yield* onEachChange(feed, ({ id, topic }) => {
        if (topic === "mcp_session" && listeners.has(id)) run(endIfGone(id))
        // The provider may have moved its server. A client that connects again learns whether its session is lost.
        if (topic === "provider") {
          for (const listener of listeners.values()) if (listener.server?.providerId === id) listener.end()
        }
        if (topic !== "mcp_stream" || !id.startsWith(PREFIX)) return
        const [sessionId, name] = id.slice(PREFIX.length).split(".")
        const known = listeners.get(sessionId!)
        if (known !== undefined && known.name !== name) known.end()
      })

      const listen = Effect.fn("McpListeners.listen")(function* (
        session: LiveSession,
        from: string | undefined,
        sink: StreamSink,
        messages = ALL
      ) {
        const name = yield* entropy.hex(NAME_BYTES)
        const ended = Deferred.makeUnsafe<Listening>()
        const listener: Listener = {
          name,
          server: session.server,
          end: () => void Deferred.doneUnsafe(ended, Effect.succeed("Ended" as const))
        }
        listeners.get(session.id)?.end()
        listeners.set(session.id, listener)
        return yield* feed.publish({ topic: "mcp_stream", id: `${PREFIX}${session.id}.${name}` }).pipe(
          Effect.andThen(Effect.raceFirst(followAny(session, from, sink, messages), Deferred.await(ended))),
          Effect.timeoutOrElse({ duration: LISTEN_MAX, orElse: () => Effect.succeed("Ended" as const) }),
          Effect.ensuring(
            Effect.sync(() => {
              if (listeners.get(session.id) === listener) listeners.delete(session.id)
            })
          )
        )
      })

      const followAny = (
        session: LiveSession,
        from: string | undefined,
        sink: StreamSink,
        { isPassed, own }: Messages
      ) => {
        if (own === undefined) return follow(session, from, sink, isPassed)
        return Effect.suspend(() => {
          sink.begin()
          const sent = own((message) => sink.write(undefined, message))
          if (session.server === undefined) return sent
          // Without a stream of the server, that of the service stays open.
          const followed = Effect.flatMap(follow(session, from, { ...sink, begin: () => {} }, isPassed), (end) =>
            end === "NotOffered" ? Effect.never : Effect.succeed(end)
          )
          return Effect.raceFirst(followed, sent)
        })
      }

      /** Follows until the session ends, or the server does not answer any more. */
      const follow = Effect.fnUntraced(function* (
        opened: LiveSession,
        from: string | undefined,
        sink: StreamSink,
        isPassed: Messages["isPassed"]
      ): Effect.fn.Return<Listening, StoreUnavailable> {
        let session = opened
        let last = from
        let isBegun = false
        const begin = () => {
          if (!isBegun) sink.begin()
          isBegun = true
        }
        for (let failures = 0; failures < FAILURES_MAX;) {
          const { server, upstream } = session
          if (server === undefined || upstream === undefined) return "NotOffered"
          const onEvent = ({ eventId, message }: ServerEvent) => {
            begin()
            last = eventId ?? last
            if (isPassed(message)) sink.write(eventId === undefined ? undefined : listenEventId(eventId), message)
          }
          const { consumerId, listingCapabilities } = session
          const stream = servers.listen(server, upstream, last, consumerId, onEvent, listingCapabilities)
          const beginning = yield* Effect.forkChild(Effect.delay(Effect.sync(begin), BEGIN_AFTER))
          const result = yield* Effect.result(stream)
          yield* Fiber.interrupt(beginning)
          if (Result.isFailure(result)) {
            if (isNotOffered(result.failure)) return isBegun ? "Ended" : "NotOffered"
            failures++
            if (result.failure.sessionLost) {
              const renewed = yield* Effect.catchTags(sessions.renew(session), {
                McpSessionNotFound: () => Effect.undefined,
                ServerFailed: () => Effect.succeed(session)
              })
              if (renewed === undefined) return "Ended"
              session = renewed
              last = undefined
            }
          }
          yield* Effect.sleep(AGAIN_AFTER)
        }
        return "Ended"
      })

      return McpListeners.of({ listen })
    })
  )
}

const PREFIX = "listen."

const isNotOffered = ({ problem }: ServerFailed): boolean => problem.httpStatus === METHOD_NOT_ALLOWED
