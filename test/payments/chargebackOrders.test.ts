/**
 * Chargebacks of a load, reported in every order and more than once.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { PaymentEvents } from "../../domain/processor/PaymentEvents.ts"
import { memoryCoreWith } from "../support/metering/Core.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { clearingIsEmpty } from "./LedgerChecks.ts"
import {
  aLoad,
  CHARGEBACK,
  event,
  expectedCents,
  expectedFrozen,
  isFrozen,
  type Name,
  newsOf,
  ordersOfThree,
  worthCents
} from "./LoadEvents.ts"

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("A load", (it) => {
  it.effect(
    "that is charged back freezes the account and restores every leg, in any order of the webhooks",
    () =>
      Effect.gen(function* () {
        const { apply } = yield* PaymentEvents
        const orders = ordersOfThree(CHARGEBACK).flatMap((order): ReadonlyArray<ReadonlyArray<Name>> => [
          ["completedPaid", ...order],
          [...order, "completedPaid"]
        ])
        yield* Effect.forEach(
          orders,
          Effect.fnUntraced(function* (order) {
            const load = yield* aLoad
            const news = newsOf(load)
            for (const one of order) {
              assert.strictEqual(yield* apply(news[one]), "applied", order.join(", "))
              assert.strictEqual(yield* apply(news[one]), "repeated")
            }
            for (const one of order) yield* apply(event({ ...news[one], eventId: `again_${news[one].eventId}` }))
            assert.strictEqual(yield* worthCents(load.consumerId), expectedCents(order), order.join(", "))
            assert.strictEqual(yield* isFrozen(load.consumerId), expectedFrozen(order), order.join(", "))
          }),
          { concurrency: 8 }
        )
        yield* clearingIsEmpty
      }),
    240_000
  )
})
