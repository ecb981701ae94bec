/**
 * `witness --log <url> --vkey <key>`: follows a log, checks that it only grows, and signs what it saw. The last tree is
 * stored before its signature is published. An inconsistent log ends the witness, which keeps both notes as evidence.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Duration, Effect, FileSystem, Layer, Path, type Redacted, Schema } from "effect"
import { parseArgs } from "node:util"
import * as NodeDigest from "../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import * as NodeLogSigner from "../adapters/crypto/NodeLogSigner.ts"
import { httpLogReader, serveCheckpoints } from "../adapters/witness/HttpWitness.ts"
import { parseKey } from "../domain/log/SignedNote.ts"
import { Witness } from "../domain/log/Witness.ts"
import { Digest } from "../domain/shared/Cryptography.ts"
import { ArgumentsInvalid } from "./config/Arguments.ts"
import { localSecret } from "./config/LocalSecrets.ts"

const USAGE =
  "Usage: witness --log https://billing.example.org/api/v1/market/log/1 --vkey <the log's key> [--name witness.example.org] " +
  "[--state ./witness] [--every seconds] [--listen 127.0.0.1:3100] [--once]."

class WitnessStopped extends Schema.TaggedError<WitnessStopped>()("WitnessStopped", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

interface Options {
  readonly log: string
  readonly vkey: string
  readonly name: string
  readonly state: string
  readonly everySeconds: number
  readonly listen: { readonly host: string; readonly port: number } | undefined
  readonly once: boolean
}

export const witness = Effect.fnUntraced(
  function* (argv: ReadonlyArray<string>) {
    const options = yield* Effect.try({ try: () => read(argv), catch: () => new ArgumentsInvalid({ problem: USAGE }) })
    if (options === undefined) return yield* new ArgumentsInvalid({ problem: USAGE })
    const seed = yield* localSecret(options.state, "witness-key")
    yield* Effect.provide(follow(options), witnessOf(options, seed))
  },
  Effect.scoped,
  Effect.provide(Layer.mergeAll(NodeServices.layer, NodeEntropy.layer, NodeDigest.layer))
)

const witnessOf = (options: Options, seed: Redacted.Redacted) =>
  Witness.layer(options.name).pipe(
    Layer.provide([httpLogReader(options.log), NodeLogSigner.layer(seed), NodeDigest.layer])
  )

const follow = Effect.fnUntraced(function* (options: Options) {
  const witness = yield* Witness
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { sha256 } = yield* Digest
  const log = parseKey(sha256, options.vkey)
  if (log === undefined) return yield* new ArgumentsInvalid({ problem: "--vkey is not a C2SP vkey." })
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
        return yield* new WitnessStopped({ problem: `${error.message} Both notes are in ${evidence}.` })
      })
    })
  )

  yield* Console.log(`Witness ${witness.key}`)
  if (options.listen !== undefined) {
    const { host, port } = options.listen
    const served = yield* serveCheckpoints(host, port, { key: witness.key, checkpoint: () => cosigned })
    yield* Console.log(`Signed checkpoints at http://${host}:${served.port}/checkpoint`)
  }
  if (options.once) return yield* lookOnce
  return yield* Effect.forever(Effect.andThen(lookOnce, Effect.sleep(Duration.seconds(options.everySeconds))))
})

const read = (argv: ReadonlyArray<string>): Options | undefined => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      log: { type: "string" },
      vkey: { type: "string" },
      name: { type: "string", default: "witness.localhost" },
      state: { type: "string", default: "./witness" },
      every: { type: "string", default: "10" },
      listen: { type: "string" },
      once: { type: "boolean", default: false }
    }
  })
  const [, host, port] = /^(.+):(\d{1,5})$/u.exec(values.listen ?? "") ?? []
  const everySeconds = Number(values.every)
  if (values.log === undefined || values.vkey === undefined || !(everySeconds >= 1)) return undefined
  if (!/^[^\s+]+$/u.test(values.name) || (values.listen !== undefined && host === undefined)) return undefined
  return {
    log: values.log.replace(/\/$/u, ""),
    vkey: values.vkey,
    name: values.name,
    state: values.state,
    everySeconds,
    listen: host === undefined ? undefined : { host, port: Number(port) },
    once: values.once
  }
}
