/**
 * The pool of a program that embeds the stores. A connection belongs to the stores for one statement or one transaction: with
 * their settings, such as the schema of their tables, and afterwards with the settings that it had before.
 */
import { PgClient, type PgConnection, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"

const END_SESSION = "SELECT pg_terminate_backend(pg_backend_pid())"

/** A client of the stores on the connections of `host`. Needs no connection until the first statement. */
export const hostPool = Effect.fnUntraced(function* (
  host: PgClient.PgClient,
  settings: Readonly<Record<string, string>>
) {
  const names = Object.keys(settings)
  const values = Object.values(settings).map((value) => PgTypes.text(value))
  const set = names.map((name, i) => `set_config('${name}', $${i + 1}, false)`).join(", ")
  const apply = `WITH before AS MATERIALIZED (SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(", ")})
    SELECT ${names.join(", ")}, ${set} FROM before`

  const session = Effect.gen(function* () {
    const connection = yield* host.reserve
    let before: ReadonlyArray<unknown> = []
    yield* Effect.addFinalizer(() =>
      (before.length === 0
        ? Effect.forEach(names, (name) => connection.executeUnprepared(`RESET ${name}`, [], undefined), {
            discard: true
          })
        : connection.executeValues(
            `SELECT ${set}`,
            before.slice(0, names.length).map((value) => PgTypes.text(String(value)))
          )
      ).pipe(
        // The host must never get a connection with the settings of the stores.
        Effect.catch(() => connection.executeUnprepared(END_SESSION, [], undefined)),
        Effect.ignore
      )
    )
    const [row] = yield* connection.executeValues(apply, values)
    before = row!
    return connection
  })

  const client = yield* SqlClient.make({
    acquirer: session,
    transactionAcquirer: session,
    compiler: PgClient.makeCompiler(),
    driver: host.driver,
    spanAttributes: [["db.system.name", "postgresql"]],
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
  // Sessions that are held for long, and closed while their server is silent, are opened beside the pool.
  const config: PgClient.PgClientConfig = {
    ...host.config,
    applicationName: "agent-tool-billing",
    startupParameters: { ...host.config.startupParameters, ...settings }
  }
  const { json, listen, notify } = host
  return Object.assign(client, {
    [PgClient.TypeId]: PgClient.TypeId,
    config,
    json,
    listen,
    notify
  }) as PgClient.PgClient
})

/** PostgreSQL answers ROLLBACK to the COMMIT of a transaction that failed. */
const commit = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    if ((result as PgConnection.Result).command !== "ROLLBACK") return Effect.void
    const message = "COMMIT rolled back an aborted transaction"
    return Effect.fail(
      new SqlError.SqlError({
        reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "commit" })
      })
    )
  })
