/**
 * Attacks by disputes about calls that cost something because of their caller: a cancellation that the tool's terms
 * charge, and input that the provider rejects under a policy that charges every attempt. Neither is evidence against
 * the provider.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { Disputes } from "../../domain/trust/Disputes.ts"
import { json, rpcError } from "../../testing/mcp/ScriptedServer.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { at, expecting, type Member } from "../support/market/Market.ts"
import { forwarded, providing, slowProvider } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  type Offer,
  PRICE,
  walletOf,
  receiptsOf
} from "../support/metering/Shop.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { DISPUTES, memoryDisputedCore, file } from "../support/trust/Disputing.ts"

const settledOf = (consumer: Member) =>
  Effect.repeat(receiptsOf(consumer), { until: ([receipt]) => receipt !== undefined, schedule: Schedule.spaced(20) })

/** Disputes the consumer's only call, and runs all automatic decisions. */
const disputed = Effect.fnUntraced(function* (consumer: Member, { provider }: Offer) {
  const [receipt] = yield* settledOf(consumer)
  assert.include(receipt, { status: "error", cost_microcents: PRICE })
  const filed = yield* file(consumer, receipt!.receipt_id, { reason: "tool_error" })
  assert.strictEqual(filed.status, 201, filed.text)
  yield* (yield* Disputes).work
  const path = `${DISPUTES}/${String(at(filed, "dispute_id"))}`
  return at(yield* expecting(200, { path, key: provider.key }), "status")
})

it.layer(memoryDisputedCore, LIVE)("Disputes about the caller's own actions", (it) => {
  it.effect("do not refund what a canceled call costs by the tool's terms", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const offer = yield* anOffer(slow.server.url, { on_cancel: "pass", canceled_call_costs: "price" })
      const thief = yield* aFundedConsumer()
      const fiber = yield* Effect.forkChild(buy(thief, offer))
      yield* eventually(() => forwarded(slow.server) === 1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* disputed(thief, offer), "filed")
      assert.strictEqual((yield* walletOf(thief)).balance, 1_000_000 - PRICE)
      yield* books
    })
  )

  it.effect("do not refund what rejected input costs where every attempt is charged", () =>
    Effect.gen(function* () {
      const server = yield* providing((seen, response) => json(response, rpcError(seen, -32_602, "Invalid params")))
      const offer = yield* anOffer(server.url, { billing_policy: "attempt" })
      const rival = yield* aFundedConsumer()
      yield* buy(rival, offer)
      assert.strictEqual(yield* disputed(rival, offer), "filed")
      assert.strictEqual((yield* walletOf(rival)).balance, 1_000_000 - PRICE)
      yield* books
    })
  )
})
