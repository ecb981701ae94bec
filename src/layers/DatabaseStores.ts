/**
 * The stores of a profile with a database: its own PostgreSQL, or the one of DATABASE_URL.
 */
import { Effect, Layer, Option } from "effect"
import { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { ArchiveFolder } from "../../adapters/sql/receipts/ReceiptArchive.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { EarlyPostgres } from "./EarlyPostgres.ts"
import { watch } from "./Process.ts"
import { postgresStores } from "./PostgresStores.ts"

export const databaseStores = (config: AppConfig) => {
  const connectionsMax = valueOf(config, "DATABASE_CONNECTIONS_MAX")
  const stores =
    config.profile === "embedded"
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
  return Layer.provide(stores, Layer.succeed(ArchiveFolder, config.ARCHIVE_DIR))
}

const embeddedPostgres = (config: AppConfig) =>
  Effect.flatMap(
    Effect.serviceOption(EarlyPostgres),
    Option.getOrElse(() => EmbeddedPostgres.start({ dataDir: valueOf(config, "DATA_DIR") }))
  )
