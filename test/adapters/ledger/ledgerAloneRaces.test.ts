/** Calls one at a time, against what other nodes and a bad connection do meanwhile. */
import { assert, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as PostgresCallStore from "../../../adapters/sql/metering/PostgresCallStore.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import {
  aCall,
  aProviderId,
  aToolId,
  closingOf,
  consumerWith,
  money,
  OPENED_AT,
  opened,
  settled,
  tagsOf
} from "../../contracts/ledgerSamples.ts"
import { lossyConfig } from "../../support/servers/LossyStream.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { untilAnotherWaits } from "../../support/servers/LockWaiter.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

const NODES = 3

const keyOf = (n: number) => ({ keyHash: n.toString(16).padStart(8, "0").repeat(8), requestHash: "cd".repeat(32) })

/** One step after the other on every node: none of them ever has two to gather. */
const onEveryNode = <A, E, R>(lives: (node: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: NODES }, (_, node) => node),
    (node) => lives(node).pipe(Effect.provide(Layer.fresh(PostgresCallStore.layer))),
    { concurrency: "unbounded" }
  )

const inTurn = <A, E, R>(many: number, one: (n: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: many }, (_, n) => n),
    one
  )

it.layer(postgresLedgerPorts, { timeout: "60 seconds", excludeTestServices: true })("Calls one at a time", (it) => {
  it.effect(
    "survive that answers are lost after the database has done its part: nothing is done twice",
    () =>
      Effect.gen(function* () {
        const { url } = yield* PostgresTest
        const consumerId = yield* consumerWith(1_000_000)
        const free = { toolId: yield* aToolId, freeTierCalls: 100 }
        let connections = 0
        // The first packets are the session's beginning, then there is one for each step.
        const lossy = lossyConfig(url, () => 6 + (connections++ % 4))
        const node = Layer.fresh(PostgresCallStore.layer.pipe(Layer.provide(PgClient.layer(lossy))))
        const lefts = yield* inTurn(12, (n) =>
          Effect.gen(function* () {
            yield* settled(yield* aCall(consumerId))
            yield* settled(yield* aCall(consumerId, { idempotency: keyOf(n) }), { cost: 700 })
            const call = yield* aCall(consumerId, free)
            const { freeCallsLeft } = yield* opened(call)
            yield* (yield* CallStore).close(yield* closingOf(call, { cost: 0 }))
            return freeCallsLeft
          })
        ).pipe(Effect.provide(node))
        assert.isAbove(connections, 10)
        assert.deepStrictEqual(
          lefts,
          Array.from({ length: 12 }, (_, n) => 99 - n)
        )
        assert.deepInclude(yield* (yield* Ledger).wallet(consumerId), { debits: 12n * 1_700n, held: 0n })
        assert.strictEqual((yield* (yield* CallStore).callFunds(consumerId, free.toolId, OPENED_AT)).freeCallsUsed, 12)
        assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
      }),
    180_000
  )

  it.effect("open exactly as many calls as the balance pays for, whichever node they come to", () =>
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(50_500)
      const answers = yield* onEveryNode(() =>
        Effect.flatMap(CallStore, (calls) => inTurn(40, () => Effect.flatMap(aCall(consumerId), calls.open)))
      )
      assert.deepStrictEqual(tagsOf(answers.flat()), { Opened: 50, InsufficientFunds: 70 })
      assert.deepInclude(yield* (yield* Ledger).wallet(consumerId), { held: 50_000n, available: 500n })
    })
  )

  it.effect("are closed once and by one node, however many close them in the same moment", () =>
    Effect.gen(function* () {
      const provider = { providerId: yield* aProviderId }
      const consumerId = yield* consumerWith(1_000_000)
      const many = yield* Effect.replicateEffect(aCall(consumerId, provider), 60)
      yield* Effect.forEach(many, opened)
      const answers = yield* onEveryNode((node) =>
        Effect.flatMap(CallStore, (calls) =>
          Effect.forEach(many, (call) => Effect.flatMap(closingOf(call, { cost: 600 + node }), calls.close))
        )
      )
      const costs = answers.map((ofNode, node) => ({
        closed: ofNode.filter((answer) => answer._tag === "Closed" && answer.now).length,
        cost: 600 + node
      }))
      assert.strictEqual(
        costs.reduce((sum, { closed }) => sum + closed, 0),
        60
      )
      assert.deepStrictEqual(tagsOf(answers.flat()), { Closed: 60, AlreadyClosed: 120 })
      const debits = BigInt(costs.reduce((sum, { closed, cost }) => sum + closed * cost, 0))
      assert.deepInclude(yield* (yield* Ledger).wallet(consumerId), {
        debits,
        held: 0n,
        available: 1_000_000n - debits
      })
      assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
    })
  )

  it.effect("count free calls and keys once, whichever node they come to", () =>
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(0)
      const free = { toolId: yield* aToolId, freeTierCalls: 31 }
      const answers = yield* onEveryNode(() =>
        Effect.flatMap(CallStore, (calls) => inTurn(20, () => Effect.flatMap(aCall(consumerId, free), calls.open)))
      )
      assert.deepStrictEqual(tagsOf(answers.flat()), { Opened: 31, InsufficientFunds: 29 })
      const keyed = yield* onEveryNode(() =>
        Effect.flatMap(CallStore, (calls) =>
          inTurn(20, (n) =>
            Effect.flatMap(aCall(consumerId, { holdAmount: money(0), idempotency: keyOf(n) }), calls.open)
          )
        )
      )
      assert.deepStrictEqual(tagsOf(keyed.flat()), { Opened: 20, InFlight: 40 })
    })
  )

  it.effect("go by what another transaction leaves of a wallet, and by the budget that it sets there", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const calls = yield* CallStore
      const whileAnother = <A>(
        change: (id: ConsumerId) => Effect.Effect<unknown, SqlError.SqlError>,
        step: Effect.Effect<A, StoreUnavailable>,
        id: ConsumerId
      ) =>
        sql
          .withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT 1 FROM wallets WHERE consumer_id = ${id} FOR UPDATE`
              const waiting = yield* Effect.forkChild(step)
              yield* untilAnotherWaits
              yield* change(id)
              return waiting
            })
          )
          .pipe(Effect.flatMap(Fiber.join))
      const spends = (id: ConsumerId) => sql`UPDATE wallets SET held = held + 600 WHERE consumer_id = ${id}`
      const caps = (id: ConsumerId) =>
        Effect.andThen(
          sql`UPDATE wallets SET budgeted = true WHERE consumer_id = ${id}`,
          sql`INSERT INTO budgets (consumer_id, budget_id, cap, period, period_start, created_at)
            VALUES (${id}, ${id}, ${money(999)}, 3, '-infinity', now())`
        )

      const one = yield* consumerWith(1_500)
      const spent = yield* whileAnother(spends, calls.open(yield* aCall(one)), one)
      assert.deepStrictEqual(spent, {
        _tag: "InsufficientFunds",
        availableMicrocents: 900n,
        neededMicrocents: 1_000n
      })
      const other = yield* consumerWith(1_500)
      assert.strictEqual((yield* whileAnother(caps, calls.open(yield* aCall(other)), other))._tag, "BudgetExceeded")
      const third = yield* consumerWith(2_000)
      const call = yield* aCall(third)
      yield* opened(call)
      assert.deepStrictEqual(yield* whileAnother(spends, calls.close(yield* closingOf(call)), third), {
        _tag: "Closed",
        now: true,
        availableMicrocents: 400n
      })
    })
  )
})
