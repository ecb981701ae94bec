/**
 * Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint): the text that a log signs, signature lines, and the
 * text form of a public key.
 */
import { type Hash, HASH_BYTES, type Sha256 } from "./MerkleTree.ts"

// Base64 of RFC 4648, section 4, strict and with padding: one text for the same bytes.

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Undefined for text that `toBase64` does not produce. */
export const fromBase64 = (text: string): Uint8Array | undefined => {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return toBase64(bytes) === text ? bytes : undefined
}

/** The types of signatures in use. */
export const ED25519 = 0x01
export const COSIGNATURE = 0x04

/** The public key of a log or a witness, with its name. */
export interface NoteKey {
  readonly name: string
  readonly kind: typeof ED25519 | typeof COSIGNATURE
  /** 32 bytes. */
  readonly publicKey: Uint8Array
}

export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Hash
}

export interface NoteSignature {
  readonly name: string
  readonly keyId: string
  readonly signature: Uint8Array
}

export interface Note {
  /** The signed text ends with a newline. */
  readonly text: string
  readonly signatures: ReadonlyArray<NoteSignature>
}

const utf8 = new TextEncoder()
const KEY_ID_BYTES = 4
const SIGNATURES_MAX = 32

export const bytesOf = (text: string): Uint8Array => utf8.encode(text)

/** Eight hex digits. */
export const keyIdOf = (sha256: Sha256, { kind, name, publicKey }: NoteKey): string =>
  hex(sha256(concat(bytesOf(`${name}\n`), Uint8Array.of(kind), publicKey)).subarray(0, KEY_ID_BYTES))

/** `name+id+key`, the vkey that a verifier needs. */
export const formatKey = (sha256: Sha256, key: NoteKey): string =>
  `${key.name}+${keyIdOf(sha256, key)}+${toBase64(concat(Uint8Array.of(key.kind), key.publicKey))}`

/** Undefined if the parts do not match. */
export const parseKey = (sha256: Sha256, text: string): NoteKey | undefined => {
  const [name, id, ...rest] = text.split("+")
  const bytes = fromBase64(rest.join("+"))
  const kind = bytes?.[0]
  if (!name || bytes?.length !== 33 || (kind !== ED25519 && kind !== COSIGNATURE)) return undefined
  const key: NoteKey = { name, kind, publicKey: bytes.slice(1) }
  return keyIdOf(sha256, key) === id ? key : undefined
}

export const checkpointText = ({ origin, root, size }: Checkpoint): string => `${origin}\n${size}\n${toBase64(root)}\n`

/** Undefined for anything else; lines after the third are allowed and ignored. */
export const parseCheckpoint = (text: string): Checkpoint | undefined => {
  const [origin, size, root] = text.split("\n")
  const bytes = root === undefined ? undefined : fromBase64(root)
  if (!origin || !text.endsWith("\n") || bytes?.length !== HASH_BYTES) return undefined
  return /^(?:0|[1-9]\d{0,15})$/u.test(size!) ? { origin, size: Number(size), root: bytes } : undefined
}

export const signatureLine = (sha256: Sha256, key: NoteKey, signature: Uint8Array): string => {
  const id = Uint8Array.from(keyIdOf(sha256, key).match(/../gu)!, (byte) => Number.parseInt(byte, 16))
  return `— ${key.name} ${toBase64(concat(id, signature))}\n`
}

export const formatNote = (text: string, lines: ReadonlyArray<string>): string => `${text}\n${lines.join("")}`

export const parseNote = (note: string): Note | undefined => {
  const at = note.lastIndexOf("\n\n")
  // Control characters other than newline are not allowed in a note.
  // oxlint-disable-next-line no-control-regex
  if (at === -1 || !note.endsWith("\n") || /[\u0000-\u0009\u000b-\u001f]/u.test(note)) return undefined
  const lines = note.slice(at + 2, -1).split("\n")
  const signatures: Array<NoteSignature> = []
  for (const line of lines) {
    const [dash, name, encoded, ...more] = line.split(" ")
    const bytes = encoded === undefined ? undefined : fromBase64(encoded)
    if (dash !== "—" || !name || more.length > 0 || bytes === undefined || bytes.length <= KEY_ID_BYTES)
      return undefined
    signatures.push({ name, keyId: hex(bytes.subarray(0, KEY_ID_BYTES)), signature: bytes.subarray(KEY_ID_BYTES) })
  }
  return signatures.length > SIGNATURES_MAX ? undefined : { text: note.slice(0, at + 1), signatures }
}

/** The note of a tree: the same for the same tree and key. */
export const signedCheckpoint = (
  sha256: Sha256,
  key: NoteKey,
  tree: Omit<Checkpoint, "origin">,
  sign: (message: Uint8Array) => Uint8Array
): string => {
  const text = checkpointText({ origin: key.name, ...tree })
  return formatNote(text, [signatureLine(sha256, key, sign(bytesOf(text)))])
}

/** A witness signs the checkpoint after the time of the signature. */
export const cosignedText = (checkpoint: string, atSeconds: number): string =>
  `cosignature/v1\ntime ${atSeconds}\n${checkpoint}`

export const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
