/**
 * HMAC-SHA256 (RFC 2104) over a ring of secrets, from one-shot hashes: the pads of each secret are laid down once, and no
 * Hmac object is made per receipt, which costs several times as much as the hashing.
 */
import { type Array as Arr, Layer, Redacted } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import { ReceiptSigner } from "../../domain/receipts/ReceiptSigner.ts"

const BLOCK_BYTES = 64

interface Pads {
  readonly inner: Buffer
  readonly outer: Buffer
}

export const layer = (secrets: Arr.NonEmptyReadonlyArray<Redacted.Redacted>): Layer.Layer<ReceiptSigner> =>
  Layer.sync(ReceiptSigner, () => {
    const ring = secrets.map((secret) => padsOf(Buffer.from(Redacted.value(secret), "utf8")))
    const signing = ring[0]!
    return ReceiptSigner.of({
      sign: (canonical) => tag(signing, canonical).toString("hex"),
      verify: (canonical, signatureHex) => {
        const given = Buffer.from(signatureHex, "hex")
        return ring.some((pads) => {
          const expected = tag(pads, canonical)
          return given.length === expected.length && timingSafeEqual(given, expected)
        })
      }
    })
  })

const padsOf = (secret: Buffer): Pads => {
  const key = secret.length > BLOCK_BYTES ? hash("sha256", secret, "buffer") : secret
  const padded = Buffer.concat([key], BLOCK_BYTES)
  return { inner: padded.map((byte) => byte ^ 0x36) as Buffer, outer: padded.map((byte) => byte ^ 0x5c) as Buffer }
}

const tag = ({ inner, outer }: Pads, text: string): Buffer =>
  hash(
    "sha256",
    Buffer.concat([outer, hash("sha256", Buffer.concat([inner, Buffer.from(text, "utf8")]), "buffer")]),
    "buffer"
  )
