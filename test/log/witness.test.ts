/**
 * A witness of honest and of dishonest logs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { hash } from "node:crypto"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeLogSigner from "../../adapters/crypto/NodeLogSigner.ts"
import { LogSigner } from "../../domain/log/LogStore.ts"
import { type Hash, leafHash } from "../../domain/log/MerkleTree.ts"
import { ED25519, type NoteKey, parseNote, signedCheckpoint } from "../../domain/log/SignedNote.ts"
import { grow, parseTilePath, type Tile } from "../../domain/log/Tiles.ts"
import { LogReader, LogUnreachable, Witness } from "../../domain/log/Witness.ts"

const sha256 = (bytes: Uint8Array): Hash => hash("sha256", bytes, "buffer")
const signer = (digit: string) => NodeLogSigner.layer(Redacted.make(digit.repeat(64)))
const logSigner = Effect.runSync(Effect.provide(LogSigner, signer("1")))
const KEY: NoteKey = { name: "log.example/1", kind: ED25519, publicKey: logSigner.publicKey }

/** A log with these entries. */
const showing = (entries: ReadonlyArray<string>, by = logSigner, origin = KEY.name) => {
  const grown = grow(
    sha256,
    0,
    [],
    entries.map((text) => {
      const entry = sha256(Buffer.from(text))
      return { entry, leaf: leafHash(sha256, entry) }
    })
  )
  const tiles = new Map<string, Tile>(grown.tiles.map((tile) => [`${tile.level}/${tile.index}`, tile]))
  return LogReader.of({
    checkpoint: Effect.succeed(
      signedCheckpoint(sha256, { ...KEY, name: origin, publicKey: by.publicKey }, grown, by.sign)
    ),
    tile: (path) => {
      const asked = parseTilePath(path)
      const tile = asked === undefined ? undefined : tiles.get(`${asked.level}/${asked.index}`)
      return tile === undefined || tile.hashes.length < asked!.width * 32
        ? Effect.fail(new LogUnreachable({ problem: `${path} was answered 404` }))
        : Effect.succeed(tile.hashes.subarray(0, asked!.width * 32))
    }
  })
}

const look = (reader: LogReader["Service"], seen?: string) =>
  Effect.flatMap(Witness, (witness) => witness.look(KEY, seen)).pipe(
    Effect.provide(
      Witness.layer("witness.example").pipe(
        Layer.provide([Layer.succeed(LogReader, reader), signer("2"), NodeDigest.layer])
      )
    )
  )

const entries = (count: number) => Array.from({ length: count }, (_, n) => `entry ${n}`)

const problemOf = (reader: LogReader["Service"], seen?: string) =>
  Effect.map(Effect.flip(look(reader, seen)), (error) => error.message)

describe("A witness", () => {
  it.effect("signs what extends what it saw, from any size to any larger one", () =>
    Effect.gen(function* () {
      let seen: string | undefined
      for (const size of [0, 1, 1, 2, 3, 255, 256, 257, 300, 511, 512, 600, 1_000]) {
        const sighting = yield* look(showing(entries(size)), seen)
        assert.strictEqual(sighting.size, size)
        assert.deepStrictEqual(
          parseNote(sighting.cosigned)!.signatures.map(({ name, signature }) => [name, signature.length]),
          [
            [KEY.name, 64],
            ["witness.example", 72]
          ]
        )
        seen = sighting.note
      }
    })
  )

  it.effect("rejects a log that shrank", () =>
    Effect.gen(function* () {
      const { note } = yield* look(showing(entries(300)))
      assert.include(yield* problemOf(showing(entries(299)), note), "it had 300 leaves and now has 299")
    })
  )

  it.effect("rejects another tree of the same size, and a larger one with a changed, lost or added leaf", () =>
    Effect.gen(function* () {
      const { note } = yield* look(showing(entries(300)))
      const changed = entries(300).with(7, "another")
      assert.include(yield* problemOf(showing(changed), note), "does not extend")
      for (const larger of [
        [...changed, "more"],
        entries(301).slice(1).concat("more"),
        ["more", ...entries(300)],
        entries(600).with(299, "another")
      ]) {
        assert.include(yield* problemOf(showing(larger), note), "does not extend")
      }
      assert.strictEqual((yield* look(showing([...entries(300), "more"]), note)).size, 301)
    })
  )

  it.effect("rejects what the log's key did not sign, and another log's tree", () =>
    Effect.gen(function* () {
      const other = yield* Effect.provide(LogSigner, signer("3"))
      assert.include(yield* problemOf(showing(entries(3), other)), "not signed by its key")
      assert.include(yield* problemOf(showing(entries(3), logSigner, "log.example/2")), "not signed by its key")
      const { note } = yield* look(showing(entries(3)))
      assert.include(yield* problemOf(showing(entries(4)), note.replace("\n3\n", "\n2\n")), "what was seen last")
    })
  )

  it.effect("rejects tiles of another tree, and reports missing ones", () =>
    Effect.gen(function* () {
      const { note } = yield* look(showing(entries(300)))
      const honest = showing(entries(700))
      const lying = LogReader.of({
        ...honest,
        tile: (path) => Effect.map(honest.tile(path), (bytes) => Uint8Array.from(bytes, (byte) => byte ^ 1))
      })
      assert.include(yield* problemOf(lying, note), "does not extend")
      const short = LogReader.of({
        ...honest,
        tile: (path) => Effect.map(honest.tile(path), (bytes) => bytes.slice(32))
      })
      assert.include(yield* problemOf(short, note), "tiles do not make a proof")
      const silent = LogReader.of({ ...honest, tile: () => Effect.fail(new LogUnreachable({ problem: "no answer" })) })
      assert.include(yield* problemOf(silent, note), "cannot be read")
    })
  )
})
