/**
 * Stored answers: each is read as it was written, and a typical one is small.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import { answerColumns, answerOf } from "../../../adapters/sql/metering/KeptAnswers.ts"
import type { KeptResult } from "../../../domain/metering/CallStore.ts"

const stored = ({ status, ...answer }: KeptResult): KeptResult => answerOf(status, answerColumns({ status, ...answer }))

const receiptId = () => `rcpt_019${randomBytes(15).toString("hex").slice(1)}`

/** As the REST proxy answers. */
const anAnswer = (): KeptResult => {
  const id = receiptId()
  const meta = {
    tool: "Search the web",
    tool_name: "search_web",
    tool_id: randomUUID(),
    provider: "Example tools",
    provider_id: randomUUID(),
    cost_cents: 2.5,
    cost_microcents: 25_000,
    cost: "$0.025",
    latency_ms: 187,
    remaining_balance_cents: 99_731.25,
    remaining_balance_microcents: 997_312_500,
    free_tier_remaining: null,
    receipt_id: id,
    invocation_id: id,
    attempts: 1,
    outcome: "success"
  }
  return {
    status: 200,
    headers: {
      "x-market-cost": "25000",
      "x-market-provider": "Example tools",
      "x-market-latency": "187",
      "x-market-tool": "search_web",
      "x-market-receipt": id,
      link: `<https://billing.example.com/api/v1/market/receipts/${id}>; rel="receipt"`
    },
    body: `{"result":{"content":[{"type":"text","text":"12 degrees"}]},"meta":${JSON.stringify(meta)}}`
  }
}

describe("A stored answer", () => {
  it.prop(
    "is read as it was written",
    {
      headers: Schema.Record(Schema.String, Schema.String),
      body: Schema.String,
      value: Schema.Json
    },
    ({ body, headers, value }) => {
      for (const text of [body, `${body}\n${body}`, JSON.stringify(value), ""]) {
        const answer = { status: 200, headers, body: text.toWellFormed() }
        assert.deepStrictEqual(stored(answer), answer)
      }
    }
  )

  it("is read as it was written when it is long", () => {
    for (const length of [16_000, 16_385, 3_000_000]) {
      const answer = {
        status: 502,
        headers: { "x-market-tool": "a" },
        body: "\u20ac".repeat(length)
      }
      assert.deepStrictEqual(stored(answer), answer)
      const random = { ...answer, body: randomBytes(length / 2).toString("hex") }
      assert.deepStrictEqual(stored(random), random)
    }
  })

  it("has readable headers if its caller disconnected, also when its body is deleted", () => {
    const answer = anAnswer()
    const left = {
      ...answer,
      headers: { left: `1000 ${receiptId()} success 5`, ...answer.headers }
    }
    const columns = answerColumns(left)
    assert.match(columns.headers ?? "", /^\{"left":"1000 rcpt_/u)
    assert.deepStrictEqual(answerOf(200, columns), left)
    const withoutBody = answerColumns({ ...left, body: "" })
    assert.deepStrictEqual(withoutBody, { ...columns, body: new Uint8Array() })
    assert.deepStrictEqual(answerOf(200, withoutBody), { ...left, body: "" })
  })

  it("takes less than a third of its bytes if it is typical", () => {
    const answer = anAnswer()
    const { body, headers } = answerColumns(answer)
    assert.strictEqual(headers, null)
    assert.isBelow(body.length, (JSON.stringify(answer.headers).length + answer.body.length) / 3)
  })

  it("is rejected if it is coded in an unknown way", () => {
    assert.throws(() => answerOf(200, { headers: null, body: Buffer.of(9, 1, 2) }), /unknown coding 9/u)
  })
})
