/**
 * Verifies a receipt with nothing but its text, its proof, and the log's public key. It imports nothing of this project and
 * asks nobody: it runs on WebCrypto, in Node, in browsers, in a copy of your own (Node's own SHA-256 is taken where there
 * is one: it does not wait). What it checks: the proof's checkpoint is signed by the key (C2SP signed-note, Ed25519); the
 * receipt's commitment is a leaf of the tree under the signed root (RFC 6962); every witness that you name has signed the
 * same root (C2SP tlog-cosignature).
 */
export type ReceiptVerdict =
  | {
      readonly valid: true
      readonly reason: "ok"
      readonly origin: string
      readonly leafIndex: number
      readonly treeSize: number
      /** Names of the witnesses that were asked for. */
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

export interface VerifyOptions {
  /** Public keys of witnesses, each of which must have signed. */
  readonly witnesses?: ReadonlyArray<string>
  /** The same checkpoint as in the proof, but with the witnesses' signatures, as a witness serves it. */
  readonly checkpoint?: string
}

type Bytes = Uint8Array<ArrayBuffer>

interface Key {
  readonly name: string
  readonly id: string
  readonly kind: number
  readonly publicKey: Bytes
}

interface Note {
  readonly text: string
  readonly signatures: ReadonlyArray<{ readonly name: string; readonly id: string; readonly bytes: Bytes }>
}

const PREFIX = "agent-tool-billing/receipt/v1\n"
const ED25519 = 1
const COSIGNATURE = 4
const SIGNATURES_MAX = 32
/** Of a receipt, a proof, a note, and of base64 in them: far more than any has. */
const TEXT_CHARS_MAX = 1_048_576
const BASE64_CHARS_MAX = 65_536
const TEXTS = [
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
const NUMBERS = ["cost_microcents", "duration_ms"]

/**
 * `receipt` as text or as parsed JSON, bare or inside `{receipt}`; `proof` as the service serves it. Whatever is given, the
 * answer is a verdict: the promise is never rejected.
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
    return refused("unsupported", "This cannot be checked here: Ed25519 in WebCrypto is missing or refused the key.")
  }
}

const verdictOn = async (
  receipt: unknown,
  proof: unknown,
  vkey: unknown,
  options: { readonly witnesses?: unknown; readonly checkpoint?: unknown } | null
): Promise<ReceiptVerdict> => {
  const key = await parseKey(vkey, ED25519)
  if (key === undefined) return refused("bad_key", "The log's key is not a C2SP vkey of an Ed25519 key.")
  const canonical = canonicalReceipt(receipt)
  if (canonical === undefined) {
    return refused(
      "bad_receipt",
      "This is no receipt: it has exactly eleven fields, nine texts and two integers, and its id is `rcpt_` and at least 16 hex digits."
    )
  }
  const parsed = isShortText(proof) ? parseProof(proof) : undefined
  const note = parsed === undefined ? undefined : parseNote(parsed.checkpoint)
  const tree = note === undefined ? undefined : parseTree(note.text)
  if (parsed === undefined || note === undefined || tree === undefined) {
    return refused("bad_proof", "The proof is not in the form of c2sp.org/tlog-proof@v1.")
  }
  if (tree.origin !== key.name)
    return refused("wrong_log", `The proof is from ${tree.origin}, the key is of ${key.name}.`)
  if (!(await isSigned(note, key))) return refused("bad_signature", "The checkpoint is not signed by the log's key.")

  const commitment = await sha256(concat(utf8(PREFIX), parsed.salt, utf8(canonical)))
  const root = await rootOf(await sha256(concat(Uint8Array.of(0), commitment)), parsed.index, tree.size, parsed.path)
  if (root === undefined || !same(root, tree.root)) {
    return refused("not_in_tree", "The proof does not lead from this receipt to the signed root.")
  }

  const { checkpoint, witnesses = [] } = options ?? {}
  const seen = checkpoint === undefined ? note : isShortText(checkpoint) ? parseNote(checkpoint) : undefined
  if (seen?.text !== note.text) {
    return refused("wrong_checkpoint", "The witnesses' checkpoint is of another tree than the proof's.")
  }
  if (!Array.isArray(witnesses)) return refused("bad_key", "The witnesses are not a list of C2SP vkeys.")
  const names: Array<string> = []
  for (const one of witnesses as ReadonlyArray<unknown>) {
    const witness = await parseKey(one, COSIGNATURE)
    if (witness === undefined) return refused("bad_key", `Key ${names.length + 1} of the witnesses is not a C2SP vkey.`)
    if (!(await isCosigned(seen, witness)))
      return refused("witness_missing", `${witness.name} has not signed this root.`)
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

const refused = (reason: Exclude<ReceiptVerdict["reason"], "ok">, message: string): ReceiptVerdict => ({
  valid: false,
  reason,
  message
})

/** RFC 8785: the names sorted, no spaces. Undefined unless it is exactly a receipt. */
const canonicalReceipt = (given: unknown): string | undefined => {
  const names = [...TEXTS, ...NUMBERS].toSorted()
  const receipt = snapshotOf(typeof given === "string" ? parseJson(given) : given)
  if (receipt === undefined || Object.keys(receipt).toSorted().join() !== names.join()) return undefined
  if (!TEXTS.every((name) => isShortText(receipt[name]))) return undefined
  if (!NUMBERS.every((name) => Number.isSafeInteger(receipt[name]))) return undefined
  if (!/^rcpt_[0-9a-f]{16,}$/u.test(String(receipt["receipt_id"]))) return undefined
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, receipt[name]])))
}

/** A copy, read once: an object may answer differently the second time, or throw. */
const snapshotOf = (given: unknown): Readonly<Record<string, unknown>> | undefined => {
  try {
    if (!isRecord(given)) return undefined
    const inner = given["receipt"]
    return { ...(isRecord(inner) ? inner : given) }
  } catch {
    return undefined
  }
}

const isShortText = (value: unknown): value is string => typeof value === "string" && value.length <= TEXT_CHARS_MAX

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parseProof = (text: string) => {
  const at = text.indexOf("\n\n")
  const [header, extra, index, ...lines] = text.slice(0, at).split("\n")
  const salt = extra?.startsWith("extra ") ? fromBase64(extra.slice(6)) : undefined
  const path = lines.map(fromBase64)
  if (at === -1 || header !== "c2sp.org/tlog-proof@v1" || salt?.length !== 32) return undefined
  if (!/^index (?:0|[1-9]\d{0,15})$/u.test(index ?? "")) return undefined
  if (path.length > 63 || !path.every((hash) => hash?.length === 32)) return undefined
  return { salt, index: Number(index!.slice(6)), path: path as Array<Bytes>, checkpoint: text.slice(at + 2) }
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

const parseKey = async (vkey: unknown, kind: number): Promise<Key | undefined> => {
  if (!isShortText(vkey)) return undefined
  const [name, id, ...rest] = vkey.trim().split("+")
  const bytes = fromBase64(rest.join("+"))
  if (!name || bytes?.length !== 33 || bytes[0] !== kind) return undefined
  const known = hex((await sha256(concat(utf8(`${name}\n`), bytes))).subarray(0, 4))
  return known === id ? { name, id, kind, publicKey: bytes.slice(1) } : undefined
}

const isSigned = async (note: Note, key: Key): Promise<boolean> => {
  const ours = note.signatures.filter((one) => one.name === key.name && one.id === key.id)
  return ours.length === 1 && ed25519(key.publicKey, ours[0]!.bytes, utf8(note.text))
}

/** The witness's own time stands before its signature, and in what it signed. */
const isCosigned = async (note: Note, key: Key): Promise<boolean> => {
  for (const one of note.signatures.filter((line) => line.name === key.name && line.id === key.id)) {
    if (one.bytes.length !== 72) return false
    const time = new DataView(one.bytes.buffer, one.bytes.byteOffset).getBigUint64(0)
    return ed25519(key.publicKey, one.bytes.slice(8), utf8(`cosignature/v1\ntime ${time}\n${note.text}`))
  }
  return false
}

const ed25519 = async (publicKey: Bytes, signature: Bytes, message: Bytes): Promise<boolean> => {
  if (signature.length !== 64) return false
  const key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"])
  return crypto.subtle.verify("Ed25519", key, signature, message)
}

/** RFC 9162, 2.1.3.2. */
const rootOf = async (leaf: Bytes, index: number, size: number, path: ReadonlyArray<Bytes>) => {
  if (index >= size) return undefined
  let at = index
  let last = size - 1
  let root = leaf
  for (const hash of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      root = await sha256(concat(Uint8Array.of(1), hash, root))
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else root = await sha256(concat(Uint8Array.of(1), root, hash))
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}

/** A proof takes a score of hashes, one after the other: WebCrypto sends each to another thread and back. */
const nodeCrypto: { readonly hash?: (name: string, bytes: Bytes, form: "buffer") => Bytes } | undefined =
  typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:crypto")

const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  nodeCrypto?.hash?.("sha256", bytes, "buffer") ?? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

const hex = (bytes: Bytes): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

const same = (one: Bytes, other: Bytes): boolean => hex(one) === hex(other)

const concat = (...parts: ReadonlyArray<Bytes>): Bytes => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Undefined unless it is written in the one way that stands for these bytes. */
const fromBase64 = (text: string): Bytes | undefined => {
  if (text.length > BASE64_CHARS_MAX) return undefined
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return btoa(String.fromCharCode(...bytes)) === text ? bytes : undefined
}
