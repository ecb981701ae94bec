/**
 * Which reads a read replica answers: the catalog, the totals of market and platform, and usage. A replica is behind by up
 * to DATABASE_READ_LAG_MS_MAX, so nothing is read from it on which money, keys or access depend, or that is cached longer
 * than a few seconds: balances, prices of calls, idempotency, payouts, receipts and a provider's own tools.
 */
import { Cause, Context, Effect, Layer } from "effect"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresMarketFigures from "../../adapters/sql/catalog/PostgresMarketFigures.ts"
import * as PostgresUsageStore from "../../adapters/sql/metering/PostgresUsageStore.ts"
import * as PostgresPlatformFigures from "../../adapters/sql/platform/PostgresPlatformFigures.ts"
import { storeSql } from "../../adapters/sql/shared/StoreSql.ts"
import { type CatalogFilter, CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { MarketFigures } from "../../domain/catalog/MarketFigures.ts"
import { UsageStore } from "../../domain/metering/Usage.ts"
import { ReadReplica } from "../../domain/platform/Health.ts"
import { PlatformFigures } from "../../domain/platform/PlatformStats.ts"
import { type Database, replicaClient } from "./Database.ts"

/** The stores that a replica has, each with a pool and caches of its own. */
const storesToRead = Layer.fresh(
  Layer.mergeAll(
    PostgresCatalogStore.layer,
    PostgresMarketFigures.layer,
    PostgresPlatformFigures.layer,
    PostgresUsageStore.layer
  )
)

/** Replaces the stores whose reads a replica may answer. Without a replica, the stores stay as they are. */
export const replicaReads = ({ connectionsMax, readUrl }: Database) =>
  Layer.effectContext(
    Effect.gen(function* () {
      // Not whatever else is around, such as the clock of the program that builds this.
      const primary = Context.pick(
        CatalogStore,
        MarketFigures,
        PlatformFigures,
        UsageStore
      )(yield* Effect.context<CatalogStore | MarketFigures | PlatformFigures | UsageStore>())
      const replica = yield* ReadReplica
      if (readUrl === undefined || replica === undefined) return primary
      const copy = yield* Layer.build(storesToRead.pipe(Layer.provide(replicaClient(readUrl, connectionsMax, replica))))
      const either = yield* makeEither(replica)

      const catalog = Context.get(primary, CatalogStore)
      const catalogCopy = Context.get(copy, CatalogStore)
      const market = Context.get(primary, MarketFigures)
      const marketCopy = Context.get(copy, MarketFigures)
      const platform = Context.get(primary, PlatformFigures)
      const platformCopy = Context.get(copy, PlatformFigures)
      const usage = Context.get(primary, UsageStore)
      const usageCopy = Context.get(copy, UsageStore)

      return Context.mergeAll(
        Context.make(CatalogStore, {
          ...catalog,
          search: (filter, sort, page) =>
            isPublic(filter)
              ? either(catalogCopy.search(filter, sort, page), catalog.search(filter, sort, page))
              : catalog.search(filter, sort, page),
          categories: either(catalogCopy.categories, catalog.categories),
          count: either(catalogCopy.count, catalog.count)
        }),
        Context.make(MarketFigures, {
          ofTools: (ids) => either(marketCopy.ofTools(ids), market.ofTools(ids)),
          totals: either(marketCopy.totals, market.totals)
        }),
        Context.make(PlatformFigures, {
          count: (since) => either(platformCopy.count(since), platform.count(since))
        }),
        Context.make(UsageStore, {
          ...usage,
          recent: (owner, filter, page) =>
            either(usageCopy.recent(owner, filter, page), usage.recent(owner, filter, page)),
          byToolAndDay: (owner, since) => either(usageCopy.byToolAndDay(owner, since), usage.byToolAndDay(owner, since))
        })
      )
    })
  )

/** A provider reads its own tools right after it changed them, and caches of prices are filled by provider. */
const isPublic = ({ providerId, state = "listed" }: CatalogFilter): boolean =>
  providerId === undefined && state === "listed"

/** The replica while it is fresh and works, otherwise the primary. A unit of work reads what it wrote. */
const makeEither = Effect.fnUntraced(function* (replica: ReadReplica) {
  const { isInTransaction } = yield* storeSql
  return <A, E>(onReplica: Effect.Effect<A, E>, onPrimary: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    const byPrimary = Effect.suspend(() => {
      replica.count("primary")
      return onPrimary
    })
    const byReplica = onReplica.pipe(
      Effect.tap(() => Effect.sync(() => replica.count("replica"))),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.andThen(Effect.logWarning("The read replica failed; the primary answers", cause), byPrimary)
      )
    )
    return Effect.flatMap(isInTransaction, (isInside) =>
      isInside ? onPrimary : replica.isFresh() ? byReplica : byPrimary
    )
  }
})
