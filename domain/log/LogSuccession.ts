/**
 * Starts a new log after the database lost a part of the old one. Its signed statement names the old log, the last tree
 * that was signed of it, and the tree that is left.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { type Log, LogSigner, LogStore } from "./LogStore.ts"
import { LogHome, newLog, treeOf } from "./Sequencer.ts"
import { toBase64 } from "./SignedNote.ts"

/** A new log begins only after the last one stopped. */
export class LogNotStopped extends Schema.TaggedError<LogNotStopped>()("LogNotStopped", { origin: Schema.String }) {
  override get message() {
    return this.origin === ""
      ? "There is no log yet: it starts with the first receipt."
      : `The log ${this.origin} is not stopped, so no new log is needed.`
  }
}

export class LogSuccession extends Context.Service<
  LogSuccession,
  {
    readonly begin: Effect.Effect<
      { readonly origin: string; readonly statement: string },
      LogNotStopped | StoreUnavailable
    >
  }
>()("agent-tool-billing/domain/log/LogSuccession") {
  static readonly layer = Layer.effect(
    LogSuccession,
    Effect.gen(function* () {
      const store = yield* LogStore
      const signer = yield* LogSigner
      const entropy = yield* Entropy
      const home = yield* LogHome
      const { sha256 } = yield* Digest

      const begin = Effect.gen(function* () {
        const last = (yield* store.logs).at(-1)
        if (last?.stopped === undefined) return yield* new LogNotStopped({ origin: last?.origin ?? "" })
        const next = yield* newLog({ sha256, entropy, signer, home }, last.number + 1, (origin) =>
          succession(origin, last)
        )
        yield* store.begin(next)
        return { origin: next.origin, statement: next.statement! }
      }).pipe(Effect.withSpan("LogSuccession.begin"))

      return LogSuccession.of({ begin })
    })
  )
}

/** The text of the statement, one fact per line. */
const succession = (origin: string, { origin: previous, root, signedNote, size, stopped }: Log): string => {
  const signed = signedNote === undefined ? undefined : treeOf(signedNote)
  return [
    "agent-tool-billing/log-succession/v1",
    `log: ${origin}`,
    `previous: ${previous}`,
    ...(signed === undefined ? [] : [`signed: ${signed.origin} ${signed.size} ${toBase64(signed.root)}`]),
    `kept: ${size} ${toBase64(root)}`,
    `reason: ${stopped}`,
    ""
  ].join("\n")
}
