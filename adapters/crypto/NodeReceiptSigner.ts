/**
 * HMAC-SHA256 (RFC 2104) with several secrets, from one-shot hashes: the pads of each secret are computed once, in
 * buffers that every receipt reuses. An Hmac object per receipt would cost several times the hashing. Reuse is safe
 * because nothing here is asynchronous.
 */
import { type Array as Arr, Layer, Redacted } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import { ReceiptSigner } from "../../domain/receipts/ReceiptSigner.ts"

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const SIGNATURE = /^[0-9a-f]{64}$/u
/** Canonical texts are shorter; a longer one gets its own buffer. */
const TEXT_BYTES = 1_024

interface Pads {
  /** The inner pad, and room for a text. */
  readonly inner: Buffer
  /** The outer pad, and room for a digest. */
  readonly outer: Buffer
}

export const layer = (secrets: Arr.NonEmptyReadonlyArray<Redacted.Redacted>): Layer.Layer<ReceiptSigner> =>
  Layer.sync(ReceiptSigner, () => {
    const ring = secrets.map((secret) => padsOf(Buffer.from(Redacted.value(secret), "utf8")))
    const signing = ring[0]!
    const [given, expected] = [Buffer.alloc(2 * DIGEST_BYTES), Buffer.alloc(2 * DIGEST_BYTES)]
    return ReceiptSigner.of({
      sign: (canonical) => tag(signing, canonical),
      verify: (canonical, signatureHex) => {
        // Of any other character only a part would be compared.
        if (!SIGNATURE.test(signatureHex)) return false
        given.write(signatureHex, "latin1")
        return ring.some((pads) => {
          expected.write(tag(pads, canonical), "latin1")
          return timingSafeEqual(given, expected)
        })
      }
    })
  })

const padsOf = (secret: Buffer): Pads => {
  const key = secret.length > BLOCK_BYTES ? hash("sha256", secret, "buffer") : secret
  const inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES, 0x36)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)
  for (const [at, byte] of key.entries()) {
    inner[at] = byte ^ 0x36
    outer[at] = byte ^ 0x5c
  }
  return { inner, outer }
}

/** In hex. */
const tag = ({ inner, outer }: Pads, text: string): string => {
  // Each UTF-16 unit takes at most three bytes of UTF-8.
  const message =
    text.length * 3 <= TEXT_BYTES
      ? inner.subarray(0, BLOCK_BYTES + inner.write(text, BLOCK_BYTES, "utf8"))
      : Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.from(text, "utf8")])
  outer.write(hash("sha256", message, "latin1"), BLOCK_BYTES, "latin1")
  return hash("sha256", outer, "hex")
}
