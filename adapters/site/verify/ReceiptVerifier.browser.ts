/**
 * Verifies a receipt offline, from its text, its proof and the log's public key: the checkpoint is signed by the key, the
 * receipt's commitment is a leaf under the signed root (RFC 6962), and every named witness has signed the same root. The
 * modules in this folder import nothing else and run on WebCrypto in browsers and in Node.
 */

// Bytes: SHA-256, encodings, comparison. Runs in browsers and in Node.

type Bytes = Uint8Array<ArrayBuffer>

/** Synchronous where available: WebCrypto would send each of a proof's hashes to another thread. */
const nodeCrypto: { readonly hash?: (name: string, bytes: Bytes, form: "buffer") => Bytes } | undefined =
  typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:crypto")

const sha256 = async (...parts: ReadonlyArray<Bytes>): Promise<Bytes> => {
  const bytes = concat(parts)
  return nodeCrypto?.hash?.("sha256", bytes, "buffer") ?? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
}

const concat = (parts: ReadonlyArray<Bytes>): Bytes => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

const hex = (bytes: Bytes): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

const BASE64_CHARS_MAX = 65_536

/** Undefined unless it is the canonical encoding. */
const fromBase64 = (text: string): Bytes | undefined => {
  if (text.length > BASE64_CHARS_MAX) return undefined
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return btoa(String.fromCharCode(...bytes)) === text ? bytes : undefined
}

/** Any receipt, proof or note is shorter. */
const TEXT_CHARS_MAX = 1_048_576

const isShortText = (value: unknown): value is string => typeof value === "string" && value.length <= TEXT_CHARS_MAX

// Merkle inclusion proofs (C2SP tlog-proof, RFC 9162).

interface InclusionProof {
  readonly salt: Bytes
  readonly index: number
  readonly path: ReadonlyArray<Bytes>
  readonly checkpoint: string
}

const parseProof = (text: string): InclusionProof | undefined => {
  const at = text.indexOf("\n\n")
  const [header, extra, index, ...lines] = text.slice(0, at).split("\n")
  const salt = extra?.startsWith("extra ") ? fromBase64(extra.slice(6)) : undefined
  const path = lines.map(fromBase64)
  if (at === -1 || header !== "c2sp.org/tlog-proof@v1" || salt?.length !== 32) return undefined
  if (!/^index (?:0|[1-9]\d{0,15})$/u.test(index ?? "")) return undefined
  if (path.length > 63 || !path.every((hash) => hash?.length === 32)) return undefined
  return { salt, index: Number(index!.slice(6)), path: path as Array<Bytes>, checkpoint: text.slice(at + 2) }
}

/** The root of a tree of this size, from an entry and its proof (RFC 9162, section 2.1.3.2). */
const rootOf = async (entry: Bytes, { index, path }: InclusionProof, size: number): Promise<Bytes | undefined> => {
  if (index >= size) return undefined
  let at = index
  let last = size - 1
  let root = await sha256(Uint8Array.of(0), entry)
  for (const hash of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      root = await sha256(Uint8Array.of(1), hash, root)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else root = await sha256(Uint8Array.of(1), root, hash)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}

// Signed checkpoints (C2SP signed-note, tlog-checkpoint, tlog-cosignature) and the keys that verify them.

interface Key {
  readonly name: string
  readonly id: string
  readonly publicKey: Bytes
}

interface Note {
  readonly text: string
  readonly signatures: ReadonlyArray<{ readonly name: string; readonly id: string; readonly bytes: Bytes }>
}

const ED25519 = 1
const COSIGNATURE = 4
const SIGNATURES_MAX = 32

/** `kind`: ED25519 or COSIGNATURE. */
const parseKey = async (vkey: unknown, kind: number): Promise<Key | undefined> => {
  if (!isShortText(vkey)) return undefined
  const [name, id, ...rest] = vkey.trim().split("+")
  const bytes = fromBase64(rest.join("+"))
  if (!name || bytes?.length !== 33 || bytes[0] !== kind) return undefined
  const expected = hex((await sha256(utf8(`${name}\n`), bytes)).subarray(0, 4))
  return expected === id ? { name, id, publicKey: bytes.slice(1) } : undefined
}

const parseNote = (note: string): Note | undefined => {
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

const parseTree = (text: string) => {
  const [origin, size, root, ...more] = text.split("\n")
  const bytes = root === undefined ? undefined : fromBase64(root)
  if (!origin || bytes?.length !== 32 || more.join("") !== "") return undefined
  return /^(?:0|[1-9]\d{0,15})$/u.test(size!) ? { origin, size: Number(size), root: bytes } : undefined
}

const signaturesBy = ({ signatures }: Note, key: Key) =>
  signatures.filter(({ id, name }) => name === key.name && id === key.id)

const isSigned = async (note: Note, key: Key): Promise<boolean> => {
  const [signature, ...others] = signaturesBy(note, key)
  return signature !== undefined && others.length === 0 && verifies(key, signature.bytes, note.text)
}

/** A witness's signature starts with its timestamp, which it also signs. */
const isCosigned = async (note: Note, key: Key): Promise<boolean> => {
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

/** Says that the proof shows the receipt in the log, or the first reason why it does not. */
export type ReceiptVerdict =
  | {
      readonly valid: true
      readonly reason: "ok"
      readonly origin: string
      readonly leafIndex: number
      readonly treeSize: number
      /** Names of the witnesses whose signatures were verified. */
      readonly witnesses: ReadonlyArray<string>
    }
  | {
      readonly valid: false
      readonly reason:
        | "bad_key"
        | "bad_receipt"
        | "bad_proof"
        | "wrong_log"
        | "bad_signature"
        | "wrong_checkpoint"
        | "not_in_tree"
        | "witness_missing"
        | "unsupported"
      readonly message: string
    }

/** Witnesses that must confirm the log's tree. Without them only the log's own signature is verified. */
export interface VerifyOptions {
  /** Public keys of witnesses, each of which must have signed. */
  readonly witnesses?: ReadonlyArray<string>
  /** The proof's checkpoint with the witnesses' signatures, as a witness serves it. */
  readonly checkpoint?: string
}

const COMMITMENT_PREFIX = "agent-tool-billing/receipt/v1\n"
const STRING_FIELDS = [
  "agent_id",
  "created_at",
  "provider_id",
  "receipt_id",
  "signature",
  "status",
  "timestamp",
  "tool_id",
  "tool_name"
]
const INTEGER_FIELDS = ["cost_microcents", "duration_ms"]

/**
 * `receipt`: text or parsed JSON, bare or as `{receipt}`. `proof`: as the API serves it. Any input gets a verdict; the promise
 * is never rejected.
 */
export const verifyReceipt = async (
  receipt: unknown,
  proof: string,
  vkey: string,
  options: VerifyOptions = {}
): Promise<ReceiptVerdict> => {
  try {
    return await verdictOn(receipt, proof, vkey, options)
  } catch {
    return invalid("unsupported", "Ed25519 is not available in this environment's WebCrypto, or it rejected the key.")
  }
}

const verdictOn = async (
  receipt: unknown,
  proof: unknown,
  vkey: unknown,
  options: { readonly witnesses?: unknown; readonly checkpoint?: unknown } | null
): Promise<ReceiptVerdict> => {
  const key = await parseKey(vkey, ED25519)
  if (key === undefined) return invalid("bad_key", "The log's key is not a C2SP vkey with an Ed25519 key.")
  const canonical = canonicalReceipt(receipt)
  if (canonical === undefined) {
    return invalid(
      "bad_receipt",
      "This is not a receipt. A receipt has exactly eleven fields: nine strings and two integers. Its id is `rcpt_` and at least 16 hex digits."
    )
  }
  const parsed = isShortText(proof) ? parseProof(proof) : undefined
  const note = parsed === undefined ? undefined : parseNote(parsed.checkpoint)
  const tree = note === undefined ? undefined : parseTree(note.text)
  if (parsed === undefined || note === undefined || tree === undefined) {
    return invalid("bad_proof", "The proof is not a c2sp.org/tlog-proof@v1 document.")
  }
  if (tree.origin !== key.name)
    return invalid("wrong_log", `The proof is from the log ${tree.origin}; the key belongs to ${key.name}.`)
  if (!(await isSigned(note, key))) return invalid("bad_signature", "The checkpoint is not signed by the log's key.")

  const root = await rootOf(await sha256(utf8(COMMITMENT_PREFIX), parsed.salt, utf8(canonical)), parsed, tree.size)
  if (root === undefined || hex(root) !== hex(tree.root)) {
    return invalid("not_in_tree", "The proof does not match this receipt and the signed root.")
  }

  const { checkpoint, witnesses = [] } = options ?? {}
  const cosigned = checkpoint === undefined ? note : isShortText(checkpoint) ? parseNote(checkpoint) : undefined
  if (cosigned?.text !== note.text) {
    return invalid("wrong_checkpoint", "The checkpoint of the witnesses differs from the proof's.")
  }
  if (!Array.isArray(witnesses)) return invalid("bad_key", "`witnesses` is not a list of C2SP vkeys.")
  const names: Array<string> = []
  for (const one of witnesses as ReadonlyArray<unknown>) {
    const witness = await parseKey(one, COSIGNATURE)
    if (witness === undefined) return invalid("bad_key", `Witness key ${names.length + 1} is not a C2SP vkey.`)
    if (!(await isCosigned(cosigned, witness)))
      return invalid("witness_missing", `${witness.name} has not signed this root.`)
    names.push(witness.name)
  }
  return {
    valid: true,
    reason: "ok",
    origin: tree.origin,
    leafIndex: parsed.index,
    treeSize: tree.size,
    witnesses: names
  }
}

const invalid = (reason: Exclude<ReceiptVerdict["reason"], "ok">, message: string): ReceiptVerdict => ({
  valid: false,
  reason,
  message
})

/** Canonical JSON (RFC 8785). Undefined unless it is exactly a receipt. */
const canonicalReceipt = (given: unknown): string | undefined => {
  const names = [...STRING_FIELDS, ...INTEGER_FIELDS].toSorted()
  const receipt = copyOf(typeof given === "string" ? parseJson(given) : given)
  if (receipt === undefined || Object.keys(receipt).toSorted().join() !== names.join()) return undefined
  if (!STRING_FIELDS.every((name) => isShortText(receipt[name]))) return undefined
  if (!INTEGER_FIELDS.every((name) => Number.isSafeInteger(receipt[name]))) return undefined
  if (!/^rcpt_[0-9a-f]{16,}$/u.test(String(receipt["receipt_id"]))) return undefined
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, receipt[name]])))
}

/** Getters and proxies may throw, or return another value at the second read. */
const copyOf = (given: unknown): Readonly<Record<string, unknown>> | undefined => {
  try {
    if (!isRecord(given)) return undefined
    const inner = given["receipt"]
    return { ...(isRecord(inner) ? inner : given) }
  } catch {
    return undefined
  }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
