/**
 * A connection of a lane's own: settings that suit one prepared statement sent over and over, opened when it is first
 * needed and again after it broke. Connections to PostgreSQL that end mid-statement all fail as retryable here.
 */
import { PgConnection, type PgClient } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { SqlError } from "effect/sql"

export type Rows = ReadonlyArray<ReadonlyArray<unknown>>

export interface LaneConnection {
  /** Positional rows of a prepared statement. */
  query(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<Rows, SqlError.SqlError>
}

/** The plan of an `unnest` statement is the same whatever the arrays hold, and never worth compiling. */
const startupParameters = {
  plan_cache_mode: "force_generic_plan",
  jit: "off",
  // Every table is reached by its key. A plan made while a table was empty must not scan it when it is full.
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  // A wallet that somebody else keeps locked must not hold up the calls of everybody.
  lock_timeout: "2s",
  statement_timeout: "30s"
}

export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig,
  lane: string
): Effect.fn.Return<LaneConnection, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let open: { readonly connection: PgConnection.PgConnection; readonly scope: Scope.Closeable } | undefined

  const connect = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const connection = yield* PgConnection.make({
      ...config,
      applicationName: `${config.applicationName ?? "agent-tool-billing"} ${lane}`,
      startupParameters: { ...config.startupParameters, ...startupParameters }
    }).pipe(
      Scope.provide(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
      Effect.mapError(asBroken)
    )
    open = { connection, scope: own }
    return open
  })

  const disconnect = Effect.suspend(() => {
    const broken = open
    open = undefined
    return broken === undefined ? Effect.void : Scope.close(broken.scope, Exit.void)
  })

  return {
    query: (sql, params) =>
      Effect.suspend(() => (open === undefined ? connect : Effect.succeed(open))).pipe(
        Effect.flatMap(({ connection }) => connection.queryValues(sql, params)),
        Effect.catch((error) =>
          isBroken(error) ? Effect.andThen(disconnect, Effect.fail(asBroken(error))) : Effect.fail(error)
        )
      )
  }
})

/** SQLSTATE 57P..: the server ends this session or is starting; 53…: it is out of connections, memory or disk. */
const isBroken = (error: SqlError.SqlError): boolean => {
  if (error.reason._tag === "ConnectionError") return true
  const cause = error.reason.cause
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
  return code.startsWith("57P") || code.startsWith("53")
}

const asBroken = (error: SqlError.SqlError): SqlError.SqlError =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({
      cause: error.reason.cause,
      message: error.message,
      operation: error.reason.operation
    })
  })
