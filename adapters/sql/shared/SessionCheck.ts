/**
 * Whether a connection to the database is a session of its own, with the settings that the service asks for. A connection
 * pooler in between may give each transaction another session, and drop settings. Prepared statements, LISTEN and limits on
 * locks would then fail later, in the middle of calls.
 */
import { PgClient, PgConnection, PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { DatabaseUnfit } from "./DatabaseCheck.ts"

const MARKER = "agent_tool_billing.session"
const ROUNDS = 4
/** A pooler whose pool is used up lets its clients wait. */
const CHECKED_WITHIN = "15 seconds"

const DIRECTLY = "or connect to PostgreSQL directly: the service pools its connections itself"
const SHARED_SESSIONS =
  "a connection pooler in between gives every transaction another session, but the service needs prepared statements and " +
  `LISTEN. Use pool_mode = session, ${DIRECTLY}.`
const NO_CONNECTION = `a connection pooler in between does not give it two connections at a time. Enlarge its pool (PgBouncer: default_pool_size), ${DIRECTLY}.`

/** In words; undefined without a pooler, and with one that is transparent. */
export const poolerProblem = Effect.fnUntraced(function* (config: PgClient.PgClientConfig) {
  const connect = PgConnection.make({ ...config, multiplex: false, prepare: false })
  const first = yield* connect
  const ask = (sql: string, ...params: ReadonlyArray<string>) =>
    Effect.map(first.queryValues(sql, params.map(PgTypes.text)), ([row]) => row?.[0])
  // Poolers give their clients process ids of their own.
  if ((yield* ask("SELECT pg_backend_pid()")) === first.processId) return undefined
  return yield* Effect.gen(function* () {
    const second = yield* connect
    const marker = randomBytes(8).toString("hex")
    yield* ask("SELECT set_config($1, $2, false)", MARKER, marker)
    for (let round = 0; round < ROUNDS; round++) {
      // In transaction mode, this takes the session that the first connection had.
      yield* second.queryValues("BEGIN")
      yield* second.queryValues("SELECT 1")
      const kept = yield* ask("SELECT current_setting($1, true)", MARKER)
      yield* second.queryValues("ROLLBACK")
      if (kept !== marker) return SHARED_SESSIONS
    }
    for (const [name, value] of Object.entries(config.startupParameters ?? {})) {
      const found = yield* ask("SELECT current_setting($1)", name)
      // In the form in which PostgreSQL shows it, and only in this statement.
      if (found === (yield* ask("SELECT set_config($1, $2, true)", name, value))) continue
      const role = yield* ask("SELECT current_user::text")
      return `a connection pooler in between drops the setting ${name}. Run \`ALTER ROLE ${String(role)} SET ${name} = '${value}'\` and restart the pooler, ${DIRECTLY}.`
    }
    return undefined
  }).pipe(Effect.timeoutOrElse({ duration: CHECKED_WITHIN, orElse: () => Effect.succeed(NO_CONNECTION) }))
}, Effect.scoped)

export const checkSession = Effect.gen(function* () {
  const { config } = yield* PgClient.PgClient
  const problem = yield* poolerProblem(config)
  if (problem !== undefined) return yield* new DatabaseUnfit({ problem })
})
