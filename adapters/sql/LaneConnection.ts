/**
 * A connection of a lane's own: settings that suit one prepared statement sent over and over, opened when it is first
 * needed and again after it broke. Connections to PostgreSQL that end mid-statement all fail as retryable here; so does one
 * that is silent for longer than any statement may take: its peer is gone, or might as well be.
 */
import { PgConnection, type PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Exit, Scope } from "effect"
import { SqlError } from "effect/sql"
import { makeDeadlines } from "../../domain/shared/Deadlines.ts"

export type Rows = ReadonlyArray<ReadonlyArray<unknown>>

export interface LaneConnection {
  /** Positional rows of a prepared statement. */
  query(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<Rows, SqlError.SqlError>
}

interface Open {
  readonly connection: PgConnection.PgConnection
  readonly scope: Scope.Closeable
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
  statement_timeout: "10s"
}

/** Longer than `statement_timeout`, by what the answer may need on its way. */
export const LaneSilenceMs = Context.Reference<number>("agent-tool-billing/adapters/sql/LaneSilenceMs", {
  defaultValue: () => 12_000
})
const CONNECT_TIMEOUT = Duration.seconds(3)

export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig,
  lane: string
): Effect.fn.Return<LaneConnection, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const silenceMs = yield* LaneSilenceMs
  const deadlines = yield* makeDeadlines
  let open: Open | undefined

  const connect = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const connection = yield* PgConnection.make({
      ...config,
      connectTimeout: CONNECT_TIMEOUT,
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

  /** Closing fails the statement that waits on it, as a connection that broke would. */
  const ask = (sql: string, params: ReadonlyArray<unknown>) => (on: Open) =>
    Effect.suspend(() => {
      const deadline = deadlines.start(silenceMs, () => run(Scope.close(on.scope, Exit.void)))
      return Effect.ensuring(
        on.connection.queryValues(sql, params),
        Effect.sync(() => deadline.end())
      )
    })

  return {
    query: (sql, params) =>
      Effect.suspend(() => (open === undefined ? connect : Effect.succeed(open))).pipe(
        Effect.flatMap(ask(sql, params)),
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
