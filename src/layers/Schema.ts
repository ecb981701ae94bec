/**
 * Migrates the schema, as the role that owns the tables if there is a separate one.
 */
import { Effect, type Redacted } from "effect"
import { checkDatabase } from "../../adapters/sql/shared/DatabaseCheck.ts"
import { currentRole, grantTo, warnIfChangeable } from "../../adapters/sql/shared/ServiceRole.ts"
import * as migrations from "../../migrations/index.ts"
import { client } from "./PostgresClient.ts"

/** Uses the connection of the service's role; returns what was applied. */
export const migrateAs = (ownerUrl: Redacted.Redacted | undefined) =>
  ownerUrl === undefined
    ? Effect.andThen(checkDatabase, migrations.run)
    : Effect.gen(function* () {
        yield* migrations.rejectOldSchema
        const role = yield* currentRole
        return yield* Effect.gen(function* () {
          yield* checkDatabase
          const applied = yield* migrations.run
          yield* grantTo(role)
          return applied
        }).pipe(Effect.provide(client({ url: ownerUrl, connectionsMax: 1 })))
      })

/** Before the service opens. */
export const prepareSchema = (ownerUrl: Redacted.Redacted | undefined) =>
  Effect.andThen(migrateAs(ownerUrl), warnIfChangeable)
