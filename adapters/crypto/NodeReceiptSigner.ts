/**
 * Signs receipts with HMAC-SHA256. The first secret signs, all of them verify.
 */
import { type Array as Arr, Effect, Layer, Redacted } from "effect"
import { timingSafeEqual } from "node:crypto"
import { ReceiptSigner } from "../../domain/receipts/Receipts.ts"
import { hmacOf } from "./Hmac.ts"

const SIGNATURE = /^[0-9a-f]{64}$/u

export const layer = (secrets: Arr.NonEmptyReadonlyArray<Redacted.Redacted>): Layer.Layer<ReceiptSigner> =>
  Layer.sync(ReceiptSigner, () => {
    const ring = secrets.map((secret) => hmacOf(Buffer.from(Redacted.value(secret), "utf8")))
    const [given, expected] = [Buffer.alloc(64), Buffer.alloc(64)]
    return ReceiptSigner.of({
      sign: (canonical) => Effect.succeed(ring[0]!(canonical)),
      verify: (canonical, signatureHex) => {
        // A character outside of ASCII would be compared in part only.
        if (!SIGNATURE.test(signatureHex)) return Effect.succeed(false)
        given.write(signatureHex, "latin1")
        const isGenuine = ring.some((sign) => {
          expected.write(sign(canonical), "latin1")
          return timingSafeEqual(given, expected)
        })
        return Effect.succeed(isGenuine)
      }
    })
  })
