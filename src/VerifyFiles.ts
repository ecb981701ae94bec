/**
 * `verify receipt.json receipt.tlog-proof --vkey …`: verifies a receipt from files, without a network. Exit code 1 if
 * it is not valid.
 */
import { Console, Effect, FileSystem, Schema } from "effect"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { parseArgs } from "node:util"
import { verifyReceipt } from "../adapters/site/verify/ReceiptVerifier.browser.ts"
import { ArgumentsInvalid } from "./config/Arguments.ts"

export class ReceiptInvalid extends Schema.TaggedError<ReceiptInvalid>()("ReceiptInvalid", {
  reason: Schema.String,
  explanation: Schema.String
}) {
  override get message() {
    return `NOT VALID (${this.reason}): ${this.explanation}`
  }
}

const USAGE =
  "Usage: verify <receipt.json> <receipt.tlog-proof> --vkey <key> [--checkpoint <file> --witness <key> …]. The key is a " +
  "C2SP vkey, or a file that contains one."

const FILE_BYTES_MAX = 1_048_576

export const verifyFiles = Effect.fnUntraced(function* (argv: ReadonlyArray<string>) {
  const { files, options } = yield* Effect.try({ try: () => read(argv), catch: () => usage() })
  const [receiptFile, proofFile] = files
  if (receiptFile === undefined || proofFile === undefined || files.length > 2 || options.vkey === undefined) {
    return yield* usage()
  }
  const receipt = yield* contentsOf(receiptFile)
  const proof = yield* contentsOf(proofFile)
  const vkey = yield* keyIn(options.vkey)
  const witnesses = yield* Effect.forEach(options.witness ?? [], keyIn)
  const checkpoint = options.checkpoint === undefined ? undefined : yield* contentsOf(options.checkpoint)
  const verdict = yield* Effect.promise(() =>
    verifyReceipt(receipt, proof, vkey, { witnesses, ...(checkpoint === undefined ? {} : { checkpoint }) })
  )
  if (!verdict.valid) return yield* new ReceiptInvalid({ reason: verdict.reason, explanation: verdict.message })
  yield* Console.log(
    `Valid: receipt ${verdict.leafIndex + 1} of ${verdict.treeSize} in ${verdict.origin}` +
      (verdict.witnesses.length === 0 ? "." : `, seen by ${verdict.witnesses.join(", ")}.`)
  )
}, Effect.provide(NodeFileSystem.layer))

const read = (argv: ReadonlyArray<string>) => {
  const { positionals, values } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      vkey: { type: "string" },
      checkpoint: { type: "string" },
      witness: { type: "string", multiple: true }
    }
  })
  return { files: positionals, options: values }
}

const usage = () => new ArgumentsInvalid({ problem: USAGE })

const contentsOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const unreadable = (why: string) => new ArgumentsInvalid({ problem: `${file} cannot be read: ${why}.` })
  const { size } = yield* Effect.mapError(fs.stat(file), () => unreadable("the file does not exist"))
  if (Number(size) > FILE_BYTES_MAX) return yield* unreadable(`it is larger than ${FILE_BYTES_MAX} bytes`)
  return yield* Effect.mapError(fs.readFileString(file), (error) => unreadable(error.message))
})

/** A key contains `+`, which file names rarely do: text with the form of a key is one. */
const keyIn = (given: string) =>
  /^\S+\+[0-9a-f]{8}\+\S+$/u.test(given) ? Effect.succeed(given) : Effect.map(contentsOf(given), (text) => text.trim())
