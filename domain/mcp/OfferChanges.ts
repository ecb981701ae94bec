/**
 * Notices when what a provider's endpoint offers has changed: a listed tool, its price, or the list of the server. While a
 * client listens, one follower per provider and node reads the server's list again every few minutes.
 */
import { Clock, Context, Deferred, Duration, Effect, Fiber, Layer, Queue, type Scope } from "effect"
import { ToolSync } from "../catalog/ToolSync.ts"
import { Digest } from "../shared/Digest.ts"
import type { ProviderId } from "../shared/Ids.ts"
import type { ServerAddress, ToolList } from "./ProviderServers.ts"
import type { ToolOffer } from "./ToolOffer.ts"
import { ToolOffers } from "./ToolOffers.ts"

/** Changes of one request come together: they are one change of the list. */
const GATHER = Duration.seconds(1)
/** A change that was not announced is noticed after this time. */
const RECHECK_MS = 300_000
/** A server that does not respond keeps no client waiting for its subscription. */
const FIRST_READ_MAX = Duration.seconds(3)

export class OfferChanges extends Context.Service<
  OfferChanges,
  {
    /** `onChange` is called while the scope lives. */
    watch(server: ServerAddress, onChange: () => void): Effect.Effect<void, never, Scope.Scope>
    /** The server says that its list has changed: the next sync comes soon. */
    announced(server: ServerAddress): void
  }
>()("agent-tool-billing/domain/mcp/OfferChanges") {
  static readonly layer = Layer.effect(
    OfferChanges,
    Effect.gen(function* () {
      const offers = yield* ToolOffers
      const sync = yield* ToolSync
      const { sha256Hex } = yield* Digest
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const followers = new Map<ProviderId, Follower>()
      const listVersions = new WeakMap<ToolList, string>()

      yield* offers.onChange((providerId) => {
        const changed = providerId === undefined ? followers.values() : [followers.get(providerId)]
        for (const follower of changed) if (follower !== undefined) Queue.offerUnsafe(follower.hints, undefined)
      })

      const listVersion = (list: ToolList): string => {
        const known = listVersions.get(list)
        if (known !== undefined) return known
        const version = sha256Hex(list.tools.map(({ text }) => text).join("\n"))
        listVersions.set(list, version)
        return version
      }

      const versionOf = ({ list, tools }: ToolOffer): string => {
        const listed = [...tools].map(
          ([name, { entry }]) => `${name} ${entry.priceVersion} ${entry.tool.updatedAt.epochMilliseconds}`
        )
        return sha256Hex([listVersion(list), ...listed].join("\n"))
      }

      const hasten = (server: ServerAddress): void => {
        run(Effect.ignore(sync.hasten(server.providerId)))
      }

      const follow = Effect.fnUntraced(function* (server: ServerAddress, { hints, ready, watchers }: Follower) {
        /** Undefined while the server or the store does not answer: nothing is known then. */
        const read = Effect.orElseSucceed(offers.offer(server, "any"), () => undefined)
        let known = yield* read
        yield* Deferred.succeed(ready, undefined)
        for (let seen = known; ;) {
          const waitMs = seen === undefined ? RECHECK_MS : untilNextPriceMs(seen, yield* Clock.currentTimeMillis)
          yield* Effect.timeoutOption(Queue.take(hints), waitMs)
          yield* Effect.sleep(GATHER)
          yield* Queue.clear(hints)
          seen = yield* read
          if (seen === undefined || seen === known) continue
          if (known !== undefined) {
            if (listVersion(known.list) !== listVersion(seen.list)) hasten(server)
            if (versionOf(known) !== versionOf(seen)) for (const { onChange } of watchers) onChange()
          }
          known = seen
        }
      })

      const start = (server: ServerAddress, hints: Follower["hints"]): Follower => {
        const follower: Follower = {
          hints,
          ready: Deferred.makeUnsafe<void>(),
          watchers: new Set(),
          stop: () => {
            followers.delete(server.providerId)
            run(Fiber.interrupt(fiber))
          }
        }
        const fiber = run(follow(server, follower))
        followers.set(server.providerId, follower)
        return follower
      }

      const watch = Effect.fn("OfferChanges.watch")(function* (server: ServerAddress, onChange: () => void) {
        const hints = yield* Queue.sliding<void>(1)
        const follower = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const one = followers.get(server.providerId) ?? start(server, hints)
            const watcher = { onChange }
            one.watchers.add(watcher)
            return {
              ready: one.ready,
              leave: () => {
                one.watchers.delete(watcher)
                if (one.watchers.size === 0) one.stop()
              }
            }
          }),
          ({ leave }) => Effect.sync(leave)
        )
        yield* Effect.timeoutOption(Deferred.await(follower.ready), FIRST_READ_MAX)
      })

      return OfferChanges.of({
        watch,
        announced: (server) => {
          hasten(server)
          const follower = followers.get(server.providerId)
          if (follower !== undefined) Queue.offerUnsafe(follower.hints, undefined)
        }
      })
    })
  )
}

interface Follower {
  readonly watchers: Set<{ readonly onChange: () => void }>
  readonly hints: Queue.Queue<void>
  /** The first read has ended. */
  readonly ready: Deferred.Deferred<void>
  readonly stop: () => void
}

/** Until the next announced price takes effect, at most the time of a recheck. */
const untilNextPriceMs = ({ tools }: ToolOffer, nowMs: number): number => {
  let next = RECHECK_MS
  for (const { entry } of tools.values()) {
    const leftMs = (entry.prices.upcoming?.effectiveFrom.epochMilliseconds ?? Number.POSITIVE_INFINITY) - nowMs
    if (leftMs > 0 && leftMs < next) next = leftMs
  }
  return next
}
