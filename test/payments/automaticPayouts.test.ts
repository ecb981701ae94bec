/**
 * Automatic payouts: made once a month, again on a later day only where the processor rejected them.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { everyCoreWith, memoryCoreWith } from "../support/metering/Core.ts"
import { when } from "../support/metering/TestTime.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { anEarner, balanceOf, earn, REST, statesOf, transfersMade } from "./Earners.ts"
import { clearingIsEmpty } from "./LedgerChecks.ts"

it.layer(memoryCoreWith(ScriptedGateway.layer), LIVE)("An automatic payout", (it) => {
  it.effect("of a month is made, whatever key a request before it had", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const payouts = yield* Payouts
      yield* payouts.setAutomatic(providerId, true)
      for (const key of ["automatic 2033-03", "automatic\n2033-03"]) {
        yield* Effect.exit(when("2033-02-01T00:00:00.000Z")(payouts.request(providerId, key)))
      }
      yield* earn(providerId, fromCents(5_000))
      yield* when("2033-03-01T00:10:00.000Z")(payouts.payAutomatically)
      assert.deepStrictEqual(yield* statesOf(providerId), ["paid", "paid"])
      yield* payouts.setAutomatic(providerId, false)
    })
  )
})

for (const [name, service] of everyCoreWith(ScriptedGateway.layer)) {
  it.layer(service, LIVE)(`An automatic payout over ${name}`, (it) => {
    it.effect("of every month is made once for providers that enabled it, with any number of nodes", () =>
      Effect.gen(function* () {
        const [wanting, other] = [yield* anEarner, yield* anEarner]
        yield* (yield* Payouts).setAutomatic(wanting, true)
        const { payAutomatically } = yield* Payouts
        const atOnce = Effect.all(
          Array.from({ length: 8 }, () => payAutomatically),
          { concurrency: "unbounded" }
        )
        yield* when("2031-03-01T00:10:00.000Z")(atOnce)
        yield* earn(wanting, fromCents(5_000))
        yield* when("2031-03-01T12:00:00.000Z")(atOnce)
        assert.deepStrictEqual(yield* statesOf(wanting), ["paid"])
        yield* when("2031-04-01T00:10:00.000Z")(atOnce)
        assert.deepStrictEqual(yield* statesOf(wanting), ["paid", "paid"])
        assert.deepStrictEqual(yield* statesOf(other), [])
        yield* (yield* Payouts).setAutomatic(wanting, false)
        yield* clearingIsEmpty
      })
    )

    it.effect("of a month that the processor rejected is made on the next day, once", () =>
      Effect.gen(function* () {
        const providerId = yield* anEarner
        const payouts = yield* Payouts
        yield* payouts.setAutomatic(providerId, true)
        const script = yield* ScriptedGateway.GatewayScript
        const before = yield* transfersMade
        const onTwoNodes = Effect.all([payouts.payAutomatically, payouts.payAutomatically], {
          concurrency: "unbounded"
        })
        script.mishaps.transfer.push("refuse")
        yield* when("2032-03-01T00:10:00.000Z")(payouts.payAutomatically)
        yield* when("2032-03-01T12:00:00.000Z")(onTwoNodes)
        assert.deepStrictEqual(yield* statesOf(providerId), ["failed"])
        yield* when("2032-03-02T00:10:00.000Z")(onTwoNodes)
        assert.deepStrictEqual((yield* statesOf(providerId)).toSorted(), ["failed", "paid"])
        yield* earn(providerId, fromCents(5_000))
        for (const time of ["2032-03-02T12:00:00.000Z", "2032-03-03T00:10:00.000Z", "2032-03-03T12:00:00.000Z"]) {
          yield* when(time)(onTwoNodes)
        }
        assert.deepStrictEqual((yield* statesOf(providerId)).toSorted(), ["failed", "paid"])
        assert.strictEqual(yield* balanceOf(providerId), fromCents(5_000) + REST)
        yield* payouts.setAutomatic(providerId, false)
        yield* clearingIsEmpty
        assert.strictEqual((yield* transfersMade) - before, 1)
      })
    )
  })
}
