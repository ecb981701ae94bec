/**
 * A connection to the profile's database, for commands that need nothing else.
 */
import { Context, Effect, Layer, type Redacted } from "effect"
import * as PostgresTime from "../../adapters/sql/shared/PostgresTime.ts"
import { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { client, type Database } from "./PostgresClient.ts"

const CONNECTIONS = 2

/** `Database.ownerUrl` of the connection. */
export const OwnerUrl = Context.Reference<Redacted.Redacted | undefined>("agent-tool-billing/src/layers/OwnerUrl", {
  defaultValue: () => undefined
})

export const database = (config: AppConfig) => PostgresTime.layer.pipe(Layer.provideMerge(connection(config)))

const connection = (config: AppConfig) =>
  config.profile === "embedded"
    ? Layer.unwrap(
        Effect.map(EmbeddedPostgres, ({ ownerUrl, url }) =>
          connectionTo({ url, ownerUrl, connectionsMax: CONNECTIONS })
        )
      ).pipe(Layer.provide(EmbeddedPostgres.layer({ dataDir: valueOf(config, "DATA_DIR") })))
    : connectionTo({
        url: config.DATABASE_URL!,
        ownerUrl: config.MIGRATION_DATABASE_URL,
        connectionsMax: CONNECTIONS
      })

const connectionTo = (to: Database) => Layer.merge(client(to), Layer.succeed(OwnerUrl, to.ownerUrl))
