/**
 * Signed checkpoints (C2SP signed-note, tlog-checkpoint, tlog-cosignature) and the keys that verify them.
 */
import { type Bytes, fromBase64, hex, isShortText, sha256, utf8 } from "./Bytes.browser.ts"

export interface Key {
  readonly name: string
  readonly id: string
  readonly publicKey: Bytes
}

export interface Note {
  readonly text: string
  readonly signatures: ReadonlyArray<{ readonly name: string; readonly id: string; readonly bytes: Bytes }>
}

export const ED25519 = 1
export const COSIGNATURE = 4
const SIGNATURES_MAX = 32

/** `kind`: ED25519 or COSIGNATURE. */
export const parseKey = async (vkey: unknown, kind: number): Promise<Key | undefined> => {
  if (!isShortText(vkey)) return undefined
  const [name, id, ...rest] = vkey.trim().split("+")
  const bytes = fromBase64(rest.join("+"))
  if (!name || bytes?.length !== 33 || bytes[0] !== kind) return undefined
  const expected = hex((await sha256(utf8(`${name}\n`), bytes)).subarray(0, 4))
  return expected === id ? { name, id, publicKey: bytes.slice(1) } : undefined
}

export const parseNote = (note: string): Note | undefined => {
  const at = note.lastIndexOf("\n\n")
  if (at === -1 || !note.endsWith("\n")) return undefined
  const signatures = note
    .slice(at + 2, -1)
    .split("\n")
    .map((line) => {
      const [, name, encoded] = /^— ([^\s+]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? []
      const bytes = encoded === undefined ? undefined : fromBase64(encoded)
      return bytes === undefined || bytes.length <= 4
        ? undefined
        : { name: name!, id: hex(bytes.subarray(0, 4)), bytes: bytes.slice(4) }
    })
  if (signatures.length > SIGNATURES_MAX || !signatures.every((one) => one !== undefined)) return undefined
  return { text: note.slice(0, at + 1), signatures }
}

export const parseTree = (text: string) => {
  const [origin, size, root, ...more] = text.split("\n")
  const bytes = root === undefined ? undefined : fromBase64(root)
  if (!origin || bytes?.length !== 32 || more.join("") !== "") return undefined
  return /^(?:0|[1-9]\d{0,15})$/u.test(size!) ? { origin, size: Number(size), root: bytes } : undefined
}

const signaturesBy = ({ signatures }: Note, key: Key) =>
  signatures.filter(({ id, name }) => name === key.name && id === key.id)

export const isSigned = async (note: Note, key: Key): Promise<boolean> => {
  const [signature, ...others] = signaturesBy(note, key)
  return signature !== undefined && others.length === 0 && verifies(key, signature.bytes, note.text)
}

/** A witness's signature starts with its timestamp, which it also signs. */
export const isCosigned = async (note: Note, key: Key): Promise<boolean> => {
  const [signature] = signaturesBy(note, key)
  if (signature?.bytes.length !== 72) return false
  const { buffer, byteOffset } = signature.bytes
  const time = new DataView(buffer, byteOffset).getBigUint64(0)
  return verifies(key, signature.bytes.slice(8), `cosignature/v1\ntime ${time}\n${note.text}`)
}

const verifies = async ({ publicKey }: Key, signature: Bytes, text: string): Promise<boolean> => {
  if (signature.length !== 64) return false
  const key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"])
  return crypto.subtle.verify("Ed25519", key, signature, utf8(text))
}
