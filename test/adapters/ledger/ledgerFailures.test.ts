/**
 * Calls and the ledger while PostgreSQL fails, and what only the database itself guarantees. What every store must do is in
 * `test/contracts`.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Latch, Layer, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { inject } from "vitest"
import * as PostgresCallStore from "../../../adapters/sql/metering/PostgresCallStore.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { lotDayOf } from "../../../domain/ledger/Transfer.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import {
  aCall,
  atOnce,
  aToolId,
  closingOf,
  consumerWith,
  money,
  opened,
  OPENED_AT,
  settled,
  tagsOf
} from "../../contracts/ledgerSamples.ts"
import { onEveryNode } from "../../support/servers/CitusCluster.ts"
import { countCalls } from "../../support/market/CountedCalls.ts"
import { lossyConfig } from "../../support/servers/LossyStream.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { LIVE, PostgresTest } from "../../support/servers/PostgresTest.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

/** How long a lane waits for the lock of a wallet. */
const LOCK_TIMEOUT_MS = 2_000

/** Terminates the sessions of all lanes in this database, and returns their number. */
const killLanes = Effect.map(
  onEveryNode(
    (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name ~ ' calls( \\d+)?$'`
  ),
  (killed) => killed.flat().length
)

const sqlStateOf = (exit: Exit.Exit<unknown, SqlError.SqlError>): string => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  const cause = SqlError.isSqlError(error) ? error.reason.cause : undefined
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "none"
}

it.layer(postgresLedgerPorts, LIVE)("Over PostgreSQL", (it) => {
  it.effect(
    "opens, closes and bills each call once while the sessions of the lane are killed",
    () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumers = yield* Effect.forEach(Array.from({ length: 10 }), () => consumerWith(10_000_000))
        let closed = 0
        let kills = 0
        // By progress, not by time: a batch is tried a limited number of times, and a busy machine tries slowly.
        const killer = yield* Effect.forkChild(
          Effect.forever(
            Effect.gen(function* () {
              kills += yield* killLanes
              const before = closed
              yield* eventually(() => closed >= before + 100, 120_000)
            })
          )
        )
        const closings = yield* atOnce(64, (caller) =>
          Effect.forEach(Array.from({ length: 25 }), () =>
            Effect.tap(Effect.flatMap(aCall(consumers[caller % 10]!), settled), () => Effect.sync(() => closed++))
          )
        )
        yield* Fiber.interrupt(killer)
        assert.isAtLeast(kills, 5)
        assert.lengthOf(closings.flat(), 1_600)
        const wallets = yield* Effect.forEach(consumers, ledger.wallet)
        assert.strictEqual(
          wallets.reduce((sum, wallet) => sum + wallet.debits, 0n),
          1_600_000n
        )
        assert.strictEqual(
          wallets.reduce((sum, wallet) => sum + wallet.held, 0n),
          0n
        )
        assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
      }),
    180_000
  )

  it.effect(
    "opens, closes and bills each call of a batch once when responses are lost after the commit",
    () =>
      Effect.gen(function* () {
        const { url } = yield* PostgresTest
        const ledger = yield* Ledger
        const consumers = yield* Effect.forEach(Array.from({ length: 10 }), () => consumerWith(10_000_000))
        const free = { toolId: yield* aToolId, freeTierCalls: 100_000 }
        let connections = 0
        // The first packets open the session; then there is one per batch.
        const lossy = lossyConfig(url, () => 6 + (connections++ % 4))
        const node = Layer.fresh(PostgresCallStore.layer.pipe(Layer.provide(PgClient.layer(lossy))))
        yield* atOnce(40, (caller) =>
          Effect.gen(function* () {
            const consumerId = consumers[caller % 10]!
            for (let n = 0; n < 10; n++) {
              yield* settled(yield* aCall(consumerId))
              yield* settled(yield* aCall(consumerId, free), { cost: 0 })
            }
          })
        ).pipe(Effect.provide(node))
        assert.isAbove(connections, 5)
        const wallets = yield* Effect.forEach(consumers, ledger.wallet)
        for (const wallet of wallets) assert.deepInclude(wallet, { debits: 40_000n, held: 0n })
        const calls = yield* CallStore
        const standings = yield* Effect.forEach(consumers, (id) => calls.callFunds(id, free.toolId, OPENED_AT))
        for (const standing of standings) assert.strictEqual(standing.freeCallsUsed, 40)
        assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
      }),
    180_000
  )

  it.effect("fails only the call of a batch that the database rejects", () =>
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(100_000)
      const many = yield* Effect.forEach(Array.from({ length: 20 }), (_, n) =>
        aCall(consumerId, n === 13 ? { toolName: "a\u0000b" } : {})
      )
      const exits = yield* Effect.forEach(many, (call) => Effect.exit(calls.open(call)), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        exits.flatMap((exit, n) => (Exit.isFailure(exit) ? [n] : [])),
        [13]
      )
      assert.strictEqual((yield* (yield* Ledger).wallet(consumerId)).held, 19_000n)
    })
  )

  it.effect(
    "fails calls without a hold while the database is unavailable, and opens calls again afterwards",
    () =>
      Effect.gen(function* () {
        const { database } = yield* PostgresTest
        const admin = connectedTo(Redacted.make(inject("testDatabases").adminUrl))
        const allowConnections = (allowed: boolean) =>
          onEveryNode(
            (sql) => sql`ALTER DATABASE ${sql(database)} ALLOW_CONNECTIONS ${sql.literal(String(allowed))}`
          ).pipe(admin)
        const calls = yield* CallStore
        const consumerId = yield* consumerWith(10_000)
        const [failing, succeeding] = [yield* aCall(consumerId), yield* aCall(consumerId)]
        yield* allowConnections(false)
        yield* killLanes
        const exit = yield* Effect.exit(calls.open(failing))
        yield* allowConnections(true)
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StoreUnavailable)
        assert.strictEqual((yield* calls.open(succeeding))._tag, "Opened")
        assert.strictEqual((yield* (yield* Ledger).wallet(consumerId)).held, 1_000n)
      }),
    180_000
  )

  it.effect(
    "delays other calls by at most one lock timeout when a wallet stays locked",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const calls = yield* CallStore
        const [stuck, others] = [yield* consumerWith(10_000), yield* consumerWith(1_000_000)]
        const [locked, done] = [yield* Latch.make(), yield* Latch.make()]
        const holder = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT 1 FROM wallets WHERE consumer_id = ${stuck} FOR UPDATE`
              yield* locked.open
              yield* done.await
            })
          )
        )
        yield* locked.await
        const atMs = performance.now()
        const exits = yield* atOnce(64, (n) =>
          Effect.exit(Effect.flatMap(aCall(n === 40 ? stuck : others), calls.open))
        )
        // The others wait for one lock timeout. Waiting again in each half of a split batch would take seven.
        assert.isBelow(performance.now() - atMs, 5 * LOCK_TIMEOUT_MS)
        yield* done.open
        yield* Fiber.join(holder)
        assert.deepStrictEqual(
          exits.map(Exit.isSuccess),
          exits.map((_, n) => n !== 40)
        )
        assert.strictEqual((yield* calls.open(yield* aCall(stuck)))._tag, "Opened")
      }),
    180_000
  )

  it.effect("rejects every update of a wallet that would make its available balance negative", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const consumerId = yield* consumerWith(1_000)
      yield* opened(yield* aCall(consumerId, { holdAmount: money(600) }))
      for (const change of ["debits = 401", "held = 1001", "credits = 599", "held = -1", "debits = -1"]) {
        const exit = yield* Effect.exit(
          sql`UPDATE wallets SET ${sql.literal(change)} WHERE consumer_id = ${consumerId}`
        )
        assert.strictEqual(sqlStateOf(exit), "23514", change)
      }
    })
  )

  it.effect("names the account and the amount that an audit finds to be wrong", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { audit } = yield* LedgerStore
      const consumerId = yield* consumerWith(1_000)
      const call = yield* aCall(consumerId)
      yield* settled(call)
      yield* countCalls
      yield* sql`UPDATE wallets SET credits = credits + 5, held = held + 2 WHERE consumer_id = ${consumerId}`
      yield* sql`UPDATE account_balances SET credits = credits - 7 WHERE owner_id = ${call.providerId}`
      const { discrepancies } = yield* audit
      assert.sameDeepMembers(
        [...discrepancies],
        [
          {
            account: "wallet",
            ownerId: consumerId,
            lot: undefined,
            figure: "credits",
            kept: 1_005n,
            recomputed: 1_000n
          },
          { account: "wallet", ownerId: consumerId, lot: undefined, figure: "held", kept: 2n, recomputed: 0n },
          {
            account: "provider",
            ownerId: call.providerId,
            lot: lotDayOf(OPENED_AT),
            figure: "credits",
            kept: 893n,
            recomputed: 900n
          }
        ]
      )
      yield* sql`UPDATE wallets SET credits = credits - 5, held = held - 2 WHERE consumer_id = ${consumerId}`
      yield* sql`UPDATE account_balances SET credits = credits + 7 WHERE owner_id = ${call.providerId}`
      assert.deepStrictEqual((yield* audit).discrepancies, [])
    })
  )

  it.effect("closes a call whose reported sizes do not fit into their columns", () =>
    Effect.gen(function* () {
      const calls = yield* CallStore
      const call = yield* aCall(yield* consumerWith(10_000))
      yield* opened(call)
      const closing = yield* closingOf(call)
      const answer = yield* calls.close({ ...closing, tokensInput: 1e300, tokensOutput: NaN, requestBytes: -5 })
      assert.deepStrictEqual(tagsOf([answer]), { Closed: 1 })
    })
  )
})
