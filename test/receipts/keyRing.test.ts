/**
 * Receipts stay valid after the secret changes, as long as it stays in the key ring; and no receipt can be changed.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as NodeReceiptSigner from "../../adapters/crypto/NodeReceiptSigner.ts"
import { ReceiptSigner, SIGNED_FIELDS } from "../../domain/receipts/Receipts.ts"
import { at, expecting, textAt } from "../support/market/Market.ts"
import { serviceOnPostgres } from "../support/market/ServiceConfig.ts"
import { LIVE, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  callOf,
  memoryMarket,
  receiptsOf,
  type WireReceipt
} from "../support/metering/Shop.ts"
import { later } from "../support/metering/TestTime.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"

const [FIRST, SECOND] = ["1".repeat(32), "2".repeat(32)]

const reasonFor = (receipt: unknown) =>
  Effect.map(expecting(200, { path: "/api/v1/verify", json: receipt }), (answer) =>
    textAt(answer, "verification", "reason")
  )

const fetched = ({ receipt_id }: WireReceipt) => expecting(200, { path: `/api/v1/market/receipts/${receipt_id}` })

/** The receipt's own bytes in the response. */
const bytesOf = (text: string): string => text.slice(`{"receipt":`.length, text.indexOf(`,"verification"`))

it.layer(PostgresTest.layerDatabase, LIVE)("A receipt", (it) => {
  const signingWith = (secret: string, ...old: ReadonlyArray<string>) =>
    Effect.provide(
      ServiceUnderTest.over(
        serviceOnPostgres({
          ALLOW_UPSTREAM: "loopback",
          PAYMENTS: "dry_run",
          RECEIPT_SIGNING_SECRET: secret,
          ...(old.length === 0 ? {} : { RECEIPT_SIGNING_SECRETS_OLD: old.join(",") })
        })
      )
    )

  it.effect("is returned byte for byte as it was signed, after restarts, another secret, and a year", () =>
    Effect.gen(function* () {
      const [receipt, bytes] = yield* Effect.gen(function* () {
        const consumer = yield* aFundedConsumer()
        const offer = yield* anOffer((yield* providing(fine)).url, { tool_name: "a/b.c-d_E" })
        yield* expecting(200, callOf(consumer, offer))
        const [issued] = yield* receiptsOf(consumer)
        return [issued!, bytesOf((yield* fetched(issued!)).text)] as const
      }).pipe(signingWith(FIRST))
      assert.strictEqual(bytes, JSON.stringify(receipt))

      yield* Effect.gen(function* () {
        const answer = yield* fetched(receipt).pipe(later("365 days"))
        assert.strictEqual(bytesOf(answer.text), bytes)
        assert.strictEqual(at(answer, "verification", "valid"), true)
        const proof = `https://market.example/api/v1/market/receipts/${receipt.receipt_id}/proof`
        assert.strictEqual(answer.headers["link"], `<${proof}>; rel="describedby"`)
        assert.strictEqual(yield* reasonFor(receipt), "ok")
      }).pipe(signingWith(SECOND, FIRST))

      yield* Effect.gen(function* () {
        const answer = yield* fetched(receipt)
        assert.strictEqual(bytesOf(answer.text), bytes)
        assert.strictEqual(at(answer, "verification", "valid"), false)
        assert.strictEqual(yield* reasonFor(receipt), "signature_mismatch")
      }).pipe(signingWith(SECOND))
    })
  )
})

it.layer(memoryMarket(), LIVE)("A receipt", (it) => {
  it.effect("is valid as it is, and invalid with any signed field changed", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const offer = yield* anOffer((yield* providing(fine)).url)
      yield* expecting(200, callOf(consumer, offer))
      yield* expecting(200, callOf(consumer, offer))
      const [receipt, another] = yield* receiptsOf(consumer)
      assert.strictEqual(yield* reasonFor(receipt), "ok")
      for (const field of SIGNED_FIELDS) {
        const value = receipt![field]
        const changed =
          typeof value === "number" ? value - 1 : value.replace(/.$/u, (last) => (last === "0" ? "1" : "0"))
        assert.strictEqual(yield* reasonFor({ ...receipt, [field]: changed }), "signature_mismatch", field)
      }
      assert.strictEqual(yield* reasonFor({ ...receipt, signature: another!.signature }), "signature_mismatch")
      const unsigned = { tool_name: "other", duration_ms: 0, created_at: "2000-01-01T00:00:00.000Z" }
      assert.strictEqual(yield* reasonFor({ ...receipt, ...unsigned }), "ok")
    })
  )

  it.effect("is invalid for another market", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      yield* expecting(200, callOf(consumer, yield* anOffer((yield* providing(fine)).url)))
      const [receipt] = yield* receiptsOf(consumer)
      const elsewhere = yield* reasonFor(receipt).pipe(Effect.provide(ServiceUnderTest.memory(), { local: true }))
      assert.strictEqual(elsewhere, "signature_mismatch")
    })
  )
})

const ring = (...secrets: readonly [string, ...Array<string>]) => {
  const [first, ...rest] = secrets
  return Effect.provide(NodeReceiptSigner.layer([Redacted.make(first), ...rest.map((secret) => Redacted.make(secret))]))
}

const signedBy = (secret: string) => Effect.flatMap(ReceiptSigner, (alone) => alone.sign("text")).pipe(ring(secret))

it.effect("The first secret of a key ring signs, and every one verifies", () =>
  Effect.gen(function* () {
    const signer = yield* ReceiptSigner
    for (const secret of [FIRST, SECOND, "third"]) {
      const signature = yield* signedBy(secret)
      assert.isTrue(yield* signer.verify("text", signature))
      assert.strictEqual((yield* signer.sign("text")) === signature, secret === SECOND)
    }
    assert.isFalse(yield* signer.verify("text", yield* signedBy("fourth")))
  }).pipe(ring(SECOND, FIRST, "third"))
)
