/**
 * `witness` follows a log, checks that it only grows, and signs what it saw. The last tree is stored before its signature is
 * published. An inconsistent log ends the witness, which keeps both notes as evidence.
 */
import { Console, Duration, Effect, FileSystem, Layer, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import * as NodeDigest from "../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import * as NodeLogSigner from "../adapters/crypto/NodeLogSigner.ts"
import { httpLogReader, serveCheckpoints } from "../adapters/witness/HttpWitness.ts"
import { parseKey } from "../domain/log/SignedNote.ts"
import { Witness } from "../domain/log/Witness.ts"
import { Digest } from "../domain/shared/Cryptography.ts"
import { localSecret } from "./layers/Secrets.ts"
import { failed } from "./user/CommandFailure.ts"
import { given, switchFlag } from "./user/CommandInput.ts"

const flags = {
  log: Flag.String("log").pipe(
    Flag.withDescription("URL of the log, such as https://billing.example.org/api/v1/market/log/1"),
    Flag.map((url) => url.replace(/\/$/u, ""))
  ),
  vkey: Flag.String("vkey").pipe(Flag.withDescription("Public key of the log, as a C2SP vkey")),
  name: Flag.String("name").pipe(
    Flag.withDescription("Name of the witness, such as witness.example.org"),
    Flag.withDefault("witness.localhost"),
    Flag.filter(
      (name) => /^[^\s+]+$/u.test(name),
      () => "Expected a name without spaces and +"
    )
  ),
  state: Flag.String("state").pipe(
    Flag.withDescription("Folder of its key, the last tree and its signature"),
    Flag.withDefault("./witness")
  ),
  everySeconds: Flag.Finite("every").pipe(
    Flag.withDescription("Seconds between two looks at the log"),
    Flag.withDefault(10),
    Flag.filter(
      (seconds) => seconds >= 1,
      () => "Expected at least 1"
    )
  ),
  listen: Flag.String("listen").pipe(
    Flag.withDescription("Address that serves its checkpoints, such as 127.0.0.1:3100"),
    Flag.filterMap(
      (text) => {
        const [, host, port] = /^(.+):(\d{1,5})$/u.exec(text) ?? []
        return host === undefined ? Option.none() : Option.some({ host, port: Number(port) })
      },
      () => "Expected an address and a port, such as 127.0.0.1:3100"
    ),
    Flag.optional
  ),
  once: switchFlag("once", "Look once, and end")
}

type Options = Command.Command.Config.Infer<typeof flags>

export const witness = Command.make(
  "witness",
  flags,
  Effect.fn("witness")(
    function* (options) {
      const seed = yield* localSecret(options.state, "witness-key")
      const witness = Witness.layer(options.name).pipe(
        Layer.provide([httpLogReader(options.log), NodeLogSigner.layer(seed)])
      )
      yield* Effect.provide(follow(options), witness)
    },
    Effect.scoped,
    Effect.provide(Layer.merge(NodeEntropy.layer, NodeDigest.layer))
  )
).pipe(Command.withDescription("Follow a log and sign its checkpoints"))

const follow = Effect.fnUntraced(function* (options: Options) {
  const witness = yield* Witness
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { sha256 } = yield* Digest
  const log = parseKey(sha256, options.vkey)
  if (log === undefined) return yield* failed("invalid", "--vkey is not a C2SP vkey.")
  const seenFile = path.join(options.state, "seen")
  const cosignedFile = path.join(options.state, "checkpoint")
  let cosigned = (yield* fs.exists(cosignedFile)) ? yield* fs.readFileString(cosignedFile) : undefined

  const keep = Effect.fnUntraced(function* (file: string, text: string) {
    yield* fs.writeFileString(`${file}.new`, text)
    yield* fs.rename(`${file}.new`, file)
  })

  const lookOnce = Effect.gen(function* () {
    const seen = (yield* fs.exists(seenFile)) ? yield* fs.readFileString(seenFile) : undefined
    const observation = yield* witness.look(log, seen)
    // Stored first: a crash in between loses a signature, never the tree that the next one must extend.
    if (observation.note !== seen) yield* keep(seenFile, observation.note)
    yield* keep(cosignedFile, observation.cosigned)
    cosigned = observation.cosigned
    if (observation.note !== seen) yield* Console.log(`Signed a consistent log of ${observation.size} receipts.`)
  }).pipe(
    Effect.catchTags({
      LogUnreachable: (error) => (options.once ? Effect.fail(error) : Console.error(error.message)),
      LogBroken: Effect.fnUntraced(function* (error) {
        const evidence = path.join(options.state, "evidence")
        yield* keep(evidence, `${error.message}\n\nSeen before:\n${error.seen ?? ""}\n\nShown now:\n${error.note}`)
        return yield* failed("failed", `${error.message} Both notes are in ${evidence}.`)
      })
    })
  )

  yield* Console.log(`Witness ${witness.key}`)
  const address = given(options.listen)
  if (address !== undefined) {
    const { host, port } = address
    const served = yield* serveCheckpoints(host, port, { key: witness.key, checkpoint: () => cosigned })
    yield* Console.log(`Signed checkpoints at http://${host}:${served.port}/checkpoint`)
  }
  if (options.once) return yield* lookOnce
  return yield* Effect.forever(Effect.andThen(lookOnce, Effect.sleep(Duration.seconds(options.everySeconds))))
})
