/**
 * Contract of receipt signers, with keys in the process and elsewhere.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { answered, ReceiptSigner } from "../../domain/receipts/ReceiptSigner.ts"

const AT_ONCE = 100
/** contract.md, section 7. */
const CHECK = {
  secret: "contract-check",
  canonical: "rcpt_00000000000000000000000000000001|t1|a1|p1|2026-01-01T00:00:00.000Z|50000|success",
  signature: "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"
}

export const receiptSignerContract = (name: string, withSecret: (secret: string) => Layer.Layer<ReceiptSigner>) => {
  it.layer(withSecret(CHECK.secret), { excludeTestServices: true })(`ReceiptSigner with ${name}`, (it) => {
    const sign = Effect.fnUntraced(function* (text: string) {
      return yield* answered((yield* ReceiptSigner).sign(text))
    })
    const verify = Effect.fnUntraced(function* (text: string, signature: string) {
      return yield* answered((yield* ReceiptSigner).verify(text, signature))
    })

    it.effect("signs the contract's check value", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* sign(CHECK.canonical), CHECK.signature)
        assert.isTrue(yield* verify(CHECK.canonical, CHECK.signature))
        assert.isFalse(yield* verify(`${CHECK.canonical}|`, CHECK.signature))
      })
    )

    it.effect("signs any text by its UTF-8 bytes, also many at once", () =>
      Effect.gen(function* () {
        const texts = Array.from({ length: AT_ONCE }, (_, n) => `${"é€😀|".repeat(n * 20)}${n}`)
        const signatures = yield* Effect.forEach(texts, sign, { concurrency: "unbounded" })
        assert.strictEqual(new Set(signatures).size, AT_ONCE)
        for (const signature of signatures) assert.match(signature, /^[0-9a-f]{64}$/u)
        const genuine = yield* Effect.forEach(texts, (text, n) => verify(text, signatures[n]!), {
          concurrency: "unbounded"
        })
        assert.isTrue(genuine.every((one) => one))
        assert.isFalse(yield* verify(texts[0]!, signatures[1]!))
      })
    )

    it.effect("rejects a signature of any other form, and one of another key", () =>
      Effect.gen(function* () {
        const signature = yield* sign("a text")
        // Each character has the low byte of the right one.
        const alike = String.fromCharCode(...[...signature].map((digit) => digit.charCodeAt(0) + 0x100))
        const other = yield* answered((yield* Effect.provide(ReceiptSigner, withSecret("another"))).sign("a text"))
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
          assert.isFalse(yield* verify("a text", wrong), wrong)
        }
      })
    )
  })
}
