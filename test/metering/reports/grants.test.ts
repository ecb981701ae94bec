/**
 * A consumer's permission for a provider to bill it outside the proxy: for which tools, up to what amount, until
 * when.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aConsumer, aProvider, at, expecting, listAt, type Member, textAt } from "../../support/market/Market.ts"
import { when, later } from "../../support/metering/TestTime.ts"
import {
  aFundedConsumer,
  anOffer,
  books,
  everyMarket,
  memoryMarket,
  GRANTS,
  METER,
  numberAt,
  type Offer,
  offerOf,
  PRICE,
  problemOf,
  walletOf,
  receiptsOf
} from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

type Fields = Readonly<Record<string, unknown>>

const nowhere = "http://127.0.0.1:9/mcp"

const give = (consumer: Member, { provider }: Offer, more: Fields = {}) =>
  Effect.map(
    expecting(201, {
      path: GRANTS,
      key: consumer.key,
      json: { provider_id: provider.id, cap_microcents: 100_000, ...more }
    }),
    (answer) => textAt(answer, "grant", "grant_id")
  )

const takeBack = (consumer: Member, id: string) =>
  send({ path: `${GRANTS}/${id}`, method: "DELETE", key: consumer.key })

/** The provider reports a call of its tool by this consumer. */
const bill = (offer: Offer, consumer: Member, more: Fields = {}, idempotencyKey?: string) =>
  send({
    path: METER,
    key: offer.provider.key,
    json: { tool_id: offer.toolId, agent_id: consumer.id, ...more },
    headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
  })

const outcomeOf = (answer: Answer): number =>
  answer.status === 201 ? numberAt(answer, "cost_microcents") : answer.status

const listed = (consumer: Member) =>
  Effect.map(
    expecting(200, { path: GRANTS, key: consumer.key }),
    (answer) => listAt(answer, "grants") as unknown as ReadonlyArray<Record<string, unknown>>
  )

it.layer(memoryMarket(), LIVE)("A grant", (it) => {
  it.effect("is required: without one a provider cannot bill a consumer", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      for (const more of [{}, { success: false }, { cost_microcents: 0 }]) {
        assert.deepStrictEqual(problemOf(yield* bill(offer, consumer, more)), [403, "FORBIDDEN"])
      }
      yield* give(consumer, yield* anOffer(nowhere))
      yield* give(yield* aFundedConsumer(), offer)
      assert.deepStrictEqual(problemOf(yield* bill(offer, consumer)), [403, "FORBIDDEN"])
      assert.deepStrictEqual(problemOf(yield* bill(offer, offer.provider)), [403, "FORBIDDEN"])
      assert.deepStrictEqual(yield* receiptsOf(consumer), [])
      yield* give(consumer, offer)
      assert.strictEqual(outcomeOf(yield* bill(offer, consumer)), PRICE)
    })
  )

  it.effect("lets a provider bill the cost of a call, up to the tool's maximum; without a cost, the list price", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere, { max_cost_microcents: 40_000 })
      const consumer = yield* aFundedConsumer()
      yield* give(consumer, offer, { cap_microcents: 1_000_000 })
      const before = yield* books
      for (const [more, cost] of [
        [{}, PRICE],
        [{ cost_microcents: 0 }, 0],
        [{ cost_microcents: 7 }, 7],
        [{ cost_microcents: 40_000 }, 40_000],
        [{ cost_microcents: 40_000, success: false }, 0],
        [{ status: "timeout" }, 0]
      ] as const) {
        assert.strictEqual(outcomeOf(yield* bill(offer, consumer, more)), cost, JSON.stringify(more))
      }
      const tooMuch = yield* bill(offer, consumer, { cost_microcents: 40_001 })
      assert.deepStrictEqual(problemOf(tooMuch), [422, "VALIDATION_ERROR"])
      const spent = PRICE + 7 + 40_000
      assert.deepStrictEqual(yield* walletOf(consumer), {
        balance: 1_000_000 - spent,
        held: 0,
        available: 1_000_000 - spent
      })
      const after = yield* books
      assert.strictEqual(before.wallets - after.wallets, BigInt(spent))
      assert.strictEqual(after.providers + after.fees - before.providers - before.fees, BigInt(spent))
      assert.strictEqual((yield* listed(consumer))[0]!["spent_microcents"], spent)
      assert.strictEqual((yield* receiptsOf(consumer)).length, 6)
    })
  )

  it.effect("covers the tools that it names, or all of the provider's", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const other = yield* offerOf(offer.provider, { tool_name: "other" })
      const [some, all] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      yield* give(some, offer, { tool_ids: [other.toolId] })
      yield* give(all, offer, { tool_ids: [] })
      const outcomes = yield* Effect.forEach(
        [
          [offer, some],
          [other, some],
          [offer, all],
          [other, all]
        ] as const,
        ([tool, who]) => Effect.map(bill(tool, who), outcomeOf)
      )
      assert.deepStrictEqual(outcomes, [403, PRICE, PRICE, PRICE])
    })
  )

  it.effect("counts per day, per month or in total, in UTC", () =>
    Effect.gen(function* () {
      const instants = [
        "2026-12-30T23:59:00.000Z",
        "2026-12-31T00:00:00.000Z",
        "2027-01-01T00:00:00.000Z",
        "2027-01-31T23:00:00.000Z"
      ]
      for (const [period, expected] of [
        ["day", [PRICE, PRICE, PRICE, PRICE]],
        ["month", [PRICE, 403, PRICE, 403]],
        ["total", [PRICE, 403, 403, 403]]
      ] as const) {
        const offer = yield* anOffer(nowhere)
        const consumer = yield* aFundedConsumer()
        yield* give(consumer, offer, { cap_microcents: PRICE, period }).pipe(when("2026-12-30T12:00:00.000Z"))
        const outcomes: Array<number> = []
        for (const instant of instants) {
          outcomes.push(outcomeOf(yield* bill(offer, consumer).pipe(when(instant))))
          assert.strictEqual(outcomeOf(yield* bill(offer, consumer).pipe(when(instant))), 403, `twice in a ${period}`)
        }
        assert.deepStrictEqual(outcomes, [...expected], period)
      }
    })
  )

  it.effect("gets back what is not billed: for insufficient balance, or inside the free tier", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere, { free_tier_calls: 1 })
      const consumer = yield* aConsumer()
      yield* give(consumer, offer, { cap_microcents: PRICE })
      assert.strictEqual(outcomeOf(yield* bill(offer, consumer)), 0)
      for (let n = 0; n < 3; n++) {
        assert.deepStrictEqual(problemOf(yield* bill(offer, consumer)), [402, "INSUFFICIENT_FUNDS"])
      }
      assert.strictEqual((yield* listed(consumer))[0]!["spent_microcents"], 0)
    })
  )

  it.effect("is used beside others: what does not fit into one may fit into the next", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      for (const cap_microcents of [PRICE - 1, PRICE, PRICE]) yield* give(consumer, offer, { cap_microcents })
      const outcomes = yield* Effect.forEach([1, 2, 3], () => Effect.map(bill(offer, consumer), outcomeOf))
      assert.deepStrictEqual(outcomes, [PRICE, PRICE, 403])
    })
  )

  it.effect("ends when it expires, and when its consumer revokes it", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const [consumer, stranger] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      const expires_at = new Date(Date.now() + 3_600_000).toISOString()
      const id = yield* give(consumer, offer, { expires_at })
      assert.include((yield* listed(consumer))[0], { grant_id: id, status: "active", expires_at })
      assert.strictEqual(outcomeOf(yield* bill(offer, consumer)), PRICE)
      assert.strictEqual(outcomeOf(yield* bill(offer, consumer).pipe(later("61 minutes"))), 403)
      const expired = yield* expecting(200, { path: GRANTS, key: consumer.key }).pipe(later("61 minutes"))
      assert.strictEqual(at(expired, "grants", 0, "status"), "expired")

      const second = yield* give(consumer, offer)
      for (const [who, grant] of [
        [stranger, id],
        [consumer, stranger.id]
      ] as const) {
        assert.deepStrictEqual(problemOf(yield* takeBack(who, grant)), [404, "NOT_FOUND"])
      }
      const revoked = yield* takeBack(consumer, id)
      assert.strictEqual(at(revoked, "grant", "status"), "revoked")
      assert.deepStrictEqual(problemOf(yield* takeBack(consumer, id)), [404, "NOT_FOUND"])
      assert.strictEqual(outcomeOf(yield* bill(offer, consumer)), PRICE)
      const byQuery = yield* send({ path: `${GRANTS}?grant_id=${second}`, method: "DELETE", key: consumer.key })
      assert.strictEqual(at(byQuery, "revoked"), true)
      assert.strictEqual(outcomeOf(yield* bill(offer, consumer)), 403)
      assert.deepStrictEqual(
        (yield* listed(consumer)).map((grant) => [grant["grant_id"], grant["status"]]),
        [
          [second, "revoked"],
          [id, "revoked"]
        ]
      )
      assert.deepStrictEqual(yield* listed(stranger), [])
    })
  )

  it.effect("is created by a consumer, for an existing provider and a valid amount", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const consumer = yield* aConsumer()
      const json = { provider_id: provider.id, cap_microcents: 1 }
      const ask = (key: string, more: Fields) =>
        Effect.map(send({ path: GRANTS, key, json: { ...json, ...more } }), problemOf)
      assert.deepStrictEqual(yield* ask(provider.key, {}), [403, "FORBIDDEN"])
      assert.deepStrictEqual(problemOf(yield* send({ path: GRANTS, key: provider.key })), [403, "FORBIDDEN"])
      for (const wrong of [
        { provider_id: consumer.id },
        { provider_id: "x" },
        { cap_microcents: -1 },
        { cap_microcents: 0.5 },
        { cap_microcents: undefined },
        { period: "year" },
        { tool_ids: ["x"] },
        { tool_ids: Array.from({ length: 51 }, () => provider.id) },
        { expires_at: "soon" },
        // Ignored, this would be a grant for all tools.
        { tools: [provider.id] }
      ]) {
        assert.deepStrictEqual(yield* ask(consumer.key, wrong), [422, "VALIDATION_ERROR"], JSON.stringify(wrong))
      }
      assert.deepStrictEqual(yield* listed(consumer), [])
      const misspelled = { cap_microcents: 1, tool: provider.id }
      const budget = yield* send({ path: "/api/v1/market/budgets", key: consumer.key, json: misspelled })
      assert.deepStrictEqual(problemOf(budget), [422, "VALIDATION_ERROR"])
      assert.include(budget.text, "tool")
    })
  )

  it.effect("that is used up still answers a repetition of the report that used it up", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const consumer = yield* aFundedConsumer()
      yield* give(consumer, offer, { cap_microcents: PRICE })
      const first = yield* bill(offer, consumer, {}, "lost")
      const again = yield* bill(offer, consumer, {}, "lost")
      assert.strictEqual(again.headers["idempotent-replay"], "true")
      assert.strictEqual(again.text, first.text)
    })
  )

  it.effect("is rejected if it would already have expired", () =>
    Effect.gen(function* () {
      const { provider } = yield* anOffer(nowhere)
      const refused = yield* send({
        path: GRANTS,
        key: (yield* aFundedConsumer()).key,
        json: { provider_id: provider.id, cap_microcents: 1, expires_at: "2020-01-01T00:00:00.000Z" }
      })
      assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"])
    })
  )

  it.effect("does not bill twice for one key of the provider, whichever agent it names", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer(nowhere)
      const [one, other] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      for (const consumer of [one, other]) yield* give(consumer, offer)
      assert.strictEqual(outcomeOf(yield* bill(offer, one, {}, "one key")), PRICE)
      assert.deepStrictEqual(problemOf(yield* bill(offer, other, {}, "one key")), [409, "IDEMPOTENCY_CONFLICT"])
    })
  )
})

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`A grant over ${name}`, (it) => {
    it.effect("has a cap that holds under concurrency: of 32 reports exactly those that fit are billed", () =>
      Effect.gen(function* () {
        const offer = yield* anOffer(nowhere)
        const consumer = yield* aFundedConsumer()
        yield* give(consumer, offer, { cap_microcents: 5 * PRICE + 1, period: "total" })
        const answers = yield* Effect.all(
          Array.from({ length: 32 }, () => bill(offer, consumer)),
          { concurrency: "unbounded" }
        )
        const outcomes = answers.map(outcomeOf)
        assert.strictEqual(outcomes.filter((outcome) => outcome === PRICE).length, 5)
        assert.strictEqual(outcomes.filter((outcome) => outcome === 403).length, 27)
        assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - 5 * PRICE)
        assert.strictEqual((yield* listed(consumer))[0]!["spent_microcents"], 5 * PRICE)
      })
    )
  })
}
