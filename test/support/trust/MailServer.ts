/**
 * A mail server on loopback that records mail, or rejects it.
 */
import { Effect, type Scope } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

export interface MailServer {
  readonly url: string
  readonly letters: Array<{ readonly to: string; readonly text: string }>
  refusing: boolean
}

export const mailServer: Effect.Effect<MailServer, never, Scope.Scope> = Effect.gen(function* () {
  const kept: MailServer = { url: "", letters: [], refusing: false }
  const server = yield* Effect.acquireRelease(
    Effect.callback<SMTPServer>((resume) => {
      const made = new SMTPServer({
        authOptional: true,
        disabledCommands: ["STARTTLS", "AUTH"],
        onRcptTo: (_address, _session, done) => done(kept.refusing ? new Error("no such mailbox") : undefined),
        onData: (stream, session, done) => {
          const chunks: Array<Buffer> = []
          stream.on("data", (chunk: Buffer) => chunks.push(chunk))
          stream.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8").replaceAll("=\r\n", "").replaceAll("=3D", "=")
            kept.letters.push({ to: session.envelope.rcptTo[0]!.address, text })
            done()
          })
        }
      })
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) => Effect.callback<void>((resume) => void made.close(() => resume(Effect.void)))
  )
  const { port } = server.server.address() as AddressInfo
  return Object.assign(kept, { url: `smtp://127.0.0.1:${port}` })
})
