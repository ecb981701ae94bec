/**
 * An independent check of a log: remembers the last tree that it saw, accepts only a tree that extends it, and signs
 * accepted trees. Two trees of one size, a smaller tree or a changed leaf cannot both get its signature.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { Digest } from "../shared/Cryptography.ts"
import { LogSigner } from "./LogStore.ts"
import { consistencyRanges, rootsOfConsistency, sameHash } from "./MerkleTree.ts"
import {
  bytesOf,
  type Checkpoint,
  concat,
  COSIGNATURE,
  cosignedText,
  formatKey,
  formatNote,
  keyIdOf,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  signatureLine
} from "./SignedNote.ts"
import { rangeHash, TILE_WIDTH, tilePath, tilesFor } from "./Tiles.ts"

/** The log gave no response, or none that can be read. */
export class LogUnreachable extends Schema.TaggedError<LogUnreachable>()("LogUnreachable", { problem: Schema.String }) {
  override get message() {
    return `The log cannot be read: ${this.problem}.`
  }
}

/** The log shows a signed tree or tiles that no honest log would. The note is the evidence. */
export class LogBroken extends Schema.TaggedError<LogBroken>()("LogBroken", {
  problem: Schema.String,
  seen: Schema.NullOr(Schema.String),
  note: Schema.String
}) {
  override get message() {
    return `The log is inconsistent: ${this.problem}.`
  }
}

/** A log as the public sees it. */
export class LogReader extends Context.Service<
  LogReader,
  {
    readonly checkpoint: Effect.Effect<string, LogUnreachable>
    tile(path: string): Effect.Effect<Uint8Array, LogUnreachable>
  }
>()("agent-tool-billing/domain/log/LogReader") {}

/** The last tree that a witness cosigned. */
export interface Observation {
  /** The log's own note, which the next one is compared with. */
  readonly note: string
  /** The same, with this witness's signature. */
  readonly cosigned: string
  readonly size: number
}

export class Witness extends Context.Service<
  Witness,
  {
    /** The vkey that verifies this witness. */
    readonly key: string
    /** Looks once; `seen` is the note of the last time, undefined at first. */
    look(log: NoteKey, seen: string | undefined): Effect.Effect<Observation, LogUnreachable | LogBroken>
  }
>()("agent-tool-billing/domain/log/Witness") {
  static readonly layer = (name: string) =>
    Layer.effect(
      Witness,
      Effect.gen(function* () {
        const reader = yield* LogReader
        const signer = yield* LogSigner
        const { sha256 } = yield* Digest
        const own: NoteKey = { name, kind: COSIGNATURE, publicKey: signer.publicKey }

        /** The tree of a note that the log signed. */
        const treeOf = (log: NoteKey, text: string): Checkpoint | undefined => {
          const note = parseNote(text)
          const tree = note === undefined ? undefined : parseCheckpoint(note.text)
          const keyId = keyIdOf(sha256, log)
          const signed = note?.signatures.some(
            (one) =>
              one.name === log.name &&
              one.keyId === keyId &&
              signer.verify(log.publicKey, bytesOf(note.text), one.signature)
          )
          return signed === true && tree?.origin === log.name ? tree : undefined
        }

        /** Proves from tiles, so that the log has to show its tree and not only a proof. */
        const proofOf = Effect.fnUntraced(function* (smaller: number, larger: number) {
          const ranges = consistencyRanges(smaller, larger)
          const tiles = new Map<string, Uint8Array>()
          for (const { index, level } of tilesFor(ranges)) {
            const width = Math.min(TILE_WIDTH, Math.floor(larger / TILE_WIDTH ** level) - index * TILE_WIDTH)
            tiles.set(`${level}/${index}`, yield* reader.tile(tilePath({ level, index, width })))
          }
          return ranges.map((range) => rangeHash(sha256, range, ({ index, level }) => tiles.get(`${level}/${index}`)))
        })

        const look = Effect.fn("Witness.look")(function* (log: NoteKey, seen: string | undefined) {
          const note = yield* reader.checkpoint
          const broken = (problem: string) => new LogBroken({ problem, seen: seen ?? null, note })
          const tree = treeOf(log, note)
          if (tree === undefined) return yield* broken("its checkpoint is not signed by its key")
          const before = seen === undefined ? undefined : treeOf(log, seen)
          if (seen !== undefined && before === undefined) return yield* broken("what was seen last is of another log")
          if (before !== undefined && before.size > 0) {
            if (tree.size < before.size) return yield* broken(`it had ${before.size} leaves and now has ${tree.size}`)
            const proof = yield* proofOf(before.size, tree.size)
            const roots = proof.every((hash) => hash !== undefined)
              ? rootsOfConsistency(sha256, before.size, tree.size, before.root, proof)
              : undefined
            if (roots === undefined) return yield* broken("its tiles do not make a proof")
            if (!sameHash(roots.smaller, before.root) || !sameHash(roots.larger, tree.root)) {
              return yield* broken(`the tree of ${tree.size} leaves does not extend the tree of ${before.size}`)
            }
          }
          const { text } = parseNote(note)!
          const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
          const signature = concat(bigEndian(seconds), signer.sign(bytesOf(cosignedText(text, seconds))))
          const lines = note.slice(text.length + 1)
          return { note, size: tree.size, cosigned: formatNote(text, [lines, signatureLine(sha256, own, signature)]) }
        })

        return Witness.of({ key: formatKey(sha256, own), look })
      })
    )
}

const bigEndian = (seconds: number): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seconds))
  return bytes
}
