/**
 * What a ReceiptSigner must do, with a key in the process or elsewhere.
 */
import { Effect, type Layer } from "effect"
import assert from "node:assert/strict"
import { ReceiptSigner } from "../../../domain/receipts/Receipts.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const AT_ONCE = 100
/** contract.md, section 7. */
const CHECK = {
  secret: "contract-check",
  canonical: "rcpt_00000000000000000000000000000001|t1|a1|p1|2026-01-01T00:00:00.000Z|50000|success",
  signature: "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"
}

const sign = Effect.fnUntraced(function* (text: string) {
  return yield* (yield* ReceiptSigner).sign(text)
})
const verify = Effect.fnUntraced(function* (text: string, signature: string) {
  return yield* (yield* ReceiptSigner).verify(text, signature)
})

/** What a ReceiptSigner must do. You pass how to make one whose only key is the secret's UTF-8 bytes. */
export const receiptSignerContract = <E>(
  withSecret: (secret: string) => Layer.Layer<ReceiptSigner, E>
): Contract<never> => {
  const signerRule = <E2>(title: string, check: Effect.Effect<void, E2, ReceiptSigner>) =>
    rule(title, Effect.provide(check, withSecret(CHECK.secret)))
  return [
    signerRule(
      "signs the contract's check value",
      Effect.gen(function* () {
        assert.equal(yield* sign(CHECK.canonical), CHECK.signature)
        assert.equal(yield* verify(CHECK.canonical, CHECK.signature), true)
        assert.equal(yield* verify(`${CHECK.canonical}|`, CHECK.signature), false)
      })
    ),

    signerRule(
      "signs any text by its UTF-8 bytes, also many at once",
      Effect.gen(function* () {
        const texts = Array.from({ length: AT_ONCE }, (_, n) => `${"é€😀|".repeat(n * 20)}${n}`)
        const signatures = yield* Effect.forEach(texts, sign, { concurrency: "unbounded" })
        assert.equal(new Set(signatures).size, AT_ONCE)
        for (const signature of signatures) assert.match(signature, /^[0-9a-f]{64}$/u)
        const genuine = yield* Effect.forEach(texts, (text, n) => verify(text, signatures[n]!), {
          concurrency: "unbounded"
        })
        assert.equal(
          genuine.every((one) => one),
          true
        )
        assert.equal(yield* verify(texts[0]!, signatures[1]!), false)
      })
    ),

    signerRule(
      "rejects a signature of any other form, and one of another key",
      Effect.gen(function* () {
        const signature = yield* sign("a text")
        // Each character has the low byte of the right one.
        const alike = String.fromCharCode(...[...signature].map((digit) => digit.charCodeAt(0) + 0x100))
        const other = yield* (yield* Effect.provide(ReceiptSigner, withSecret("another"))).sign("a text")
        for (const wrong of [
          other,
          alike,
          signature.toUpperCase(),
          signature.slice(1),
          signature.slice(2),
          `${signature}0`,
          `${signature}00`,
          "zz".repeat(32),
          "00",
          "",
          `${signature.slice(0, 63)}\u0161`
        ]) {
          assert.equal(yield* verify("a text", wrong), false, wrong)
        }
      })
    )
  ]
}
