/**
 * Verifies a receipt offline, from its text, its proof and the log's public key: the checkpoint is signed by the key, the
 * receipt's commitment is a leaf under the signed root (RFC 6962), and every named witness has signed the same root. The
 * modules in this folder import nothing else and run on WebCrypto in browsers and in Node.
 */
import { hex, isShortText, sha256, utf8 } from "./Bytes.browser.ts"
import { parseProof, rootOf } from "./InclusionProof.browser.ts"
import { COSIGNATURE, ED25519, isCosigned, isSigned, parseKey, parseNote, parseTree } from "./NoteSignatures.browser.ts"

/** Whether the proof shows that the receipt is in the log and, if not, the first reason why. */
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
