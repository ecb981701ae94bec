/**
 * Creates an empty log with its own name and secret, signed.
 */
import { Effect } from "effect"
import type { Entropy } from "../shared/Entropy.ts"
import type { LogSigner } from "./LogSigner.ts"
import { type NewLog, noteKeyOf } from "./LogStore.ts"
import { emptyRoot, type Sha256 } from "./MerkleTree.ts"
import { bytesOf, formatNote, signatureLine, signedCheckpoint } from "./SignedNote.ts"

const SALT_KEY_BYTES = 32

interface Means {
  readonly sha256: Sha256
  readonly entropy: Entropy["Service"]
  readonly signer: LogSigner["Service"]
  /** Where the logs are served; followed by its number it is a log's origin. */
  readonly home: string
}

/** `statement`: the signed text about the previous log. */
export const newLog = Effect.fnUntraced(function* (
  { entropy, home, sha256, signer }: Means,
  number: number,
  statement?: (origin: string) => string
): Effect.fn.Return<NewLog> {
  const log = { origin: `${home}/${number}`, publicKey: signer.publicKey }
  const root = emptyRoot(sha256)
  const key = noteKeyOf(log)
  const text = statement?.(log.origin)
  return {
    ...log,
    number,
    saltKey: fromHex(yield* entropy.hex(SALT_KEY_BYTES)),
    root,
    checkpoint: signedCheckpoint(sha256, key, { size: 0, root }, signer.sign),
    statement:
      text === undefined ? undefined : formatNote(text, [signatureLine(sha256, key, signer.sign(bytesOf(text)))])
  }
})

const fromHex = (text: string): Uint8Array => Uint8Array.from(text.match(/../gu)!, (byte) => Number.parseInt(byte, 16))
