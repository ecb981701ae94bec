/**
 * `migrate`: brings the schema up to date and says what was applied.
 */
import { Console, Effect, Layer } from "effect"
import { EmbeddedPostgres } from "../adapters/sql/embedded/EmbeddedPostgres.ts"
import * as migrations from "../migrations/index.ts"
import { type AppConfig, valueOf } from "./config/AppConfig.ts"
import { client } from "./layers/PostgresStores.ts"

const database = (config: AppConfig) =>
  config.profile === "embedded"
    ? Layer.unwrap(Effect.map(EmbeddedPostgres, ({ url }) => client({ url, connectionsMax: 2 }))).pipe(
      Layer.provide(EmbeddedPostgres.layer({ dataDir: valueOf(config, "DATA_DIR") }))
    )
    : client({ url: config.DATABASE_URL!, connectionsMax: 2 })

export const migrate = (config: AppConfig) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no schema.")
    : Effect.gen(function*() {
      const applied = yield* migrations.run
      yield* Console.log(
        applied.length === 0
          ? `The schema is up to date (${migrations.latestVersion}).`
          : `Applied ${applied.map(([, name]) => name).join(", ")}. The schema is at ${migrations.latestVersion}.`
      )
    }).pipe(Effect.provide(database(config)))
