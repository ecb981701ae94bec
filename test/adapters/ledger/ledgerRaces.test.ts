/**
 * Calls of one consumer in several nodes and processes on one database.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { postgresLedgerNode, postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  aProviderId,
  aToolId,
  atOnce,
  closingOf,
  consumerWith,
  OPENED_AT,
  settled,
  tagsOf
} from "../../contracts/ledgerSamples.ts"
import { letRace } from "../../support/market/LedgerRacers.ts"
import type { Finish, Race } from "../../support/ledgerRacer.ts"
import { LIVE, PostgresTest } from "../../support/servers/PostgresTest.ts"
import { untilAnotherWaits } from "../../support/servers/LockWaiter.ts"

/** Two processes that open calls of one consumer as fast as they can; returns their totals. */
const raceOfTwo = Effect.fnUntraced(function* (race: Omit<Race, "url" | "providerId" | "atOnce" | "price">) {
  const { url } = yield* PostgresTest
  const processes = yield* letRace(2, {
    ...race,
    url: Redacted.value(url),
    providerId: yield* aProviderId,
    atOnce: 64,
    price: 1_000
  })
  const total = (count: keyof Finish) => processes.reduce((sum, one) => sum + one[count], 0)
  return { opened: total("opened"), free: total("free"), rejected: total("refused") }
})

it.layer(postgresLedgerPorts, LIVE)("Over PostgreSQL", (it) => {
  it.effect(
    "two processes open exactly as many calls as the balance covers",
    () =>
      Effect.gen(function* () {
        const consumerId = yield* consumerWith(100_999)
        const totals = yield* raceOfTwo({ consumerId, toolIds: [yield* aToolId], calls: 400, freeTierCalls: 0 })
        assert.deepStrictEqual(totals, { opened: 100, free: 0, rejected: 700 })
        assert.deepInclude(yield* (yield* Ledger).wallet(consumerId), { held: 100_000n, available: 999n })
      }),
    180_000
  )

  it.effect(
    "two processes make exactly as many calls free as each free tier has, for a consumer without a wallet",
    () =>
      Effect.gen(function* () {
        const calls = yield* CallStore
        const consumerId = yield* aConsumerId
        const toolIds = yield* Effect.replicateEffect(aToolId, 50)
        const totals = yield* raceOfTwo({ consumerId, toolIds, calls: 800, freeTierCalls: 11 })
        assert.deepStrictEqual(totals, { opened: 550, free: 550, rejected: 1_050 })
        const standings = yield* Effect.forEach(toolIds, (toolId) => calls.callFunds(consumerId, toolId, OPENED_AT))
        for (const standing of standings) assert.strictEqual(standing.freeCallsUsed, 11)
      }),
    180_000
  )

  it.effect("a batch waits for the transaction of another node on its wallet, and sees what that leaves", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const calls = yield* CallStore
      const consumerId = yield* consumerWith(3_500)
      const terms = { toolId: yield* aToolId, freeTierCalls: 3 }
      yield* settled(yield* aCall(consumerId, terms), { cost: 0 })
      const batch = yield* Effect.replicateEffect(aCall(consumerId, terms), 4)
      const opening = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`UPDATE wallets SET held = held + 600 WHERE consumer_id = ${consumerId}`
          yield* sql`UPDATE free_tier_usage SET used = 3 WHERE consumer_id = ${consumerId}`
          const opening = yield* Effect.forkChild(Effect.forEach(batch, calls.open, { concurrency: "unbounded" }))
          yield* untilAnotherWaits
          return opening
        })
      )
      const answers = yield* Fiber.join(opening)
      assert.deepStrictEqual(tagsOf(answers), { Opened: 2, InsufficientFunds: 2 })
      assert.deepStrictEqual(answers[3], {
        _tag: "InsufficientFunds",
        availableMicrocents: 900n,
        neededMicrocents: 1_000n
      })
      yield* sql`UPDATE wallets SET held = held - 600 WHERE consumer_id = ${consumerId}`
    })
  )

  it.effect("two nodes with the same wallets do not deadlock", () =>
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

  it.effect(
    "a call that its caller and the sweeper of another node close at the same time is closed by one of them",
    () =>
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

  it.effect("one idempotency key in two nodes opens one call", () =>
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
})
