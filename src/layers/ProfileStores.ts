/**
 * The stores of a profile: plain Maps, the embedded PostgreSQL, or the PostgreSQL at DATABASE_URL.
 */
import { Effect, Layer } from "effect"
import { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { MeterKeyStore } from "../../domain/metering/MeterKeyStore.ts"
import { UnfitOutputs } from "../../domain/metering/UnfitOutputs.ts"
import { HealthHistoryStore } from "../../domain/platform/HealthHistoryStore.ts"
import { SchemaKeeper } from "../../domain/platform/SchemaKeeper.ts"
import { StoreWatch } from "../../domain/platform/StoreWatch.ts"
import { SubmissionStore } from "../../domain/platform/SubmissionStore.ts"
import { WaitlistStore } from "../../domain/platform/WaitlistStore.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { Books, booksPorts } from "./Books.ts"
import { watch } from "./Fatal.ts"
import { memoryStores } from "./MemoryStores.ts"
import { postgresStores } from "./PostgresStores.ts"

/** Their ports. */
export const STORED = [
  Books,
  HealthHistoryStore,
  MeterKeyStore,
  SchemaKeeper,
  StoreWatch,
  SubmissionStore,
  UnfitOutputs,
  WaitlistStore,
  ...booksPorts
] as const

export const profileStores = (config: AppConfig) => {
  const connectionsMax = valueOf(config, "DATABASE_CONNECTIONS_MAX")
  switch (config.profile) {
    case "memory":
      return memoryStores
    case "production":
      return postgresStores({
        url: config.DATABASE_URL!,
        ownerUrl: config.MIGRATION_DATABASE_URL,
        connectionsMax
      })
    case "embedded":
      return Layer.unwrap(
        Effect.map(EmbeddedPostgres, ({ failed: gaveUp, ownerUrl, url }) =>
          Layer.merge(postgresStores({ url, ownerUrl, connectionsMax }), watch(gaveUp))
        )
      ).pipe(Layer.provide(EmbeddedPostgres.layer({ dataDir: valueOf(config, "DATA_DIR") })))
  }
}
