/**
 * Disputes that are decided automatically: by the receipt, the output, the provider, or a missed deadline.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { Disputes } from "../../domain/trust/Disputes.ts"
import { DisputeId } from "../../domain/trust/DisputeStore.ts"
import { at, expecting, textAt } from "../support/market/Market.ts"
import { later, when } from "../support/metering/TestTime.ts"
import { providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, books, buy, FEE, PRICE, problemOf, walletOf } from "../support/metering/Shop.ts"
import { json, result, text } from "../../testing/mcp/ScriptedServer.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import {
  everyDisputedCore,
  memoryDisputedCore,
  contest,
  DISPUTES,
  earned,
  file,
  filed,
  MILLION,
  resolve,
  sold
} from "../support/trust/Disputing.ts"

it.layer(memoryDisputedCore, LIVE)("Automatic decisions of disputes", (it) => {
  it.effect("are for the filer when the provider misses its deadline, and not before", () =>
    Effect.gen(function* () {
      const { buyer, id, offer } = yield* filed
      const disputes = yield* Disputes
      yield* later("167 hours")(disputes.work)
      assert.strictEqual(at(yield* send({ path: `${DISPUTES}/${id}` }), "status"), "filed")
      yield* later("169 hours")(disputes.work)
      const decided = yield* expecting(200, { path: `${DISPUTES}/${id}`, key: buyer.key })
      assert.deepStrictEqual([at(decided, "status"), at(decided, "decided_by")], ["resolved_refund", "deadline"])
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION)
      assert.strictEqual(yield* earned(offer), 0)
    })
  )

  it.effect("are not prevented by an answer after the deadline, before the job has run", () =>
    Effect.gen(function* () {
      const { id, offer } = yield* filed
      const disputes = yield* Disputes
      const answer = disputes.respond(ProviderId.make(offer.provider.id), DisputeId.make(id), {
        action: "contest",
        text: "The output was right.",
        evidence: undefined
      })
      const rejected = yield* Effect.flip(later("169 hours")(answer))
      assert.deepInclude(rejected, { _tag: "NotAnswerable", status: "past its deadline" })
      assert.strictEqual((yield* later("167 hours")(answer)).status, "under_review")
    })
  )

  it.effect("continue although one of the due disputes cannot be decided", () =>
    Effect.gen(function* () {
      const [stuck, other] = [yield* filed, yield* filed]
      // Its money has moved under its name before: it cannot move again.
      const amount = Microcents.make(1n)
      const reference = `dispute:${stuck.id}`
      yield* (yield* Ledger).credit({ reference, consumerId: ConsumerId.make(stuck.buyer.id), amount })
      const disputes = yield* Disputes
      const exit = yield* Effect.exit(later("169 hours")(disputes.work))
      assert.isTrue(Exit.hasDies(exit), "the round fails at its end")
      const statusOf = (id: string) => Effect.map(send({ path: `${DISPUTES}/${id}` }), (shown) => at(shown, "status"))
      assert.deepStrictEqual([yield* statusOf(stuck.id), yield* statusOf(other.id)], ["filed", "resolved_refund"])
      // The next rounds have nothing to fail of.
      assert.strictEqual((yield* resolve(stuck.id, { resolution: "resolved_denied" })).status, 200)
    })
  )

  it.effect("are for the filer when the operator misses the stated deadline, and not before", () =>
    Effect.gen(function* () {
      const { buyer, id, offer } = yield* filed
      const contested = yield* contest(offer.provider, id)
      const until = textAt(contested, "decide_by")
      assert.strictEqual(Date.parse(until) - Date.parse(textAt(contested, "answer", "at")), 30 * 86_400_000)
      const disputes = yield* Disputes
      const shown = () => expecting(200, { path: `${DISPUTES}/${id}` })
      assert.strictEqual(at(yield* shown(), "decide_by"), until, "everybody sees it")
      yield* when(until)(disputes.work)
      assert.strictEqual(at(yield* shown(), "status"), "under_review")
      const past = when(new Date(Date.parse(until) + 1).toISOString())
      const tooLate = yield* past(resolve(id, { resolution: "resolved_denied" }))
      assert.deepStrictEqual(problemOf(tooLate), [409, "DUPLICATE"])
      assert.include(textAt(tooLate, "message"), "past the operator's deadline")
      for (const decided of [1, 0]) {
        const before = yield* earned(offer)
        yield* past(disputes.work)
        assert.strictEqual(before - (yield* earned(offer)), decided * (PRICE - FEE))
      }
      const decided = yield* shown()
      assert.deepStrictEqual(
        [at(decided, "status"), at(decided, "decided_by"), at(decided, "decide_by")],
        ["resolved_refund", "operator_deadline", until]
      )
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION)
      yield* books
    })
  )

  it.effect("about a billed call that failed follow the receipt", () =>
    Effect.gen(function* () {
      const server = yield* providing((_, response) => void response.writeHead(500).end())
      const offer = yield* anOffer(server.url, { billing_policy: "attempt" })
      const buyer = yield* aFundedConsumer()
      const failed = yield* buy(buyer, offer)
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION - PRICE, failed.text)
      const answer = yield* file(buyer, textAt(failed, "receipt_id"), { reason: "tool_error" })
      assert.include(textAt(answer, "message"), "The outcome on the receipt is error")
      assert.isAtLeast(yield* Effect.flatMap(Disputes, (one) => one.work), 1)
      const id = textAt(answer, "dispute_id")
      const decided = yield* expecting(200, { path: `${DISPUTES}/${id}`, key: buyer.key })
      assert.deepStrictEqual([at(decided, "status"), at(decided, "decided_by")], ["resolved_refund", "evidence"])
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION)
    })
  )

  it.effect("about output that does not fit the tool's schema are for the consumer, where it was paid for", () =>
    Effect.gen(function* () {
      const output_schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
      const answers: Array<object> = [{ n: "one" }, {}, { n: 1 }]
      const server = yield* providing((seen, response, n) =>
        json(response, result(seen, { ...text("so"), structuredContent: answers[n - 1] }))
      )
      const offer = yield* anOffer(server.url, { output_schema })
      const buyer = yield* aFundedConsumer()
      const receipts: Array<string> = []
      for (const _ of answers) receipts.push(textAt(yield* buy(buyer, offer), "meta", "receipt_id"))
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION - 3 * PRICE)
      const ids: Array<string> = []
      for (const receiptId of receipts) {
        const answer = yield* file(buyer, receiptId)
        ids.push(textAt(answer, "dispute_id"))
        const isFit = receiptId === receipts[2]
        assert.match(textAt(answer, "message"), isFit ? /7 days/u : /does not match the tool's output schema/u)
      }
      assert.isAtLeast(yield* Effect.flatMap(Disputes, (one) => one.work), 2)
      const stand = yield* Effect.forEach(ids, (id) =>
        Effect.map(expecting(200, { path: `${DISPUTES}/${id}`, key: buyer.key }), (shown) => [
          at(shown, "status"),
          at(shown, "decided_by")
        ])
      )
      const refunded = ["resolved_refund", "evidence"]
      assert.deepStrictEqual(stand, [refunded, refunded, ["filed", null]])
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION - PRICE)
      yield* books
    })
  )

  it.effect("about a provider's own receipt refund the call", () =>
    Effect.gen(function* () {
      const { buyer, offer, receiptId } = yield* sold
      const answer = yield* file(offer.provider, receiptId, { reason: "tool_error" })
      assert.strictEqual(at(answer, "filed_by_type"), "provider")
      yield* Effect.flatMap(Disputes, (one) => one.work)
      assert.strictEqual((yield* walletOf(buyer)).balance, MILLION)
    })
  )
})

for (const [name, core] of everyDisputedCore) {
  it.layer(core, LIVE)(`Automatic decisions of disputes over ${name}`, (it) => {
    it.effect("happen once, also when the operator decides at the deadline", () =>
      Effect.gen(function* () {
        const disputes = yield* Disputes
        const all = yield* Effect.forEach(Array.from({ length: 12 }), () => filed)
        for (const { id, offer } of all) yield* contest(offer.provider, id)
        const [inTime, after] = [later("29 days"), later("31 days")]
        const work = Effect.asVoid(Effect.exit(after(disputes.work)))
        yield* Effect.forEach(
          all.flatMap(({ id }) => [Effect.asVoid(inTime(resolve(id, { resolution: "resolved_denied" }))), work, work]),
          (one) => one,
          { concurrency: "unbounded" }
        )
        for (const { buyer, id, offer } of all) {
          const decided = yield* expecting(200, { path: `${DISPUTES}/${id}`, key: buyer.key })
          const wonBy = at(decided, "decided_by")
          assert.include(["operator", "operator_deadline"], wonBy)
          const isRefunded = wonBy === "operator_deadline"
          assert.strictEqual(at(decided, "status"), isRefunded ? "resolved_refund" : "resolved_denied")
          assert.strictEqual((yield* walletOf(buyer)).balance, isRefunded ? MILLION : MILLION - PRICE)
          assert.strictEqual(yield* earned(offer), isRefunded ? 0 : PRICE - FEE)
        }
        yield* books
      })
    )
  })
}
