/**
 * SQL for the stores. A statement or transaction fails with `StoreUnavailable` where the database is away or busy, and dies
 * of any other failure.
 */
import { type Cause, Context, Effect, Effectable, Layer, Option } from "effect"
import { SqlClient, type SqlConnection, SqlError, type Statement } from "effect/sql"
import { pageOf, type PageRequest } from "../../../domain/shared/Page.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { step } from "../../../domain/shared/Telemetry.ts"
import { beginsBefore } from "./Rows.ts"
import { isReadOnly, raise, raiseAll } from "./SqlFailures.ts"

/**
 * Told when a server rejects writes, because it became a standby: its connections must not be used again. Default:
 * nothing is told.
 */
export const ReadOnlyServer = Context.Reference<{ reconnect(): void }>(
  "agent-tool-billing/adapters/sql/ReadOnlyServer",
  {
    defaultValue: () => ({ reconnect: () => undefined })
  }
)

export interface StoreSql extends Pick<SqlClient.SqlClient, "afterCommit" | "and" | "in" | "literal"> {
  <A extends object = SqlConnection.Row>(strings: TemplateStringsArray, ...args: Array<unknown>): StoreStatement<A>
  (identifier: string): Statement.Identifier
  /** A savepoint inside another transaction. */
  withTransaction<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R>
  readonly isInTransaction: Effect.Effect<boolean>
}

export const storeSql: Effect.Effect<StoreSql, never, SqlClient.SqlClient> = Effect.gen(function* () {
  const client = yield* SqlClient.SqlClient
  const { reconnect } = yield* ReadOnlyServer
  const { afterCommit, and, in: isIn, literal, transactionService } = client
  const notice = (cause: Cause.Cause<unknown>) =>
    Effect.sync(() => {
      if (cause.reasons.some(isRejectedWrite)) reconnect()
    })
  const sql = (first: TemplateStringsArray | string, ...args: Array<unknown>) =>
    typeof first === "string" ? client(first) : new StoreStatement(client(first, ...args), notice)
  return Object.assign(sql as StoreSql, {
    afterCommit,
    and,
    in: isIn,
    literal,
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.catchCause(Effect.tapCause(client.withTransaction(effect), notice), (cause) =>
        Effect.failCause(raiseAll(cause))
      ),
    isInTransaction: Effect.map(Effect.serviceOption(transactionService), Option.isSome)
  })
})

const isRejectedWrite = (reason: Cause.Reason<unknown>): boolean =>
  reason._tag === "Fail" && SqlError.isSqlError(reason.error) && isReadOnly(reason.error)

type Notice = (cause: Cause.Cause<unknown>) => Effect.Effect<void>

/** Executed, it returns its rows; interpolated into another statement, it is a part of that. */
export class StoreStatement<A extends object>
  extends Effectable.Class<ReadonlyArray<A>, StoreUnavailable>
  implements Statement.Fragment
{
  readonly "~effect/sql/Statement/Fragment" = "~effect/sql/Statement/Fragment"
  readonly segments: Statement.Fragment["segments"]
  private readonly statement: Statement.Statement<A>
  private readonly notice: Notice
  private readonly isPrepared: boolean

  constructor(statement: Statement.Statement<A>, notice: Notice, isPrepared = true) {
    super()
    this.statement = statement
    this.segments = statement.segments
    this.notice = notice
    this.isPrepared = isPrepared
  }

  /** Planned for its parameters, not once for all. */
  get unprepared(): StoreStatement<A> {
    return new StoreStatement(this.statement, this.notice, false)
  }

  /** The rows as values of the domain. */
  all<B>(read: (row: A) => B): Effect.Effect<ReadonlyArray<B>, StoreUnavailable> {
    return Effect.map(this, (rows) => rows.map((row) => read(row)))
  }

  /** The first row, if there is one. */
  first<B>(read: (row: A) => B): Effect.Effect<Option.Option<B>, StoreUnavailable> {
    return Effect.map(this, ([row]) => (row === undefined ? Option.none() : Option.some(read(row))))
  }

  /** The row of a statement that always returns one, such as a total. */
  one<B>(read: (row: A) => B): Effect.Effect<B, StoreUnavailable> {
    return Effect.map(this, ([row]) => read(row!))
  }

  /** Of a write whose rows do not matter. */
  get done(): Effect.Effect<void, StoreUnavailable> {
    return Effect.asVoid(this)
  }

  get count(): Effect.Effect<number, StoreUnavailable> {
    return Effect.map(this, (rows) => rows.length)
  }

  /** A write with RETURNING has rows if it changed something. */
  get hasRows(): Effect.Effect<boolean, StoreUnavailable> {
    return Effect.map(this, (rows) => rows.length > 0)
  }

  /** The only value of the only row, such as a count. */
  get number(): Effect.Effect<number, StoreUnavailable> {
    return Effect.map(this, ([row]) => Number(Object.values(row!)[0]))
  }

  asEffect(): Effect.Effect<ReadonlyArray<A>, StoreUnavailable> {
    const sent = this.isPrepared ? this.statement : this.statement.unprepared
    return storeFailures(Effect.tapCause(sent, this.notice))
  }
}

/** The layer of a store that needs only statements. */
export const storeLayer = <Id, Store extends object>(
  store: Context.Key<Id, Store>,
  make: (sql: StoreSql) => NoInfer<Store>
): Layer.Layer<Id, never, SqlClient.SqlClient> =>
  Layer.effect(
    store,
    Effect.map(storeSql, (sql) => tracedStore(store, make(sql)))
  )

type Work = Effect.Effect<unknown>
type Method = Work | ((...given: ReadonlyArray<unknown>) => Work)

/** Its methods are steps of what is traced, such as `PostgresLoadStore.find`. */
export const tracedStore = <Id, Store extends object>(
  { key }: Context.Key<Id, Store>,
  methods: NoInfer<Store>
): Store => {
  const prefix = `Postgres${key.slice(key.lastIndexOf("/") + 1)}`
  const all: ReadonlyArray<[string, Method]> = Object.entries(methods)
  return Object.fromEntries(all.map(([name, method]) => [name, stepOf(method, `${prefix}.${name}`)])) as Store
}

const stepOf = (method: Method, name: string): Method =>
  typeof method === "function" ? (...given) => step(method(...given), name) : step(method, name)

/** Maps the failures of statements that the client itself sends. */
export const storeFailures = <A, R>(
  effect: Effect.Effect<A, SqlError.SqlError, R>
): Effect.Effect<A, StoreUnavailable, R> => effect.pipe(Effect.catch(raise))

// Deletes old rows in bounded portions. Rows that another transaction has locked wait for the next round.

/** Deletes at most `limit` of the rows for which `isOld` holds, and returns their number. */
export const prune = (
  sql: StoreSql,
  table: string,
  isOld: Statement.Fragment,
  limit: number
): Effect.Effect<number, StoreUnavailable> =>
  sql`
    WITH gone AS (
      DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${sql(table)} WHERE ${isOld} LIMIT ${limit} FOR UPDATE SKIP LOCKED))
      RETURNING 1
    ) SELECT count(*) FROM gone`.number

/** The same for a table that may be distributed, where only keys identify rows. They are not locked first. */
export const pruneByKey = (
  sql: StoreSql,
  table: string,
  key: string,
  isOld: Statement.Fragment,
  limit: number
): Effect.Effect<number, StoreUnavailable> =>
  sql`
    DELETE FROM ${sql(table)} WHERE (${sql.literal(key)}) IN (
      SELECT ${sql.literal(key)} FROM ${sql(table)} WHERE ${isOld} LIMIT ${limit})
    RETURNING 1 AS gone`.unprepared.count

interface Listed<Row extends object, A> {
  readonly table: string
  /** Default: all. */
  readonly columns?: string
  /** The column of ids that grow with time. Default: `id`. */
  readonly id?: string
  readonly where: Statement.Fragment
  /** Larger totals are not counted. */
  readonly countedMax?: number
  readonly read: (row: Row) => A
}

/** A page of a table in the order of ids, newest first. Planned for its conditions. */
export const pageById = Effect.fnUntraced(function* <Row extends object, A extends { readonly id: string }>(
  sql: StoreSql,
  page: PageRequest,
  { columns = "*", countedMax, id = "id", read, table, where }: Listed<Row, A>
) {
  const limit = countedMax === undefined ? sql`` : sql`LIMIT ${countedMax}`
  const total = yield* sql`
    SELECT count(*) FROM (SELECT 1 FROM ${sql(table)} WHERE ${where} ${limit}) counted`.unprepared.number
  const rows = yield* sql<Row>`
    SELECT ${sql.literal(columns)} FROM ${sql(table)} WHERE ${where} AND ${sql(id)} < ${beginsBefore(page)}
    ORDER BY ${sql(id)} DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(read)
  return pageOf(rows, page.limit, total, (last) => ({ key: "", id: last.id }))
})
