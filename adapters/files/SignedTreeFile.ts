/**
 * Stores the last signed tree of the log in a file, outside of the process and the database.
 */
import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import { SignedTreeFile, treeOf } from "../../domain/log/Sequencer.ts"

/** The file of the last signed tree cannot be read or written. */
export class LogStateUnusable extends Schema.TaggedError<LogStateUnusable>()("LogStateUnusable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The last signed tree of the log in ${this.file} (LOG_STATE_FILE) cannot be used: ${this.problem}.`
  }
}

export const layer = (file: string) =>
  Layer.effect(
    SignedTreeFile,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const reject = (error: { readonly message: string }) => new LogStateUnusable({ file, problem: error.message })

      yield* Effect.mapError(fs.makeDirectory(path.dirname(file), { recursive: true }), reject)
      const isThere = yield* Effect.mapError(fs.exists(file), reject)
      const first = isThere ? yield* Effect.mapError(fs.readFileString(file), reject) : undefined
      if (first !== undefined && treeOf(first) === undefined) {
        return yield* new LogStateUnusable({ file, problem: "it contains no signed checkpoint" })
      }

      /** Of this process: workers share the file. */
      const fresh = `${file}.${process.pid}.new`
      /** Writes a new file and renames it, so that a crash leaves the old note or the new one. */
      const write = (note: string) =>
        Effect.scoped(
          Effect.gen(function* () {
            const draft = yield* fs.open(fresh, { flag: "w" })
            yield* draft.writeAll(new TextEncoder().encode(note))
            yield* draft.sync
            yield* fs.rename(fresh, file)
          })
        ).pipe(
          // The process still remembers it, and the log must continue while the disk is full.
          Effect.catch((error) => Effect.logWarning(`The last signed tree could not be stored in ${file}`, error))
        )

      return { read: Effect.succeed(first), write }
    })
  )
