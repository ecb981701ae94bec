/**
 * Receipts stay valid after the secret changes, as long as it stays in the key ring; and no receipt can be changed.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as NodeReceiptSigner from "../../adapters/crypto/NodeReceiptSigner.ts"
import { SIGNED_FIELDS } from "../../domain/receipts/Receipt.ts"
import { ReceiptSigner } from "../../domain/receipts/ReceiptSigner.ts"
import { at, expecting, textAt } from "../support/Market.ts"
import { later } from "../support/metering/TestTime.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  callOf,
  everyMarket,
  receiptsOf,
  type WireReceipt
} from "../support/metering/Shop.ts"
import { PostgresTest } from "../support/PostgresTest.ts"
import { serviceOnPostgres } from "../support/ServiceConfig.ts"
import { LIVE, ServiceUnderTest } from "../support/ServiceUnderTest.ts"

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

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`A receipt over ${name}`, (it) => {
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
}

const ring = (...secrets: readonly [string, ...Array<string>]) => {
  const [first, ...rest] = secrets
  return Effect.provide(NodeReceiptSigner.layer([Redacted.make(first), ...rest.map((secret) => Redacted.make(secret))]))
}

it.effect("The contract's check value is what its secret signs", () =>
  Effect.gen(function* () {
    const signer = yield* ReceiptSigner
    const canonical = "rcpt_00000000000000000000000000000001|t1|a1|p1|2026-01-01T00:00:00.000Z|50000|success"
    const signature = "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"
    assert.strictEqual(signer.sign(canonical), signature)
    assert.isTrue(signer.verify(canonical, signature))
    assert.isFalse(signer.verify(`${canonical}|`, signature))
    for (const wrong of ["", "00", signature.slice(2), `${signature}00`, "zz".repeat(32)]) {
      assert.isFalse(signer.verify(canonical, wrong))
    }
  }).pipe(ring("contract-check"))
)

it.effect("The first secret of a key ring signs, and every one verifies", () =>
  Effect.gen(function* () {
    const signer = yield* ReceiptSigner
    for (const secret of [FIRST, SECOND, "third"]) {
      const signature = yield* Effect.map(ReceiptSigner, (alone) => alone.sign("text")).pipe(ring(secret))
      assert.isTrue(signer.verify("text", signature))
      assert.strictEqual(signer.sign("text") === signature, secret === SECOND)
    }
    const stranger = yield* Effect.map(ReceiptSigner, (alone) => alone.sign("text")).pipe(ring("fourth"))
    assert.isFalse(signer.verify("text", stranger))
  }).pipe(ring(SECOND, FIRST, "third"))
)

it.effect("a signature with other characters is invalid, though each has the low byte of the right one", () =>
  Effect.gen(function* () {
    const { sign, verify } = yield* ReceiptSigner
    const signature = sign("a text")
    assert.isTrue(verify("a text", signature))
    const alike = String.fromCharCode(...[...signature].map((digit) => digit.charCodeAt(0) + 0x100))
    for (const other of [
      alike,
      signature.toUpperCase(),
      signature.slice(1),
      `${signature}0`,
      "",
      signature.slice(0, 63) + "\u0161"
    ]) {
      assert.isFalse(verify("a text", other), other)
    }
  }).pipe(Effect.provide(NodeReceiptSigner.layer([Redacted.make(FIRST)])))
)
