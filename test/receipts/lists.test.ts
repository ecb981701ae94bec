/**
 * Receipts as their parties read them: their own only, filtered, page by page.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aProvider, at, expecting, listAt, textAt } from "../support/market/Market.ts"
import { earlier, later } from "../support/metering/TestTime.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  callOf,
  memoryMarket,
  METER,
  offerOf,
  PRICE,
  problemOf,
  RECEIPTS,
  receiptsOf,
  type WireReceipt
} from "../support/metering/Shop.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"

const idsOf = (receipts: ReadonlyArray<WireReceipt>) => receipts.map((receipt) => receipt.receipt_id)

it.layer(memoryMarket(), LIVE)("Receipts", (it) => {
  it.effect("are listed to their consumer and to their provider only", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const [one, two] = [yield* anOffer(url), yield* anOffer(url)]
      const [ann, bob] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      for (const [consumer, offer] of [
        [ann, one],
        [ann, two],
        [bob, two]
      ] as const) {
        yield* expecting(200, callOf(consumer, offer))
      }
      const [oneBy, twoBy, annBy, bobBy] = [
        yield* receiptsOf(one.provider),
        yield* receiptsOf(two.provider),
        yield* receiptsOf(ann),
        yield* receiptsOf(bob)
      ]
      assert.deepStrictEqual(
        annBy.map((receipt) => receipt.provider_id),
        [two.provider.id, one.provider.id]
      )
      assert.deepStrictEqual(
        bobBy.map((receipt) => receipt.provider_id),
        [two.provider.id]
      )
      assert.deepStrictEqual(oneBy, annBy.slice(1))
      assert.deepStrictEqual(twoBy, [...bobBy, ...annBy.slice(0, 1)])
      assert.deepStrictEqual(yield* receiptsOf(yield* aProvider()), [])
      assert.deepStrictEqual(yield* receiptsOf(yield* aFundedConsumer(0)), [])
      assert.deepStrictEqual(problemOf(yield* send({ path: RECEIPTS })), [401, "UNAUTHORIZED"])
    })
  )

  it.effect("are the same wherever they are read", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer((yield* providing(fine)).url)
      const consumer = yield* aFundedConsumer()
      const call = yield* expecting(200, callOf(consumer, offer))
      const metered = yield* expecting(201, { path: METER, key: consumer.key, json: { tool_id: offer.toolId } })
      const { verify_url, ...shown } = at(metered, "receipt") as Readonly<Record<string, unknown>>
      assert.strictEqual(verify_url, "https://market.example/api/v1/verify")
      const listed = yield* receiptsOf(consumer)
      assert.deepStrictEqual(listed[0] as unknown, shown)
      assert.strictEqual(listed[1]!.receipt_id, textAt(call, "meta", "receipt_id"))
      for (const receipt of listed) {
        const found = yield* expecting(200, { path: `${RECEIPTS}/${receipt.receipt_id}` })
        assert.deepStrictEqual(at(found, "receipt") as unknown, receipt)
        assert.include(at(found, "verification"), { valid: true, algorithm: "HMAC-SHA256" })
      }
    })
  )

  it.effect("that do not exist are 404, for any form of id", () =>
    Effect.gen(function* () {
      const made = `rcpt_${"0".repeat(32)}`
      const short = made.slice(0, "rcpt_".length + 16)
      for (const id of [
        made,
        short,
        `${short}/proof`,
        made.slice(1),
        `${made}0`,
        made.toUpperCase(),
        "x",
        "%00",
        "..%2f",
        "rcpt_'--"
      ]) {
        assert.deepStrictEqual(problemOf(yield* send({ path: `${RECEIPTS}/${id}` })), [404, "NOT_FOUND"], id)
      }
    })
  )

  it.effect("are filtered by tool, by status, and by time: from inclusive, to exclusive", () =>
    Effect.gen(function* () {
      let failing = false
      const server = yield* providing((seen, response, n) =>
        failing ? void response.writeHead(429).end() : fine(seen, response, n)
      )
      const offer = yield* anOffer(server.url)
      const other = yield* offerOf(offer.provider, { tool_name: "other" })
      const consumer = yield* aFundedConsumer()
      for (const [tool, days] of [
        [offer, 3],
        [other, 2],
        [offer, 1],
        [offer, 0]
      ] as const) {
        failing = days === 1
        yield* buy(consumer, tool).pipe(earlier(`${days} days`))
      }
      const all = yield* receiptsOf(consumer)
      assert.strictEqual(all.length, 4)
      for (const owner of [consumer, offer.provider]) {
        const ask = (query: string) => Effect.map(receiptsOf(owner, query), idsOf)
        const pick = (keep: (receipt: WireReceipt) => boolean) => idsOf(all.filter(keep))
        assert.deepStrictEqual(
          yield* ask(`&tool_id=${other.toolId}`),
          pick((one) => one.tool_id === other.toolId)
        )
        assert.deepStrictEqual(
          yield* ask("&status=rate_limited"),
          pick((one) => one.status === "rate_limited")
        )
        assert.deepStrictEqual(yield* ask("&status=timeout"), [])
        for (const { timestamp } of all) {
          assert.deepStrictEqual(
            yield* ask(`&from=${timestamp}`),
            pick((one) => one.timestamp >= timestamp)
          )
          assert.deepStrictEqual(
            yield* ask(`&to=${timestamp}`),
            pick((one) => one.timestamp < timestamp)
          )
          const none = yield* ask(`&from=${timestamp}&to=${timestamp}`)
          assert.deepStrictEqual(none, [])
        }
        const [from, to] = [all[3]!.timestamp, all[1]!.timestamp]
        assert.deepStrictEqual(
          yield* ask(`&from=${from}&to=${to}&status=success&tool_id=${offer.toolId}`),
          idsOf([all[3]!])
        )
      }
      for (const query of [
        "from=yesterday",
        "to=",
        "status=ok",
        "tool_id=x",
        "limit=-1",
        "limit=0",
        "offset=1.5",
        "cursor=%21"
      ]) {
        const refused = yield* send({ path: `${RECEIPTS}?${query}`, key: consumer.key })
        assert.deepStrictEqual(problemOf(refused), [400, "BAD_REQUEST"], query)
        assert.include(textAt(refused, "message"), query.split("=")[0]!)
      }
    })
  )

  it.effect("of calls that were reported later, or ahead of our clock, are found by the time of the call", () =>
    Effect.gen(function* () {
      const offer = yield* anOffer("http://127.0.0.1:9/mcp")
      const consumer = yield* aFundedConsumer()
      const made: Array<WireReceipt> = []
      for (const minutes of [-6 * 24 * 60, -60, 0, 4]) {
        const timestamp = new Date(Date.now() + minutes * 60_000).toISOString()
        const json = { tool_id: offer.toolId, timestamp }
        const answer = yield* expecting(201, { path: METER, key: consumer.key, json })
        assert.strictEqual(textAt(answer, "receipt", "timestamp"), timestamp)
        const { verify_url: _, ...receipt } = at(answer, "receipt") as unknown as WireReceipt & { verify_url: string }
        made.unshift(receipt)
      }
      for (const { timestamp } of made) {
        const since = yield* receiptsOf(consumer, `&from=${timestamp}`)
        assert.deepStrictEqual(idsOf(since), idsOf(made.filter((one) => one.timestamp >= timestamp)), timestamp)
      }
    })
  )

  it.effect("are paged, stable while new ones are added", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const offer = yield* anOffer(url)
      const consumer = yield* aFundedConsumer()
      for (let n = 0; n < 7; n++) yield* expecting(200, callOf(consumer, offer))
      const all = idsOf(yield* receiptsOf(consumer))
      assert.deepStrictEqual(all, all.toSorted().toReversed(), "newest first")
      const seen: Array<string> = []
      let query = "limit=3"
      for (let page = 0; page < 3; page++) {
        const answer = yield* expecting(200, { path: `${RECEIPTS}?${query}`, key: consumer.key })
        seen.push(...listAt(answer, "receipts").map((one) => (one as unknown as WireReceipt).receipt_id))
        assert.strictEqual(at(answer, "total"), 7 + page)
        const cursor = at(answer, "next_cursor")
        assert.strictEqual(cursor === null, page === 2)
        query = `limit=3&cursor=${String(cursor)}`
        yield* expecting(200, callOf(consumer, offer)).pipe(later("1 second"))
      }
      assert.deepStrictEqual(seen, all)
      const second = yield* expecting(200, { path: `${RECEIPTS}?limit=2&offset=${3 + 2}`, key: consumer.key })
      assert.deepStrictEqual(
        listAt(second, "receipts").map((one) => (one as unknown as WireReceipt).receipt_id),
        all.slice(2, 4)
      )
      const spent = idsOf(yield* receiptsOf(consumer)).length * PRICE
      assert.strictEqual(spent, 10 * PRICE)
    })
  )
})
