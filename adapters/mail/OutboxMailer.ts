/**
 * Mail for development: written to a folder instead of sent, with a log line.
 */
import { Effect, FileSystem, Layer, Path } from "effect"
import { Entropy } from "../../domain/shared/Cryptography.ts"
import { Mailer, MailFailed } from "../../domain/trust/Mailer.ts"

const OWNER_ONLY = 0o600

/** Without a folder the text goes to the log. */
export const layer = (
  folder: string | undefined
): Layer.Layer<Mailer, never, Entropy | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const entropy = yield* Entropy
      return Mailer.of({
        send: Effect.fn("OutboxMailer.send")(function* ({ subject, text, to }) {
          if (folder === undefined) return yield* Effect.logInfo(`Mail to ${to}, not sent: ${subject}\n${text}`)
          const file = path.join(folder, `${yield* entropy.uuid}.eml`)
          const letter = `To: ${to}\nSubject: ${subject}\nContent-Type: text/plain; charset=utf-8\n\n${text}\n`
          yield* fs.makeDirectory(folder, { recursive: true }).pipe(
            Effect.andThen(fs.writeFileString(file, letter, { mode: OWNER_ONLY })),
            Effect.mapError((error) => new MailFailed({ problem: error.message }))
          )
          return yield* Effect.logInfo(`Mail to ${to} is in ${file}: no SMTP_URL is set`)
        })
      })
    })
  )
