/**
 * The dedicated connection of a lane. Its settings suit one prepared statement that is sent repeatedly. It is opened at
 * first use and again after it breaks. All connections that end during a statement fail as retryable here. So does a
 * connection that is silent for longer than any statement may take, because its peer may be gone.
 *
 * Before a statement is retried, the server ends the session of the broken connection. By then, what was sent over it
 * is done or will never be done, however late the network delivers it.
 */
import { type PgClient, PgConnection, PgTypes } from "@effect/sql-pg"
import { Duration, Effect, Exit, Redacted, Result, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { makeDeadlines } from "../../../domain/shared/Deadlines.ts"
import { connectionError, isConnectionLost, isReadOnly } from "./SqlFailures.ts"

// Rows as single values. "SELECT f()" of a function with several results takes the server 3 us less than
// "SELECT * FROM f()", which stores the row before it reads it.

const RECORD_OID = 2249

const decode = (bytes: Uint8Array): ReadonlyArray<unknown> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const values: Array<unknown> = []
  let at = 4
  for (let left = view.getInt32(0); left > 0; left--) {
    const oid = view.getInt32(at)
    const size = view.getInt32(at + 4)
    at += 8
    values.push(size < 0 ? null : Result.getOrThrow(PgTypes.decode(bytes.subarray(at, at + size), oid, 1)))
    at += Math.max(size, 0)
  }
  return values
}

/** Registers for all connections: a registry of one connection would make its other types slower. */
const registerRecords = (): void =>
  PgTypes.register(RECORD_OID, {
    encode: () => Result.fail(new PgTypes.CodecError({ message: "Records can only be read" })),
    decode: (bytes) => Result.succeed(decode(bytes))
  })

type Rows = ReadonlyArray<ReadonlyArray<unknown>>

export interface LaneConnection {
  /** Positional rows of a prepared statement. */
  query(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<Rows, SqlError.SqlError>
}

/** Identifies a session at the server. Process ids are reused, so the start time is part of it. */
interface Session {
  readonly pid: number
  readonly startedAt: string
}

interface Open {
  readonly connection: PgConnection.PgConnection
  readonly scope: Scope.Closeable
  readonly to: PgClient.PgClientConfig
}

const SESSION = `SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()`
const END_SESSION = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
  WHERE pid = $1 AND backend_start = $2::timestamptz`

const settings = {
  // The plan of an `unnest` statement is never worth compiling.
  jit: "off",
  // Every table is accessed by its key. A plan made while a table was empty must not scan it when it is full.
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  // A wallet that another transaction keeps locked must not delay the calls of all consumers.
  lock_timeout: "2s",
  statement_timeout: "10s"
}

/**
 * A statement sets them, because a connection pooler drops settings of the startup message. The plan of an `unnest` statement
 * does not depend on the content of the arrays. Citus finds the shard in them, so it plans each time.
 */
const APPLY = `SELECT set_config('plan_cache_mode',
  CASE WHEN to_regproc('citus_version') IS NULL THEN 'force_generic_plan' ELSE 'auto' END, false), ${Object.entries(
    settings
  )
    .map(([name, value]) => `set_config('${name}', '${value}', false)`)
    .join(", ")}`

/** The silence is longer than `statement_timeout`, by the time that a response may take on the network. */
const SILENCE_MS = 12_000
const CONNECT_TIMEOUT = Duration.seconds(3)

/** `config` is asked before each statement: the connection follows a server that moves. */
export const make = Effect.fnUntraced(function* (
  config: () => PgClient.PgClientConfig,
  lane: string,
  silenceMs: number = SILENCE_MS
): Effect.fn.Return<LaneConnection, never, Scope.Scope> {
  registerRecords()
  const scope = yield* Effect.scope
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const deadlines = yield* makeDeadlines
  let open: Open | undefined
  let last: Session | undefined

  const connect = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const to = config()
    const connection = yield* PgConnection.make({
      ...to,
      connectTimeout: CONNECT_TIMEOUT,
      applicationName: `${to.applicationName ?? "agent-tool-billing"} ${lane}`
    }).pipe(
      Scope.provide(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
      Effect.mapError(asBroken)
    )
    const fresh: Open = { connection, scope: own, to }
    yield* takeOver(fresh).pipe(Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))))
    open = fresh
    return fresh
  })

  const takeOver = Effect.fnUntraced(function* (fresh: Open) {
    if (last !== undefined) {
      const [ended] = yield* ask(END_SESSION, [PgTypes.int4(last.pid), PgTypes.text(last.startedAt)])(fresh)
      if (ended?.[0] === false) return yield* sessionNotEnded(last)
    }
    yield* ask(APPLY, [])(fresh)
    const [session] = yield* ask(SESSION, [])(fresh)
    last = { pid: Number(session![0]), startedAt: String(session![1]) }
  })

  const disconnect = Effect.suspend(() => {
    const broken = open
    open = undefined
    return broken === undefined ? Effect.void : Scope.close(broken.scope, Exit.void)
  })

  /** Closing the connection fails the statement that waits on it, as a broken connection would. */
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
      Effect.suspend(() => {
        if (open === undefined) return connect
        return isSameServer(open.to, config()) ? Effect.succeed(open) : Effect.andThen(disconnect, connect)
      }).pipe(
        Effect.flatMap(ask(sql, params)),
        Effect.catch((error) => {
          if (isConnectionLost(error)) return Effect.andThen(disconnect, Effect.fail(asBroken(error)))
          // A standby did nothing. The next connection may lead to the primary.
          return isReadOnly(error) ? Effect.andThen(disconnect, Effect.fail(error)) : Effect.fail(error)
        })
      )
  }
})

const isSameServer = (a: PgClient.PgClientConfig, b: PgClient.PgClientConfig): boolean =>
  a === b || (a.url !== undefined && b.url !== undefined && Redacted.value(a.url) === Redacted.value(b.url))

const sessionNotEnded = ({ pid }: Session): SqlError.SqlError => {
  const cause = new Error(`PostgreSQL's process ${pid} does not end`)
  return connectionError("connect", "The session of the connection before has not ended", cause)
}

const asBroken = ({ message, reason }: SqlError.SqlError): SqlError.SqlError =>
  connectionError(reason.operation, message, reason.cause)
