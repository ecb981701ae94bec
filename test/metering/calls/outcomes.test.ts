/**
 * Every behavior of a provider under every billing policy: what its consumer gets and pays.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, type Member } from "../../support/market/Market.ts"
import { type Outcome, outcomes } from "../../support/metering/Outcomes.ts"
import { providing } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  buy,
  memoryMarket,
  FEE,
  type Offer,
  PRICE,
  walletOf,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const POLICIES = ["success", "valid_output", "attempt"] as const
const OUTPUT = { type: "object", properties: { temperature: { type: "number" } }, required: ["temperature"] }

it.layer(memoryMarket(), LIVE)("A provider's", (it) => {
  for (const outcome of outcomes) {
    it.effect(`${outcome.name} is ${outcome.receipt}, paid for under ${outcome.pays.join(", ") || "no policy"}`, () =>
      Effect.gen(function* () {
        // The open circuit of an outcome after failures does not wait for the other policies.
        const rounds = outcome.failuresBefore === undefined ? [POLICIES] : POLICIES.map((policy) => [policy])
        for (const policies of rounds) yield* checkTogether(outcome, policies)
      })
    )
  }
})

type Policy = (typeof POLICIES)[number]

const checkTogether = Effect.fnUntraced(function* (outcome: Outcome, policies: ReadonlyArray<Policy>) {
  const prepared = yield* Effect.forEach(policies, (policy) => prepare(outcome, policy))
  const before = yield* books
  const costs = yield* Effect.forEach(prepared, (one) => check(outcome, one), { concurrency: "unbounded" })
  const after = yield* books
  const moved = [before.wallets - after.wallets, after.providers - before.providers, after.fees - before.fees]
  const paid = BigInt(costs.filter((cost) => cost > 0).length)
  assert.deepStrictEqual(moved, [paid * BigInt(PRICE), paid * BigInt(PRICE - FEE), paid * BigInt(FEE)])
})

const prepare = Effect.fnUntraced(function* (outcome: Outcome, policy: Policy) {
  const server = yield* providing(outcome.onCall)
  const offer = yield* anOffer(outcome.endpoint ?? server.url, {
    billing_policy: policy,
    output_schema: OUTPUT,
    ...outcome.tool
  })
  const consumer = yield* aFundedConsumer()
  for (let n = 0; n < (outcome.failuresBefore ?? 0); n++) yield* buy(yield* aFundedConsumer(), offer)
  return { policy, offer, consumer }
})

/** Returns the cost of the call. */
const check = Effect.fnUntraced(function* (
  outcome: Outcome,
  { consumer, offer, policy }: { readonly policy: Policy; readonly offer: Offer; readonly consumer: Member }
) {
  const cost = outcome.pays.includes(policy) ? PRICE : 0

  const answer = yield* buy(consumer, offer)
  checkAnswer(outcome, policy, offer, answer, cost)

  const balance = 1_000_000 - cost
  assert.deepStrictEqual(yield* walletOf(consumer), { balance, held: 0, available: balance }, policy)
  yield* checkReceipt(outcome, offer, consumer, answer, cost)
  return cost
})

const checkAnswer = (outcome: Outcome, policy: string, offer: Offer, answer: Answer, cost: number) => {
  const seen = `${policy}: ${answer.text.slice(0, 500)}`
  assert.strictEqual(answer.status, outcome.status, seen)
  const { headers } = answer
  assert.strictEqual(headers["x-market-cost"], String(cost), seen)
  assert.strictEqual(headers["x-market-provider"], "Weather Works")
  assert.match(headers["x-market-latency"]!, /^\d+$/u)
  assert.strictEqual(headers["x-market-tool"], offer.toolName)
  assert.match(headers["x-market-receipt"]!, /^rcpt_[0-9a-f]{32}$/u)
  const url = `https://market.example/api/v1/market/receipts/${headers["x-market-receipt"]}`
  assert.strictEqual(headers["link"], `<${url}>; rel="receipt"`)
  assert.strictEqual(headers["x-market-retried"], outcome.attempts > 1 ? "true" : undefined, seen)
  assert.strictEqual(headers["cache-control"], "no-store")
  for (const [name, value] of Object.entries(outcome.headers ?? {})) assert.strictEqual(headers[name], value, seen)

  const told = outcome.status === 200 ? ["meta"] : []
  const body = (field: string) => at(answer, ...told, field)
  assert.strictEqual(body("cost_microcents"), cost, seen)
  assert.strictEqual(body("cost_cents"), Math.floor(cost / 10_000))
  assert.strictEqual(body("receipt_id"), headers["x-market-receipt"])
  assert.strictEqual(body("attempts"), outcome.attempts, seen)
  assert.strictEqual(String(body("latency_ms")), headers["x-market-latency"])
  if (outcome.status === 200) {
    assert.strictEqual(body("remaining_balance_microcents"), 1_000_000 - cost)
    assert.strictEqual(body("outcome"), outcome.receipt, seen)
    assert.strictEqual(at(answer, "result", "isError") === true, outcome.receipt === "error", seen)
    assert.isUndefined(at(answer, "error"), seen)
    return
  }
  assert.strictEqual(at(answer, "code"), outcome.code, seen)
  assert.strictEqual(at(answer, "outcome"), outcome.receipt, seen)
  assert.strictEqual(at(answer, "tool"), offer.toolName)
  assert.strictEqual(at(answer, "provider"), "Weather Works")
}

const checkReceipt = Effect.fnUntraced(function* (
  outcome: Outcome,
  offer: Offer,
  consumer: Member,
  answer: Answer,
  cost: number
) {
  const receipts = yield* receiptsOf(consumer)
  assert.strictEqual(receipts.length, 1)
  const [receipt] = receipts
  assert.include(receipt, {
    receipt_id: answer.headers["x-market-receipt"]!,
    status: outcome.receipt,
    cost_microcents: cost,
    tool_id: offer.toolId,
    agent_id: consumer.id,
    provider_id: offer.provider.id
  })
  const ofProvider = yield* receiptsOf(offer.provider)
  assert.strictEqual(ofProvider.length, 1 + (outcome.failuresBefore ?? 0))
  assert.deepStrictEqual(ofProvider[0], receipt)
})
