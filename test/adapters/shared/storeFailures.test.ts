/**
 * Which failures of PostgreSQL a store passes on as `StoreUnavailable`, and which are defects.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlError } from "effect/sql"
import * as PostgresAccountStores from "../../../adapters/sql/accounts/PostgresAccountStores.ts"
import * as PostgresUnitOfWork from "../../../adapters/sql/shared/PostgresUnitOfWork.ts"
import { raiseAll, unavailableReason } from "../../../adapters/sql/shared/SqlFailures.ts"
import { storeSql } from "../../../adapters/sql/shared/StoreSql.ts"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { DatabaseLink } from "../../support/servers/DatabaseLink.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

const failure = (reason: SqlError.SqlErrorReason) => new SqlError.SqlError({ reason })
const state = (code: string) => failure(new SqlError.UnknownError({ cause: { code } }))
/** As Citus names no SQLSTATE for it. */
const splitting = (message: string) => failure(new SqlError.UnknownError({ cause: new Error(message) }))

it("names the reason, by the kind of failure and its SQLSTATE", () => {
  const cause = "no"
  const expected = [
    [failure(new SqlError.ConnectionError({ cause })), "unreachable"],
    [state("57P01"), "unreachable"],
    [state("57P03"), "unreachable"],
    [failure(new SqlError.LockTimeoutError({ cause })), "busy"],
    [failure(new SqlError.StatementTimeoutError({ cause })), "busy"],
    [failure(new SqlError.DeadlockError({ cause })), "busy"],
    [failure(new SqlError.SerializationError({ cause })), "busy"],
    [splitting("could not find valid entry for shard 102034"), "busy"],
    [splitting("shard for the given value does not exist"), "busy"],
    [splitting("could not find the way"), undefined],
    [state("53200"), "busy"],
    [state("53300"), "busy"],
    [failure(new SqlError.ConnectionError({ cause: { code: "53300" } })), "busy"],
    [state("53100"), "disk_full"],
    [failure(new SqlError.ConnectionError({ cause: { code: "53100" } })), "disk_full"],
    [failure(new SqlError.AuthenticationError({ cause })), "unreachable"],
    [state("25006"), "unreachable"],
    [failure(new SqlError.AuthorizationError({ cause })), undefined],
    [failure(new SqlError.SqlSyntaxError({ cause })), undefined],
    [failure(new SqlError.UniqueViolation({ cause, constraint: "one" })), undefined],
    [failure(new SqlError.ConstraintError({ cause })), undefined],
    [failure(new SqlError.UnknownError({ cause })), undefined],
    [state("P0001"), undefined],
    [state("22003"), undefined]
  ] as const
  for (const [error, reason] of expected) assert.strictEqual(unavailableReason(error), reason, error.message)
})

it("keeps what is no failure of SQL, and finds failures of SQL among defects", () => {
  const [lost, broken] = [failure(new SqlError.ConnectionError({ cause: "cut" })), state("42P01")]
  const [domain, bug] = ["InsufficientBalance", new Error("a bug")]
  const cause = Cause.fromReasons<string | SqlError.SqlError>([
    Cause.makeFailReason(domain),
    Cause.makeDieReason(bug),
    Cause.makeDieReason(lost),
    Cause.makeFailReason(broken)
  ])
  const [first, second, third, fourth] = raiseAll(cause).reasons
  assert.deepInclude(first, { _tag: "Fail", error: domain })
  assert.deepInclude(second, { _tag: "Die", defect: bug })
  assert.isTrue(third?._tag === "Fail" && typeof third.error === "object" && third.error.reason === "unreachable")
  assert.deepInclude(fourth, { _tag: "Die", defect: broken })
})

const linked = Layer.mergeAll(PostgresAccountStores.layer, PostgresUnitOfWork.layer).pipe(
  Layer.provideMerge(Layer.unwrap(Effect.map(DatabaseLink, ({ url }) => PgClient.layer({ url, maxConnections: 2 })))),
  Layer.provideMerge(DatabaseLink.layer),
  Layer.provideMerge(PostgresTest.layerDatabase)
)

it.layer(linked, { timeout: "120 seconds", excludeTestServices: true })(
  "A program on the stores of PostgreSQL",
  (it) => {
    it.effect("gets an unavailable store as a typed failure, also in a unit of work that it interrupts", () =>
      Effect.gen(function* () {
        const link = yield* DatabaseLink
        const accounts = yield* AccountStore
        const { atomically } = yield* UnitOfWork
        assert.deepStrictEqual(yield* accounts.counts, { providers: 0, consumers: 0 })
        const cutInside = atomically(accounts.counts.pipe(Effect.andThen(link.cut), Effect.andThen(accounts.counts)))
        for (const asked of [cutInside, accounts.counts, atomically(accounts.counts)]) {
          const exit = yield* Effect.exit(asked)
          assert.isTrue(Exit.isFailure(exit))
          const reasons = Exit.isFailure(exit) ? exit.cause.reasons : []
          assert.isNotEmpty(reasons)
          for (const reason of reasons) {
            assert.isTrue(reason._tag === "Fail" && reason.error._tag === "StoreUnavailable", JSON.stringify(reason))
            assert.isTrue(reason._tag === "Fail" && SqlError.isSqlError(reason.error.cause))
          }
        }
        yield* link.restore
        yield* Effect.retry(accounts.counts, { times: 100 })
      })
    )

    it.effect("gets a typed failure from a primary that became a standby", () =>
      Effect.gen(function* () {
        const { url } = yield* PostgresTest
        const startupParameters = { default_transaction_read_only: "on" }
        const failed = yield* Effect.gen(function* () {
          const sql = yield* storeSql
          return yield* Effect.flip(sql`CREATE TABLE one (n int4)`)
        }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1, startupParameters })))
        assert.strictEqual(failed.reason, "unreachable")
        assert.match(failed.detail, /^unreachable \(cannot execute CREATE TABLE in a read-only transaction\)$/u)
      })
    )

    it.effect("dies of a statement that is wrong", () =>
      Effect.gen(function* () {
        const sql = yield* storeSql
        const exit = yield* Effect.exit(sql`SELECT nothing FROM nowhere`)
        assert.isTrue(Exit.hasDies(exit) && !Exit.hasFails(exit))
      })
    )

    it.effect("builds statements from parts, which are executed only in the whole", () =>
      Effect.gen(function* () {
        const sql = yield* storeSql
        const one = sql`SELECT ${1}::int4 AS n`
        const parts = sql.and([sql`n = ${1}`, sql.in("n", [1, 2]), sql.literal("true")])
        assert.deepStrictEqual(yield* sql<{ n: number }>`SELECT n FROM (${one}) ${sql("given")} WHERE ${parts}`, [
          { n: 1 }
        ])
        assert.deepStrictEqual(yield* sql`${one}`.unprepared, [{ n: 1 }])
        assert.isFalse(yield* sql.isInTransaction)
        assert.isTrue(yield* sql.withTransaction(sql.isInTransaction))
      })
    )
  }
)
