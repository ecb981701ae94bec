/**
 * A connection to the profile's database, for commands that need nothing else.
 */
import { Effect, Layer } from "effect"
import * as PostgresTime from "../../adapters/sql/shared/PostgresTime.ts"
import { EmbeddedPostgres } from "../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"
import { client } from "./PostgresStores.ts"

const CONNECTIONS = 2

export const database = (config: AppConfig) => PostgresTime.layer.pipe(Layer.provideMerge(connection(config)))

const connection = (config: AppConfig) =>
  config.profile === "embedded"
    ? Layer.unwrap(Effect.map(EmbeddedPostgres, ({ url }) => client({ url, connectionsMax: CONNECTIONS }))).pipe(
        Layer.provide(EmbeddedPostgres.layer({ dataDir: valueOf(config, "DATA_DIR") }))
      )
    : client({ url: config.DATABASE_URL!, connectionsMax: CONNECTIONS })
