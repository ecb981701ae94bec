/**
 * A second role on a test's database, which lives as long as the scope.
 */
import { Effect, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import { connectedTo } from "./TestDatabases.ts"

/** The URL of a new role that may connect, with the rights granted by the database's owner. */
export const asRole = Effect.fnUntraced(function* (
  ownerUrl: Redacted.Redacted,
  grant: (role: string) => Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient>
) {
  const role = `atb_service_${randomBytes(6).toString("hex")}`
  const asOwner = connectedTo(ownerUrl)
  yield* Effect.acquireRelease(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(sql`CREATE ROLE ${sql(role)} LOGIN PASSWORD 'service'`, grant(role))
    ).pipe(asOwner),
    () =>
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.andThen(sql`DROP OWNED BY ${sql(role)}`, sql`DROP ROLE ${sql(role)}`)
      ).pipe(asOwner, Effect.orDie)
  )
  const url = new URL(Redacted.value(ownerUrl))
  url.username = role
  url.password = "service"
  return Redacted.make(url.href)
})
