/**
 * Every store on one PostgreSQL, after migrating its schema.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Cause, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresAccountStores from "../../adapters/sql/accounts/PostgresAccountStores.ts"
import * as PostgresLevelStore from "../../adapters/sql/accounts/PostgresLevelStore.ts"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresImportStore from "../../adapters/sql/catalog/PostgresImportStore.ts"
import * as PostgresMarketFigures from "../../adapters/sql/catalog/PostgresMarketFigures.ts"
import * as PostgresEarningsStores from "../../adapters/sql/earnings/PostgresEarningsStores.ts"
import * as PostgresInvoiceStore from "../../adapters/sql/invoices/PostgresInvoiceStore.ts"
import * as PostgresBudgetStore from "../../adapters/sql/ledger/PostgresBudgetStore.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresPaidFunds from "../../adapters/sql/ledger/PostgresPaidFunds.ts"
import * as PostgresLogStore from "../../adapters/sql/log/PostgresLogStore.ts"
import * as PostgresMcpStores from "../../adapters/sql/mcp/PostgresMcpStores.ts"
import * as LostCalls from "../../adapters/sql/metering/LostCalls.ts"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import * as PostgresMeteringStores from "../../adapters/sql/metering/PostgresMeteringStores.ts"
import * as PostgresUsageStore from "../../adapters/sql/metering/PostgresUsageStore.ts"
import * as PostgresOperatorStores from "../../adapters/sql/operator/PostgresOperatorStores.ts"
import * as PostgresPaymentStores from "../../adapters/sql/payments/PostgresPaymentStores.ts"
import * as PostgresPlatformStores from "../../adapters/sql/platform/PostgresPlatformStores.ts"
import * as PostgresUpkeep from "../../adapters/sql/platform/PostgresUpkeep.ts"
import * as PostgresReceiptStore from "../../adapters/sql/receipts/PostgresReceiptStore.ts"
import * as PostgresChangeFeed from "../../adapters/sql/shared/PostgresChangeFeed.ts"
import * as PostgresIdempotencyStore from "../../adapters/sql/shared/PostgresIdempotencyStore.ts"
import * as PostgresTime from "../../adapters/sql/shared/PostgresTime.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import { storeSql } from "../../adapters/sql/shared/StoreSql.ts"
import * as PostgresTaskStore from "../../adapters/sql/tasks/PostgresTaskStore.ts"
import * as PostgresDisputeStore from "../../adapters/sql/trust/PostgresDisputeStore.ts"
import * as PostgresProviderEvidence from "../../adapters/sql/trust/PostgresProviderEvidence.ts"
import * as PostgresSlaStore from "../../adapters/sql/trust/PostgresSlaStore.ts"
import * as PostgresVerificationStore from "../../adapters/sql/trust/PostgresVerificationStore.ts"
import { type CatalogFilter, CatalogStore, MarketFigures } from "../../domain/catalog/CatalogStore.ts"
import { UsageStore } from "../../domain/metering/Usage.ts"
import { PlatformFigures } from "../../domain/platform/PlatformStats.ts"
import { ReadReplica } from "../../domain/platform/ReadReplica.ts"
import { latestVersion } from "../../migrations/index.ts"
import { Books } from "./Books.ts"
import {
  client,
  type Database,
  hostClient,
  type HostDatabase,
  migrateSchema,
  prepareSchema,
  replicaClient
} from "./Database.ts"

// A read replica answers reads of the catalog, the totals of market and platform, and usage. A replica is behind by up
// to DATABASE_READ_LAG_MS_MAX, so nothing is read from it on which money, keys or access depend, or that is cached longer
// than a few seconds: balances, prices of calls, idempotency, payouts, receipts and a provider's own tools.

/** The stores that a replica has, each with a pool and caches of its own. */
const storesToRead = Layer.fresh(
  Layer.mergeAll(
    PostgresCatalogStore.layer,
    PostgresMarketFigures.layer,
    PostgresPlatformStores.platformFigures,
    PostgresUsageStore.layer
  )
)

/** Replaces the stores whose reads a replica may answer. Without a replica, the stores stay as they are. */
const replicaReads = (database: Database | HostDatabase) =>
  Layer.effectContext(
    Effect.gen(function* () {
      // The reads must not get other services, such as the clock of the program that builds this.
      const primary = Context.pick(
        CatalogStore,
        MarketFigures,
        PlatformFigures,
        UsageStore
      )(yield* Effect.context<CatalogStore | MarketFigures | PlatformFigures | UsageStore>())
      const replica = yield* ReadReplica
      if (!("url" in database) || database.readUrl === undefined || replica === undefined) return primary
      const copy = yield* Layer.build(
        storesToRead.pipe(Layer.provide(replicaClient(database.readUrl, database, replica)))
      )
      const either = yield* makeEither(replica)

      const both = <Port, Store>(port: Context.Key<Port, Store>) =>
        [Context.getUnsafe(primary, port), Context.getUnsafe(copy, port)] as const
      const [catalog, catalogCopy] = both(CatalogStore)
      const [market, marketCopy] = both(MarketFigures)
      const [platform, platformCopy] = both(PlatformFigures)
      const [usage, usageCopy] = both(UsageStore)

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

/** All stores but that of calls, which holds a connection of its own. */
export const storesOfCommands = Layer.mergeAll(
  PostgresOperatorStores.layer,
  PostgresAccountStores.layer,
  PostgresLevelStore.layer,
  PostgresBudgetStore.layer,
  PostgresCatalogStore.layer,
  PostgresChangeFeed.layer,
  PostgresEarningsStores.layer,
  PostgresPaymentStores.layer,
  PostgresDisputeStore.layer,
  PostgresMeteringStores.layer,
  PostgresPlatformStores.layer,
  PostgresIdempotencyStore.layer,
  PostgresImportStore.layer,
  PostgresInvoiceStore.layer,
  PostgresLedgerStore.layer,
  PostgresLogStore.layer,
  PostgresMarketFigures.layer,
  PostgresMcpStores.layer,
  PostgresProviderEvidence.layer,
  PostgresReceiptStore.layer,
  PostgresSlaStore.layer,
  PostgresTaskStore.layer,
  PostgresUnitOfWork.layer,
  PostgresUsageStore.layer,
  PostgresVerificationStore.layer,
  PostgresPaidFunds.layer,
  PostgresTime.layer
)

export const postgresStores = (database: Database | HostDatabase) =>
  Books.layer(
    Layer.mergeAll(
      replicaReads(database).pipe(Layer.provideMerge(storesOfCommands)),
      PostgresCallStore.layerKeeping,
      LostCalls.layer.pipe(Layer.provide(storesOfCommands)),
      PostgresUpkeep.layer({ latestVersion, run: migrateSchema(database) })
    )
  ).pipe(onDatabase(database, prepareSchema(database)))

/** The ports of `Ledger` alone. The default fee is that of the service: this program has none to record. */
export const postgresLedger = (database: Database | HostDatabase) =>
  Layer.merge(PostgresLedgerStore.layer, PostgresUnitOfWork.layer).pipe(onDatabase(database, migrateSchema(database)))

/** The client in the output is the host's own, where it has one. */
const onDatabase =
  <E2, R2>(database: Database | HostDatabase, prepare: Effect.Effect<unknown, E2, R2>) =>
  <A, E, R>(stores: Layer.Layer<A, E, R>) => {
    const prepared = Layer.provide(stores, Layer.effectDiscard(prepare))
    if (!("client" in database)) return Layer.provideMerge(prepared, client(database))
    const given = Context.make(PgClient.PgClient, database.client)
    return Layer.provide(prepared, hostClient(database)).pipe(
      Layer.merge(Layer.succeedContext(Context.add(given, SqlClient.SqlClient, database.client)))
    )
  }
