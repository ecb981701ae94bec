/**
 * A frozen provider: nothing of it can be called, reported or paid out, whatever it tries; what was in progress ends.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { OperatorKey } from "../../domain/accounts/Authentication.ts"
import { PayoutStore } from "../../domain/earnings/PayoutStore.ts"
import { makePayoutOpening, Payouts } from "../../domain/earnings/Payouts.ts"
import { ProviderFreezes } from "../../domain/providers/ProviderFreezes.ts"
import { PayoutId } from "../../domain/shared/Ids.ts"
import { fromCents } from "../../domain/shared/Microcents.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { anEarner, balanceOf, CENTS, earn, REST, statesOf, transfersMade } from "../payments/Earners.ts"
import { OPERATOR_KEY } from "../support/checks/EndpointTable.ts"
import { aProvider, at, expecting, listAt, textAt, valueAt } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { memoryCore, memoryCoreWith } from "../support/metering/Core.ts"
import { forwarded, slowProvider } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  GRANTS,
  METER,
  PRICE,
  problemOf,
  walletOf
} from "../support/metering/Shop.ts"
import { when } from "../support/metering/TestTime.ts"

const REASON = "Fraud is suspected."

const order = (path: string, reason: string) =>
  send({ path: `/api/v1/operator/${path}`, json: { reason }, key: OPERATOR_KEY })
const freeze = (id: string) => order(`providers/${id}/freeze`, REASON)
const unfreeze = (id: string) => order(`providers/${id}/unfreeze`, "A mistake.")

const operator = Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR_KEY)))

it.layer(memoryCore.pipe(operator), LIVE)("A frozen provider", (it) => {
  it.effect("is called no more; a call in flight is settled; its owner and the audit trail have the reason", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url)
      const { id, key } = offer.provider
      const [early, late] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      const inFlight = yield* Effect.forkChild(buy(early, offer))
      yield* eventually(() => forwarded(slow.server) === 1)
      assert.strictEqual(at(yield* freeze(id), "was_frozen"), false)
      assert.strictEqual(at(yield* freeze(id), "was_frozen"), true)

      for (const more of [{}, { dry_run: true }, { tool_id: undefined, tool_name: "echo", provider_id: id }]) {
        const rejected = yield* buy(late, offer, more)
        assert.deepStrictEqual(problemOf(rejected), [410, "TOOL_WITHDRAWN"])
        assert.include(rejected.text, "The operator has frozen the provider of echo. Nothing was charged.")
      }
      assert.strictEqual(forwarded(slow.server), 1)
      yield* slow.answer
      assert.strictEqual((yield* Fiber.join(inFlight)).status, 200)
      assert.deepInclude(yield* walletOf(early), { balance: 1_000_000 - PRICE, held: 0 })
      assert.deepInclude(yield* walletOf(late), { balance: 1_000_000, held: 0 })

      const me = yield* expecting(200, { path: "/api/v1/market/whoami", key })
      assert.deepStrictEqual([at(me, "frozen"), at(me, "frozen_reason")], [true, REASON])
      assert.strictEqual(at(yield* unfreeze(id), "was_frozen"), true)
      assert.strictEqual((yield* buy(late, offer)).status, 200)
      const trail = yield* expecting(200, { path: `/api/v1/operator/audit-trail?subject=${id}`, key: OPERATOR_KEY })
      assert.deepStrictEqual(
        listAt(trail, "entries").map((one) => [valueAt(one, "action"), valueAt(one, "reason")]),
        [
          ["provider.unfreeze", "A mistake."],
          ["provider.freeze", REASON],
          ["provider.freeze", REASON]
        ]
      )
      yield* books
    })
  )

  it.effect("reports no calls, not even as made before the freeze", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer("http://127.0.0.1:9/mcp")
      const buyer = yield* aFundedConsumer()
      const { id, key } = offer.provider
      yield* expecting(201, { path: GRANTS, key: buyer.key, json: { provider_id: id, cap_microcents: 100_000 } })
      const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
      const report = (more: object) =>
        send({ path: METER, key, json: { tool_id: offer.toolId, agent_id: buyer.id, ...more } })
      assert.strictEqual((yield* report({})).status, 201)
      yield* freeze(id)
      for (const more of [{}, { timestamp: hourAgo }, { agent_id: undefined }]) {
        assert.deepStrictEqual(problemOf(yield* report(more)), [410, "TOOL_WITHDRAWN"])
      }
      assert.strictEqual((yield* walletOf(buyer)).balance, 1_000_000 - PRICE)
    })
  )
})

it.layer(memoryCoreWith(ScriptedGateway.layer).pipe(operator), LIVE)("A frozen provider with earnings", (it) => {
  it.effect("is not paid out: not at its own request, not each month, and not by a retry", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const payouts = yield* Payouts
      const script = yield* ScriptedGateway.GatewayScript
      script.mishaps.transfer.push("refuse")
      yield* payouts.request(providerId)
      assert.deepStrictEqual(yield* statesOf(providerId), ["failed"])
      const [failed] = yield* payouts.history(providerId)
      const retry = order(`payouts/${failed!.id}/retry`, "The account is complete.")
      const before = yield* transfersMade
      yield* payouts.setAutomatic(providerId, true)
      yield* freeze(providerId)
      assert.strictEqual((yield* Effect.flip(payouts.request(providerId)))._tag, "BelowMinimum")
      assert.strictEqual(yield* payouts.payableCents(providerId), 0)
      yield* when("2033-03-01T00:10:00.000Z")(payouts.payAutomatically)
      assert.deepStrictEqual(problemOf(yield* retry), [403, "ACCOUNT_FROZEN"])
      assert.strictEqual(yield* transfersMade, before)
      assert.strictEqual(yield* balanceOf(providerId), fromCents(CENTS) + REST)
      yield* payouts.setAutomatic(providerId, false)

      yield* unfreeze(providerId)
      const retried = yield* retry
      assert.deepInclude(retried.json, { state: "paid", amount_cents: CENTS, repeated: false })
      yield* earn(providerId, fromCents(5_000))
      const again = yield* retry
      assert.deepInclude(again.json, { payout_id: textAt(retried, "payout_id"), repeated: true })
      assert.strictEqual(yield* transfersMade, before + 1)
      const paid = yield* order(`payouts/${textAt(retried, "payout_id")}/retry`, "Once more.")
      assert.deepStrictEqual(problemOf(paid), [422, "VALIDATION_ERROR"])
      const unknown = yield* order("payouts/00000000-0000-4000-8000-000000000000/retry", "None.")
      assert.deepStrictEqual(problemOf(unknown), [404, "NOT_FOUND"])
      const path = `/api/v1/operator/audit-trail?action=payout.retry&subject=${failed!.id}`
      const trail = yield* expecting(200, { path, key: OPERATOR_KEY })
      assert.deepStrictEqual(
        listAt(trail, "entries").map((one) => valueAt(one, "reason")),
        ["The account is complete.", "The account is complete."]
      )
    })
  )

  it.effect("is not paid out by a request that was made before its freeze and has reserved nothing", () =>
    Effect.gen(function* () {
      const providerId = yield* anEarner
      const store = yield* PayoutStore
      const freezes = yield* ProviderFreezes
      const frozenFirst = PayoutStore.of({
        ...store,
        insert: (payout) => Effect.andThen(Effect.orDie(freezes.freeze(providerId, REASON)), store.insert(payout))
      })
      const { open } = yield* Effect.provideService(makePayoutOpening, PayoutStore, frozenFirst)
      const id = PayoutId.make(crypto.randomUUID())
      assert.strictEqual((yield* Effect.flip(open(id, providerId)))._tag, "BelowMinimum")
      assert.deepStrictEqual(yield* statesOf(providerId), [])
    })
  )

  it.effect("is frozen by the operator only, with a reason", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const path = `/api/v1/operator/providers/${provider.id}/freeze`
      assert.strictEqual((yield* send({ path, json: { reason: REASON }, key: provider.key })).status, 403)
      assert.strictEqual((yield* send({ path, json: {}, key: OPERATOR_KEY })).status, 422)
      assert.strictEqual((yield* freeze("00000000-0000-4000-8000-000000000000")).status, 404)
    })
  )
})
