/**
 * One SQLite database on Node's own `node:sqlite`, for one process. All fibers share one connection, so a unit of work has
 * it to itself: other statements wait until it ends. Nested units are savepoints.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { StoreUnavailable, type UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import { raise } from "./SqliteFailures.ts"
import { prepareSchema } from "./SqliteSchema.ts"

/** Statements of one step. Integers are bigint in both directions. */
export interface Statements {
  all<Row>(text: string, ...values: ReadonlyArray<SQLInputValue>): ReadonlyArray<Row>
  /** Row by row, for tables that do not fit into memory. */
  each<Row>(text: string): Iterable<Row>
}

/** A transaction or savepoint. Its statements and inner units run one at a time, so that none undoes the work of another. */
interface Unit {
  readonly depth: number
  readonly turn: Semaphore.Semaphore
  isOpen: boolean
}

/** The units of the fiber, each by the outermost level of its connection. */
const CurrentUnits = Context.Reference<ReadonlyMap<Unit, Unit>>("agent-tool-billing/adapters/sqlite/CurrentUnits", {
  defaultValue: () => new Map()
})

/** Another process may hold the lock. The wait blocks this process, so it is short. */
const LOCK_WAIT_MS = 100

export class SqliteConnection extends Context.Service<
  SqliteConnection,
  {
    /** One step of synchronous statements. More than one write needs `atomically`. */
    run<A>(work: (sql: Statements) => A): Effect.Effect<A, StoreUnavailable>
    readonly atomically: UnitOfWork["Service"]["atomically"]
  }
>()("agent-tool-billing/adapters/sqlite/SqliteConnection") {
  static readonly layer = (file: string) => Layer.effect(SqliteConnection, connect(file))
}

const step = <A>(work: () => A): Effect.Effect<A, StoreUnavailable> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(work())
    } catch (error) {
      return raise(error)
    }
  })

const connect = Effect.fnUntraced(function* (file: string) {
  const database = yield* Effect.acquireRelease(
    step(() => new DatabaseSync(file)),
    (open) => Effect.sync(() => open.close())
  )
  yield* step(() => {
    // FULL: a commit is on the disk before it is answered.
    database.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
    prepareSchema(database)
  })

  const root: Unit = { depth: 0, turn: Semaphore.makeUnsafe(1), isOpen: true }
  const prepared = new Map<string, StatementSync>()
  const prepare = (text: string): StatementSync => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const statement = database.prepare(text)
    statement.setReadBigInts(true)
    prepared.set(text, statement)
    return statement
  }
  const statements: Statements = {
    all: <Row>(text: string, ...values: ReadonlyArray<SQLInputValue>) =>
      prepare(text)
        .all(...values)
        .map((row) => ({ ...row }) as Row),
    each: <Row>(text: string) => prepare(text).iterate() as Iterable<Row>
  }

  /** SQLite itself rolls back a transaction whose statement fails for lack of disk space: nothing may follow in it. */
  const isLost = ({ depth }: Unit): boolean => depth > 0 && !database.isTransaction

  const inTurn = <A, E, R>(work: (unit: Unit) => Effect.Effect<A, E, R>) =>
    Effect.withFiber<A, E | StoreUnavailable, R>((fiber) => {
      const unit = fiber.getRef(CurrentUnits).get(root) ?? root
      return unit.turn.withPermit(
        Effect.suspend((): Effect.Effect<A, E | StoreUnavailable, R> => {
          if (!unit.isOpen) return Effect.die(new Error("This unit of work has ended. Start another one."))
          return isLost(unit) ? Effect.fail(rolledBack()) : work(unit)
        })
      )
    })

  const begin = ({ depth }: Unit) => step(() => database.exec(depth === 1 ? "BEGIN IMMEDIATE" : `SAVEPOINT u${depth}`))

  const commit = (unit: Unit) =>
    isLost(unit)
      ? Effect.fail(rolledBack())
      : step(() => database.exec(unit.depth === 1 ? "COMMIT" : `RELEASE u${unit.depth}`))

  const rollBack = (unit: Unit) =>
    Effect.sync(() => {
      if (isLost(unit)) return
      database.exec(unit.depth === 1 ? "ROLLBACK" : `ROLLBACK TO u${unit.depth}; RELEASE u${unit.depth}`)
    })

  const atomically = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    inTurn((outer) =>
      Effect.withFiber<A, E | StoreUnavailable, R>((fiber) => {
        const unit: Unit = { depth: outer.depth + 1, turn: Semaphore.makeUnsafe(1), isOpen: true }
        const units = new Map(fiber.getRef(CurrentUnits)).set(root, unit)
        return Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            yield* begin(unit)
            const exit = yield* Effect.exit(restore(Effect.provideService(effect, CurrentUnits, units)))
            // Waits for an inner unit of a fiber that outlives the effect.
            yield* unit.turn.withPermit(
              Effect.sync(() => {
                unit.isOpen = false
              })
            )
            if (exit._tag === "Failure") yield* rollBack(unit)
            else yield* Effect.onError(commit(unit), () => rollBack(unit))
            return yield* exit
          })
        )
      })
    )

  return SqliteConnection.of({ run: (work) => inTurn(() => step(() => work(statements))), atomically })
})

const rolledBack = () =>
  new StoreUnavailable({ reason: "unreachable", cause: new Error("SQLite has rolled back the transaction") })
