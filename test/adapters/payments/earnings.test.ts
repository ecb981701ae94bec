/**
 * What calls earn is kept in the receipts first, and added to `account_balances` later: by the job that counts calls, or when
 * the log takes their receipts. A provider's balance is the same before, meanwhile and afterwards.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresLogStore from "../../../adapters/sql/log/PostgresLogStore.ts"
import * as PostgresUsageStore from "../../../adapters/sql/metering/PostgresUsageStore.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { LogStore } from "../../../domain/log/LogStore.ts"
import { UsageStore } from "../../../domain/metering/Usage.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, aProviderId, atOnce, consumerWith, LOT, payoutLeg, settled } from "../../contracts/ledgerSamples.ts"

const PG = { timeout: "120 seconds", excludeTestServices: true } as const
const NET = 900n
const CALLS = 200
const PAYOUT = 2n * NET

const ports = Layer.mergeAll(PostgresUsageStore.layer, PostgresLogStore.layer).pipe(
  Layer.provideMerge(postgresLedgerPorts)
)

const earning = (providerId: ProviderId, calls: number) =>
  Effect.gen(function* () {
    const consumerId = yield* consumerWith(1_000 * calls)
    yield* atOnce(calls, () => Effect.flatMap(aCall(consumerId, { providerId }), settled))
  })

const lots = (providerId: ProviderId) => Effect.flatMap(Ledger, (ledger) => ledger.lots(providerId))

/** What is in the kept balances, and not only in receipts. */
const kept = (providerId: ProviderId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly credits: bigint }>`
      SELECT coalesce(sum(credits), 0)::int8 AS credits FROM account_balances WHERE owner_id = ${providerId}`
    return row!.credits
  })

const count = Effect.flatMap(UsageStore, (usage) => usage.countWaiting)
const take = (limit: number) => Effect.flatMap(LogStore, (log) => log.take(limit))

const paidOut = Effect.fnUntraced(function* (providerId: ProviderId, reference: string) {
  const ledger = yield* Ledger
  return yield* ledger.post({ reference, legs: [payoutLeg(providerId, PAYOUT)] }).pipe(
    Effect.as(1),
    Effect.catchTag("InsufficientBalance", () => Effect.succeed(0))
  )
})

it.layer(ports, PG)("What calls earn", (it) => {
  it.effect("is in the balance before it is counted, and once afterwards", () =>
    Effect.gen(function* () {
      const providerId = yield* aProviderId
      yield* earning(providerId, 3)
      assert.strictEqual(yield* kept(providerId), 0n)
      const before = yield* lots(providerId)
      assert.deepStrictEqual(before, [{ day: LOT, credits: 3n * NET, debits: 0n, earned: 3n * NET }])
      for (const more of [count, count, take(100), take(100)]) {
        yield* more
        assert.deepStrictEqual(yield* lots(providerId), before)
        assert.strictEqual(yield* kept(providerId), 3n * NET)
      }
      yield* earning(providerId, 2)
      yield* take(100)
      assert.strictEqual(yield* kept(providerId), 5n * NET)
      assert.deepStrictEqual((yield* (yield* Ledger).audit).discrepancies, [])
    })
  )

  it.effect("can be paid out before it is counted, and no more than that", () =>
    Effect.gen(function* () {
      const providerId = yield* aProviderId
      yield* earning(providerId, 3)
      assert.strictEqual(yield* paidOut(providerId, "the first two"), 1)
      assert.strictEqual(yield* paidOut(providerId, "one too many"), 0)
      yield* count
      assert.strictEqual(yield* paidOut(providerId, "still too many"), 0)
      assert.deepStrictEqual(yield* lots(providerId), [
        { day: LOT, credits: 3n * NET, debits: PAYOUT, earned: 3n * NET }
      ])
    })
  )

  it.effect("is never missing or doubled while calls, counting, the log and payouts run at the same time", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const providerId = yield* aProviderId
      const [, , , attempts] = yield* Effect.all(
        [
          earning(providerId, CALLS),
          Effect.replicateEffect(count, 40),
          Effect.replicateEffect(take(11), 40),
          Effect.forEach(
            Array.from({ length: CALLS }, (_, n) => n),
            (n) => paidOut(providerId, `race ${n}`),
            { concurrency: 4 }
          )
        ],
        { concurrency: "unbounded" }
      )
      // What the race left is paid out now, so that exactly the earnings are.
      let paid = attempts.reduce((sum, one) => sum + one, 0)
      for (let more = 1, n = 0; more > 0; n++) paid += more = yield* paidOut(providerId, `rest ${n}`)
      assert.strictEqual(paid, CALLS / 2)
      yield* count
      assert.strictEqual(yield* kept(providerId), BigInt(CALLS) * NET)
      assert.deepStrictEqual((yield* ledger.audit).discrepancies, [])
      assert.isTrue((yield* ledger.trialBalance).balanced)
    })
  )
})
