/**
 * `migrate`: updates the database schema and prints what was applied.
 */
import { Console, Effect } from "effect"
import * as migrations from "../migrations/index.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { database, migrateSchema, OwnerUrl } from "./layers/Database.ts"

export const migrate = (config: AppConfig) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no schema.")
    : Effect.gen(function* () {
        const applied = yield* migrateSchema({ ownerUrl: yield* OwnerUrl })
        yield* Console.log(
          applied.length === 0
            ? `The schema is up to date (${migrations.latestVersion}).`
            : `Applied ${applied.map(([, name]) => name).join(", ")}. The schema is at ${migrations.latestVersion}.`
        )
      }).pipe(Effect.provide(database(config)))
