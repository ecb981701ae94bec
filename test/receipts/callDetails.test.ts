/**
 * The details of a call: its request and the time of its stages, for its two parties, each as far as it may see.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, result, rpcError, text } from "../../testing/mcp/ScriptedServer.ts"
import { aProvider, expecting, type Member, textAt } from "../support/market/Market.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  callOf,
  memoryMarket,
  METER,
  type Offer,
  problemOf,
  RECEIPTS,
  receiptsOf
} from "../support/metering/Shop.ts"
import { bodyOf, headersOf } from "../support/mcp/DoorClient.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u

interface Details {
  readonly receipt_id: string
  readonly request_id: string | null
  readonly cause: string | null
  readonly stages: Readonly<Record<"hold_ms" | "provider_ms" | "signed_after_ms", number | null>>
}

const pathOf = (receiptId: string) => `${RECEIPTS}/${receiptId}/call`

const detailsOf = (reader: Member, receiptId: string) =>
  Effect.map(
    expecting(200, { path: pathOf(receiptId), key: reader.key }),
    (answer) => answer.json as unknown as Details
  )

const called = Effect.fnUntraced(function* (consumer: Member, offer: Offer, requestId?: string) {
  const call = callOf(consumer, offer)
  const answer = yield* send({
    ...call,
    headers: { ...call.headers, ...(requestId === undefined ? {} : { "x-request-id": requestId }) }
  })
  return { requestId: answer.headers["x-request-id"], receiptId: answer.headers["x-market-receipt"]! }
})

it.layer(memoryMarket(), LIVE)("The details of a call", (it) => {
  it.effect("name the request to its consumer, and the time of each stage to both parties", () =>
    Effect.gen(function* () {
      const slow = yield* providing((seen, response) => {
        setTimeout(() => json(response, result(seen, text("fine"))), 30)
      })
      const offer = yield* anOffer(slow.url)
      const consumer = yield* aFundedConsumer()
      for (const given of [undefined, "order-7:retry.2", "Z".repeat(64)]) {
        const { receiptId, requestId } = yield* called(consumer, offer, given)
        if (given === undefined) assert.match(requestId!, UUID)
        else assert.strictEqual(requestId, given)
        const seen = yield* detailsOf(consumer, receiptId)
        const [receipt] = yield* receiptsOf(consumer)
        const { hold_ms: hold, provider_ms: provider, signed_after_ms: signed } = seen.stages
        assert.strictEqual(seen.receipt_id, receipt!.receipt_id)
        assert.strictEqual(seen.request_id, requestId)
        assert.isNull(seen.cause)
        assert.isAtLeast(hold!, 0)
        assert.isAtLeast(provider!, 25)
        assert.strictEqual(provider, receipt!.duration_ms)
        assert.strictEqual(signed, Date.parse(receipt!.created_at) - Date.parse(receipt!.timestamp))
        const forProvider = yield* detailsOf(offer.provider, receiptId)
        assert.deepStrictEqual(forProvider, { ...seen, request_id: null }, "the request is the consumer's own")
      }
    })
  )

  it.effect("are for the two parties of the call only", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const offer = yield* anOffer(url)
      const { receiptId } = yield* called(yield* aFundedConsumer(), offer)
      for (const other of [yield* aFundedConsumer(0), yield* aProvider()]) {
        assert.deepStrictEqual(problemOf(yield* send({ path: pathOf(receiptId), key: other.key })), [404, "NOT_FOUND"])
      }
      assert.deepStrictEqual(problemOf(yield* send({ path: pathOf(receiptId) })), [401, "UNAUTHORIZED"])
      const unknown = pathOf(`rcpt_${"0".repeat(32)}`)
      assert.deepStrictEqual(problemOf(yield* send({ path: unknown, key: offer.provider.key })), [404, "NOT_FOUND"])
    })
  )

  it.effect("name the request of a failed call, and why it failed", () =>
    Effect.gen(function* () {
      const { url } = yield* providing((seen, response) => json(response, rpcError(seen, -32_602, "Invalid params")))
      const consumer = yield* aFundedConsumer()
      const { receiptId, requestId } = yield* called(consumer, yield* anOffer(url))
      const { cause, request_id } = yield* detailsOf(consumer, receiptId)
      assert.deepStrictEqual([request_id, cause], [requestId, "input_rejected"])
    })
  )

  it.effect("name the request of a call through an MCP door, and of a report, which has no hold of its own", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const offer = yield* anOffer(url)
      const consumer = yield* aFundedConsumer()
      const asked = { url: "", key: consumer.key, method: "tools/call", params: { name: "echo", arguments: {} } }
      const answer = yield* expecting(200, {
        path: `/mcp/${offer.provider.id}`,
        key: consumer.key,
        method: "POST",
        body: bodyOf(asked),
        headers: { ...headersOf(asked), "x-request-id": "from-mcp" }
      })
      const byDoor = yield* detailsOf(consumer, answer.headers["x-market-receipt"]!)
      assert.strictEqual(byDoor.request_id, "from-mcp")
      assert.isNumber(byDoor.stages.hold_ms)

      const report = yield* expecting(201, {
        path: METER,
        key: consumer.key,
        json: { tool_id: offer.toolId, duration_ms: 77 },
        headers: { "x-request-id": "from-a-report" }
      })
      assert.deepInclude(yield* detailsOf(consumer, textAt(report, "receipt", "receipt_id")), {
        request_id: "from-a-report",
        stages: { hold_ms: null, provider_ms: 77, signed_after_ms: null }
      })
    })
  )
})
