/**
 * The dedicated connection of a lane. Its settings suit one prepared statement that is sent repeatedly. It is opened at
 * first use and again after it breaks. All connections that end during a statement fail as retryable here. So does a
 * connection that is silent for longer than any statement may take, because its peer may be gone.
 *
 * Before a statement is retried, the server ends the session of the broken connection. By then, what was sent over it
 * is done or will never be done, however late the network delivers it.
 */
import { type PgClient, PgConnection, PgTypes } from "@effect/sql-pg"
import { Duration, Effect, Exit, Result, Scope } from "effect"
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
}

const SESSION = `SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()`
const END_SESSION = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
  WHERE pid = $1 AND backend_start = $2::timestamptz`

/** The plan of an `unnest` statement does not depend on the content of the arrays, and is never worth compiling. */
const settings = {
  plan_cache_mode: "force_generic_plan",
  jit: "off",
  // Every table is accessed by its key. A plan made while a table was empty must not scan it when it is full.
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  // A wallet that another transaction keeps locked must not delay the calls of all consumers.
  lock_timeout: "2s",
  statement_timeout: "10s"
}

/** A statement sets them, because a connection pooler drops settings of the startup message. */
const APPLY = `SELECT ${Object.entries(settings)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(", ")}`

/** The silence is longer than `statement_timeout`, by the time that a response may take on the network. */
const SILENCE_MS = 12_000
const CONNECT_TIMEOUT = Duration.seconds(3)

export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig,
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
    const connection = yield* PgConnection.make({
      ...config,
      connectTimeout: CONNECT_TIMEOUT,
      applicationName: `${config.applicationName ?? "agent-tool-billing"} ${lane}`
    }).pipe(
      Scope.provide(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
      Effect.mapError(asBroken)
    )
    const fresh: Open = { connection, scope: own }
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
      Effect.suspend(() => (open === undefined ? connect : Effect.succeed(open))).pipe(
        Effect.flatMap(ask(sql, params)),
        Effect.catch((error) => {
          if (isConnectionLost(error)) return Effect.andThen(disconnect, Effect.fail(asBroken(error)))
          // A standby did nothing. The next connection may lead to the primary.
          return isReadOnly(error) ? Effect.andThen(disconnect, Effect.fail(error)) : Effect.fail(error)
        })
      )
  }
})

const sessionNotEnded = ({ pid }: Session): SqlError.SqlError => {
  const cause = new Error(`PostgreSQL's process ${pid} does not end`)
  return connectionError("connect", "The session of the connection before has not ended", cause)
}

const asBroken = ({ message, reason }: SqlError.SqlError): SqlError.SqlError =>
  connectionError(reason.operation, message, reason.cause)
