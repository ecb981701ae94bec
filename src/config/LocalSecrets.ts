/**
 * Secrets that the embedded profile generates once and stores in the data folder, readable only by its owner.
 */
import { Effect, FileSystem, Path, Redacted, Schema } from "effect"
import { Entropy } from "../../domain/shared/Cryptography.ts"

export class SecretUnusable extends Schema.TaggedError<SecretUnusable>()("SecretUnusable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The secret in ${this.file} cannot be used: ${this.problem}.`
  }
}

const SECRET_BYTES = 32
const OWNER_ONLY = 0o600

export const localSecret = Effect.fn("localSecret")(function* (dataDir: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(dataDir, name)
  const reject = (error: { readonly message: string }) => new SecretUnusable({ file, problem: error.message })
  yield* Effect.mapError(fs.makeDirectory(dataDir, { recursive: true }), reject)
  if (!(yield* Effect.mapError(fs.exists(file), reject))) {
    const fresh = yield* Effect.flatMap(Entropy, (entropy) => entropy.hex(SECRET_BYTES))
    // Written to a new file and renamed, so that a crash leaves no incomplete secret.
    const draft = `${file}.${fresh.slice(0, 8)}`
    yield* Effect.mapError(fs.writeFileString(draft, fresh, { mode: OWNER_ONLY }), reject)
    yield* Effect.mapError(fs.rename(draft, file), reject)
  }
  const text = (yield* Effect.mapError(fs.readFileString(file), reject)).trim()
  if (text.length < SECRET_BYTES) return yield* new SecretUnusable({ file, problem: "it is too short" })
  return Redacted.make(text)
})
