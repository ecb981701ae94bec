import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { postgresLedgerNode, postgresLedgerPorts } from "../contracts/ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  aProviderId,
  aToolId,
  atOnce,
  closingOf,
  consumerWith,
  money,
  OPENED_AT,
  settled,
  tagsOf
} from "../contracts/ledgerSamples.ts"
import { letRace } from "../support/LedgerRacers.ts"
import { PostgresTest } from "../support/PostgresTest.ts"
import { untilAnotherWaits } from "../support/LockWaiter.ts"

it.layer(postgresLedgerPorts, { timeout: "60 seconds", excludeTestServices: true })("Over PostgreSQL", (it) => {
  it.effect(
    "two processes, 64 calls at once each, open exactly as many calls as the balance pays for",
    () =>
      Effect.gen(function* () {
        const { url } = yield* PostgresTest
        const consumerId = yield* consumerWith(100_999)
        const finishes = yield* letRace(2, {
          url: Redacted.value(url),
          consumerId,
          toolIds: [yield* aToolId],
          providerId: yield* aProviderId,
          calls: 400,
          atOnce: 64,
          price: 1_000,
          freeTierCalls: 0
        })
        assert.strictEqual(
          finishes.reduce((sum, one) => sum + one.opened, 0),
          100
        )
        assert.strictEqual(
          finishes.reduce((sum, one) => sum + one.refused, 0),
          700
        )
        assert.deepInclude(yield* (yield* Ledger).wallet(consumerId), { held: 100_000n, available: 999n })
      }),
    180_000
  )

  it.effect(
    "two processes make exactly as many calls free as the tiers have, whoever gets them",
    () =>
      Effect.gen(function* () {
        const { url } = yield* PostgresTest
        const calls = yield* CallStore
        const consumerId = yield* aConsumerId
        const toolIds = yield* Effect.forEach(Array.from({ length: 50 }), () => aToolId)
        const finishes = yield* letRace(2, {
          url: Redacted.value(url),
          consumerId,
          toolIds,
          providerId: yield* aProviderId,
          calls: 800,
          atOnce: 64,
          price: 1_000,
          freeTierCalls: 11
        })
        const standings = yield* Effect.forEach(toolIds, (toolId) => calls.standing(consumerId, toolId, OPENED_AT))
        for (const standing of standings) assert.strictEqual(standing.freeCallsUsed, 11)
        assert.strictEqual(
          finishes.reduce((sum, one) => sum + one.free, 0),
          550
        )
        assert.strictEqual(
          finishes.reduce((sum, one) => sum + one.refused, 0),
          1_050
        )
      }),
    180_000
  )

  it.effect("a call waits for what another node has under way with its wallet, and goes by what that leaves", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(1_500)
      const terms = { toolId: yield* aToolId, freeTierCalls: 3 }
      yield* settled(yield* aCall(consumerId, terms), { cost: 0 })
      const opening = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`UPDATE wallets SET held = held + 600 WHERE consumer_id = ${consumerId}`
          yield* sql`UPDATE free_tier_usage SET used = 3 WHERE consumer_id = ${consumerId}`
          const opening = yield* Effect.forkChild(Effect.flatMap(aCall(consumerId, terms), calls.open))
          yield* untilAnotherWaits
          return opening
        })
      )
      assert.deepStrictEqual(yield* Fiber.join(opening), {
        _tag: "InsufficientFunds",
        availableMicrocents: 900n,
        neededMicrocents: 1_000n
      })
      yield* sql`UPDATE wallets SET held = held - 600 WHERE consumer_id = ${consumerId}`
    })
  )

  it.effect("two nodes with the same wallets never wait for each other in a circle", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const deadlocks = sql<{ readonly deadlocks: bigint }>`
        SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
      const [before] = yield* deadlocks
      const consumers = yield* Effect.forEach(Array.from({ length: 12 }), () => consumerWith(1_000_000))
      const shared = { toolId: yield* aToolId, providerId: yield* aProviderId }
      const node = atOnce(400, (n) => Effect.flatMap(aCall(consumers[(n * 7) % 12]!, shared), settled)).pipe(
        Effect.provide(Layer.fresh(postgresLedgerNode))
      )
      const [ofOne, ofOther] = yield* Effect.all([node, node], { concurrency: "unbounded" })
      assert.strictEqual(ofOne.length + ofOther.length, 800)
      const [after] = yield* deadlocks
      assert.strictEqual(after!.deadlocks, before!.deadlocks)
      assert.strictEqual((yield* (yield* Ledger).provider(shared.providerId)).balance, 800n * 900n)
      assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
    })
  )

  it.effect("a call that its caller and the sweeper of another node close at once is closed by one of them", () =>
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(1_000_000)
      const many = yield* Effect.forEach(Array.from({ length: 50 }), () => aCall(consumerId))
      yield* Effect.forEach(many, calls.open, { concurrency: "unbounded" })
      const close = (calls: CallStore["Service"], cost: number) =>
        Effect.forEach(
          many,
          (call) =>
            Effect.flatMap(closingOf(call, { cost, status: cost === 0 ? "error" : "success" }), (closing) =>
              calls.close(closing)
            ),
          { concurrency: "unbounded" }
        )
      const sweeper = Effect.flatMap(CallStore, (other) => close(other, 0)).pipe(
        Effect.provide(Layer.fresh(postgresLedgerNode))
      )
      const [billed, swept] = yield* Effect.all([close(calls, 1_000), sweeper], { concurrency: "unbounded" })
      const closed = billed.filter((answer) => answer._tag === "Closed").length
      assert.strictEqual(closed + swept.filter((answer) => answer._tag === "Closed").length, 50)
      assert.deepStrictEqual(yield* (yield* Ledger).wallet(consumerId), {
        credits: 1_000_000n,
        debits: BigInt(closed) * 1_000n,
        held: 0n,
        available: 1_000_000n - BigInt(closed) * 1_000n
      })
    })
  )

  it.effect("a key that two nodes bring at once opens one call", () =>
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(1_000_000)
      const idempotency = { keyHash: "ab".repeat(32), requestHash: "cd".repeat(32) }
      const open = (calls: CallStore["Service"]) =>
        atOnce(20, () => Effect.flatMap(aCall(consumerId, { idempotency }), calls.open))
      const other = Effect.flatMap(CallStore, open).pipe(Effect.provide(Layer.fresh(postgresLedgerNode)))
      const [here, there] = yield* Effect.all([open(calls), other], { concurrency: "unbounded" })
      assert.deepStrictEqual(tagsOf([...here, ...there]), { Opened: 1, InFlight: 39 })
    })
  )

  it.effect("free calls of a consumer that two nodes see for the first time are counted once", () =>
    Effect.gen(function* () {
      const calls = yield* CallStore
      const consumerId = yield* aConsumerId
      const terms = { toolId: yield* aToolId, freeTierCalls: 13, holdAmount: money(1) }
      const open = (calls: CallStore["Service"]) =>
        atOnce(20, () => Effect.flatMap(aCall(consumerId, terms), calls.open))
      const other = Effect.flatMap(CallStore, open).pipe(Effect.provide(Layer.fresh(postgresLedgerNode)))
      const [here, there] = yield* Effect.all([open(calls), other], { concurrency: "unbounded" })
      assert.deepStrictEqual(tagsOf([...here, ...there]), { Opened: 13, InsufficientFunds: 27 })
      assert.strictEqual((yield* calls.standing(consumerId, terms.toolId, OPENED_AT)).freeCallsUsed, 13)
    })
  )
})
