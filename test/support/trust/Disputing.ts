/**
 * Disputes for tests: paid calls, and the steps of their disputes.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { OperatorKey } from "../../../domain/accounts/Authentication.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Member, textAt } from "../market/Market.ts"
import { everyCore, memoryCore } from "../metering/Core.ts"
import { fine, providing } from "../metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, type Offer } from "../metering/Shop.ts"
import { send } from "../market/ServiceUnderTest.ts"

export const DISPUTES = "/api/v1/market/disputes"
export const OPERATOR = "the operator's key of these tests, 32 characters"
export const MILLION = 1_000_000

export const file = (by: Member, receiptId: string, more: Record<string, unknown> = {}) =>
  send({ path: DISPUTES, key: by.key, json: { receipt_id: receiptId, reason: "quality", ...more } })

export const respond = (by: Member, id: string, json: Record<string, unknown>) =>
  send({ path: `${DISPUTES}/${id}/respond`, key: by.key, json })

export const contest = (by: Member, id: string) =>
  Effect.map(respond(by, id, { action: "contest", message: "It was fine" }), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return answer
  })

export const resolve = (id: string, json: Record<string, unknown>, key = OPERATOR) =>
  send({ path: `${DISPUTES}/${id}/resolve`, key, json })

export const sold = Effect.gen(function* () {
  const { url } = yield* providing(fine)
  const offer = yield* anOffer(url)
  const buyer = yield* aFundedConsumer()
  const answer = yield* buy(buyer, offer)
  assert.strictEqual(answer.status, 200, answer.text)
  return { buyer, offer, receiptId: textAt(answer, "meta", "receipt_id") }
})

export const filed = Effect.gen(function* () {
  const sale = yield* sold
  const answer = yield* file(sale.buyer, sale.receiptId)
  assert.strictEqual(answer.status, 201, answer.text)
  return { ...sale, id: textAt(answer, "dispute_id") }
})

export const earned = (offer: Offer) =>
  Effect.map(
    Effect.flatMap(Ledger, (ledger) => ledger.provider(ProviderId.make(offer.provider.id))),
    ({ balance }) => Number(balance)
  )

const withOperator = Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR)))

export const memoryDisputedCore = memoryCore.pipe(withOperator)

/** For races, and for what only a database does. */
export const everyDisputedCore = everyCore.map(([name, core]) => [name, core.pipe(withOperator)] as const)
