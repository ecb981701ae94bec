/**
 * Rounds over rows that another session of the database keeps locked.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Latch, Option } from "effect"
import { SqlClient } from "effect/sql"
import { DRY_RUN_EARNINGS_POLICY } from "../../domain/earnings/EarningStates.ts"
import { AccountFreezes, FreezeStore } from "../../domain/payments/AccountFreezes.ts"
import { ConsumerId } from "../../domain/shared/Ids.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { aConsumer } from "../support/market/Market.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { postgresCoreWith } from "../support/metering/Core.ts"

const service = postgresCoreWith(ScriptedGateway.layer, DRY_RUN_EARNINGS_POLICY, 250)

const aFrozen = Effect.gen(function* () {
  const consumerId = ConsumerId.make((yield* aConsumer()).id)
  yield* (yield* FreezeStore).freeze(consumerId, {
    reason: "a debt that is paid by now",
    at: yield* DateTime.now,
    byOperator: false
  })
  return consumerId
})

it.layer(service, LIVE)("While another session keeps the rows of the first item locked", (it) => {
  it.effect("a sequential round does the items behind it, and the next round does the first", () =>
    Effect.gen(function* () {
      const sql = Option.getOrThrow(yield* Effect.serviceOption(SqlClient.SqlClient))
      const { reviewAll } = yield* AccountFreezes
      const [first, second] = [yield* aFrozen, yield* aFrozen].toSorted() as [ConsumerId, ConsumerId]
      const isFrozen = Effect.fnUntraced(function* (consumerId: ConsumerId) {
        return Option.isSome(yield* (yield* FreezeStore).find(consumerId))
      })
      const [isLocked, mayEnd] = [yield* Latch.make(), yield* Latch.make()]
      const lock = sql`SELECT 1 FROM wallets WHERE consumer_id = ${first} FOR UPDATE`
      const held = Effect.andThen(lock, Effect.andThen(isLocked.open, mayEnd.await))
      const holder = yield* Effect.forkChild(sql.withTransaction(held))
      yield* isLocked.await
      assert.strictEqual((yield* Effect.flip(reviewAll)).reason, "busy")
      assert.deepStrictEqual([yield* isFrozen(first), yield* isFrozen(second)], [true, false])
      yield* mayEnd.open
      yield* Fiber.join(holder)
      assert.strictEqual(yield* reviewAll, 1)
      assert.isFalse(yield* isFrozen(first))
    })
  )
})
