/**
 * AES-256-GCM with a key derived from each secret by HKDF: the first one encrypts, all of them decrypt. Format:
 * `v1.<key id>.<base64url of nonce, ciphertext and tag>`.
 */
import { type Array as Arr, Layer, Option, Redacted } from "effect"
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto"
import { Sealer } from "../../domain/shared/Cryptography.ts"

const VERSION = "v1"
const ALGORITHM = "aes-256-gcm"
const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16

interface SealingKey {
  readonly id: string
  readonly key: KeyObject
}

export const layer = (secrets: Arr.NonEmptyReadonlyArray<Redacted.Redacted>): Layer.Layer<Sealer> =>
  Layer.sync(Sealer, () => {
    const ring = secrets.map(derive)
    const sealing = ring[0]!
    const opening = new Map(ring.map((one) => [one.id, one]))
    return Sealer.of({
      seal: (text, context) => `${VERSION}.${sealing.id}.${encrypt(sealing, text, context).toString("base64url")}`,
      open: (sealed, context) => {
        const [version, id, body, ...rest] = sealed.split(".")
        const key = opening.get(id ?? "")
        if (version !== VERSION || key === undefined || body === undefined || rest.length > 0) return Option.none()
        return decrypt(key, Buffer.from(body, "base64url"), context)
      }
    })
  })

const derive = (secret: Redacted.Redacted): SealingKey => {
  const of = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync("sha256", Redacted.value(secret), "", `agent-tool-billing/sealer/${purpose}`, bytes))
  return { id: of("key id", KEY_ID_BYTES).toString("hex"), key: createSecretKey(of("key", KEY_BYTES)) }
}

const encrypt = ({ key }: SealingKey, text: string, context: string): Buffer => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()])
}

const decrypt = ({ key }: SealingKey, sealed: Buffer, context: string): Option.Option<string> => {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return Option.none()
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    const opened = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
    return Option.some(Buffer.concat(opened).toString("utf8"))
  } catch {
    return Option.none()
  }
}
