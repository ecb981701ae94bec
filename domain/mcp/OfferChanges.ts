/**
 * Notices when what a provider's endpoint offers has changed: a listed tool, its price, or the list of the server. While a
 * client listens, one follower per provider and node reads the server's list again every few minutes. Changes of listed tools
 * and prices are noticed without the server.
 */
import { Clock, Context, Deferred, Duration, Effect, Fiber, Layer, Option, Queue, type Scope } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { ToolSync } from "../catalog/ToolImport.ts"
import { Digest } from "../shared/Cryptography.ts"
import type { ProviderId } from "../shared/Ids.ts"
import type { ServerAddress, ToolList } from "../upstream/ProviderServers.ts"
import { ToolOffers } from "./ToolOffers.ts"

/** Changes of one request come together: they are one change of the list. */
const GATHER = Duration.seconds(1)
/** A change that was not announced is noticed after this time. */
const RECHECK_MS = 300_000
/** The time for the server's list. What the market lists does not wait longer for it. */
const SERVER_READ_MAX = Duration.seconds(3)

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
      /** Followers by address: a provider may move its server while clients still listen to the former one. */
      const followers = new Map<string, Follower>()
      const listVersions = new WeakMap<ToolList, string>()

      yield* offers.onChange((providerId) => {
        for (const follower of followers.values()) {
          if (providerId === undefined || providerId === follower.providerId)
            Queue.offerUnsafe(follower.hints, undefined)
        }
      })

      const listVersion = (list: ToolList): string => {
        const known = listVersions.get(list)
        if (known !== undefined) return known
        const version = sha256Hex(list.tools.map(({ text }) => text).join("\n"))
        listVersions.set(list, version)
        return version
      }

      const entriesVersion = (entries: ReadonlyArray<CatalogEntry>): string =>
        entries
          .map(({ priceVersion, tool }) => `${tool.id} ${priceVersion} ${tool.updatedAt.epochMilliseconds}`)
          .toSorted()
          .join("\n")

      const hasten = (server: ServerAddress): void => {
        run(Effect.ignore(sync.hasten(server.providerId)))
      }

      const follow = Effect.fnUntraced(function* (server: ServerAddress, { hints, ready, watchers }: Follower) {
        /** Keeps what cannot be read now. */
        const read = Effect.fnUntraced(function* ({ entries, list }: Seen) {
          const listed = yield* Effect.orElseSucceed(offers.listed(server.providerId), () => entries)
          const offer = yield* Effect.timeoutOption(Effect.option(offers.offer(server, "any")), SERVER_READ_MAX)
          return {
            entries: listed,
            list: Option.flatten(offer).pipe(
              Option.map((one) => one.list),
              Option.getOrElse(() => list)
            )
          }
        })
        let known: Seen = yield* read({ entries: undefined, list: undefined })
        yield* Deferred.succeed(ready, undefined)
        for (;;) {
          const waitMs = untilNextPriceMs(known.entries ?? [], yield* Clock.currentTimeMillis)
          yield* Effect.timeoutOption(Queue.take(hints), waitMs)
          yield* Effect.sleep(GATHER)
          yield* Queue.clear(hints)
          const before = known
          known = yield* read(before)
          const isOfList = before.list !== undefined && listVersion(before.list) !== listVersion(known.list!)
          const isOfEntries =
            before.entries !== undefined && entriesVersion(before.entries) !== entriesVersion(known.entries!)
          if (isOfList) hasten(server)
          if (isOfList || isOfEntries) for (const { onChange } of watchers) onChange()
        }
      })

      const start = (server: ServerAddress, hints: Follower["hints"]): Follower => {
        const follower: Follower = {
          providerId: server.providerId,
          hints,
          ready: Deferred.makeUnsafe<void>(),
          watchers: new Set(),
          stop: () => {
            followers.delete(keyOf(server))
            run(Fiber.interrupt(fiber))
          }
        }
        const fiber = run(follow(server, follower))
        followers.set(keyOf(server), follower)
        return follower
      }

      const watch = Effect.fn("OfferChanges.watch")(function* (server: ServerAddress, onChange: () => void) {
        const hints = yield* Queue.sliding<void>(1)
        const follower = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const one = followers.get(keyOf(server)) ?? start(server, hints)
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
        yield* Deferred.await(follower.ready)
      })

      return OfferChanges.of({
        watch,
        announced: (server) => {
          hasten(server)
          const follower = followers.get(keyOf(server))
          if (follower !== undefined) Queue.offerUnsafe(follower.hints, undefined)
        }
      })
    })
  )
}

interface Seen {
  readonly entries: ReadonlyArray<CatalogEntry> | undefined
  readonly list: ToolList | undefined
}

interface Follower {
  readonly providerId: ProviderId
  readonly watchers: Set<{ readonly onChange: () => void }>
  readonly hints: Queue.Queue<void>
  /** The first read has ended. */
  readonly ready: Deferred.Deferred<void>
  readonly stop: () => void
}

const keyOf = ({ endpointUrl, providerId }: ServerAddress): string => `${providerId} ${endpointUrl}`

/** Returns the time until the next announced price takes effect, at most that of a recheck. */
const untilNextPriceMs = (entries: ReadonlyArray<CatalogEntry>, nowMs: number): number => {
  let next = RECHECK_MS
  for (const { prices } of entries) {
    const leftMs = (prices.upcoming?.effectiveFrom.epochMilliseconds ?? Number.POSITIVE_INFINITY) - nowMs
    if (leftMs > 0 && leftMs < next) next = leftMs
  }
  return next
}
