/**
 * Ed25519 (RFC 8032) by Node, from a seed of 32 bytes.
 */
import { Layer, Redacted } from "effect"
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto"
import { LogSigner } from "../../domain/log/LogStore.ts"

/** Prefix of the seed in a key file (PKCS #8, DER). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex")
/** Prefix of a public key (SPKI, DER). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex")
const PUBLIC_KEY_BYTES = 32

/** Signs the log with the Ed25519 key of a seed: 64 hex digits. */
export const layer = (seedHex: Redacted.Redacted): Layer.Layer<LogSigner> =>
  Layer.sync(LogSigner, () => {
    const privateKey = createPrivateKey({
      key: Buffer.concat([PKCS8_PREFIX, Buffer.from(Redacted.value(seedHex), "hex")]),
      format: "der",
      type: "pkcs8"
    })
    const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-PUBLIC_KEY_BYTES)
    return LogSigner.of({ publicKey, sign: (message) => sign(null, message, privateKey), verify: isSignedBy })
  })

const isSignedBy = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
  publicKey.length === PUBLIC_KEY_BYTES &&
  verify(
    null,
    message,
    createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: "der", type: "spki" }),
    signature
  )
