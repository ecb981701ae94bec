/**
 * Proofs from a log with full tiles above the leaf tiles: correct before and after it grows, with few reads.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { hash } from "node:crypto"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import { type LoggedReceipt, LogSigner, LogStore } from "../../domain/log/LogStore.ts"
import { type Hash, leafHash } from "../../domain/log/MerkleTree.ts"
import { ReceiptLog } from "../../domain/log/ReceiptLog.ts"
import { edgeOf, grow, leafTile, type Tile, type TilePlace } from "../../domain/log/Tiles.ts"
import { type Receipt, ReceiptStore } from "../../domain/receipts/Receipts.ts"
import { ReceiptId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { rootOfInclusion } from "../../testing/contracts/log/InclusionProof.ts"

const sha256 = (bytes: Uint8Array): Hash => new Uint8Array(hash("sha256", bytes, "buffer"))

/** As many leaves as a full tile of the second level covers, and some more. */
const SIZE = 2 ** 16 + 3_000
const entries = Array.from({ length: SIZE + 5_000 }, (_, n) => sha256(Buffer.from(`entry ${n}`)))
const added = entries.map((entry) => ({ entry, leaf: leafHash(sha256, entry) }))

const idOf = (index: number) => ReceiptId.make(`rcpt_${index.toString(16).padStart(32, "0")}`)

const receiptOf = (index: number) =>
  ({
    receipt_id: idOf(index),
    cost_microcents: Microcents.make(1n),
    timestamp: "2026-11-20T00:00:00.000Z"
  }) as Receipt

const makeLog = () => {
  const tiles = new Map<string, Tile>()
  const keyOf = ({ index, level }: TilePlace) => `${level}/${index}`
  const base = { number: 1, origin: "o", publicKey: new Uint8Array(32), saltKey: new Uint8Array(32), checkpoint: "c" }
  const state = { size: 0, root: new Uint8Array(0) as Hash, read: 0 }
  const append = (upTo: number) => {
    const edge = edgeOf(state.size).map((place) => tiles.get(keyOf(place))!)
    const grown = grow(sha256, state.size, edge, added.slice(state.size, upTo))
    for (const tile of grown.tiles) tiles.set(keyOf(tile), tile)
    Object.assign(state, { size: grown.size, root: grown.root })
  }
  const find = (id: ReceiptId): LoggedReceipt => {
    const index = Number.parseInt(id.slice(5), 16)
    const log = { ...base, size: state.size, root: state.root }
    return { receipt: receiptOf(index), index, log, tile: tiles.get(keyOf(leafTile(index)))! }
  }
  const store = {
    find: (id: ReceiptId) => Effect.sync(() => Option.some(find(id))),
    tiles: (_: number, places: ReadonlyArray<TilePlace>) =>
      Effect.sync(() => {
        state.read += places.length
        return places.map((place) => tiles.get(keyOf(place))!)
      })
  }
  return { state, append, store: store as unknown as LogStore["Service"] }
}

it.effect("A large log proves any leaf, and reads each full tile once", () => {
  const log = makeLog()
  log.append(SIZE)
  const proves = Effect.fnUntraced(function* (index: number) {
    const proof = yield* (yield* ReceiptLog).prove(idOf(index), undefined)
    const root = rootOfInclusion(sha256, added[index]!.leaf, index, log.state.size, proof.path)
    assert.deepStrictEqual(Buffer.from(root!), Buffer.from(log.state.root), `${index} of ${log.state.size}`)
  })
  return Effect.gen(function* () {
    for (const index of [0, 255, 256, 40_000, 65_535]) yield* proves(index)
    const readFirst = log.state.read
    for (let index = 7; index < 65_536; index += 997) yield* proves(index)
    assert.strictEqual(log.state.read, readFirst, "all that is not a leaf's own is known")
    for (const index of [65_536, SIZE - 1]) yield* proves(index)
    log.append(SIZE + 5_000)
    for (const index of [0, 12_345, 65_535, 65_536, SIZE, SIZE + 4_999]) yield* proves(index)
  }).pipe(
    Effect.provide(
      ReceiptLog.layer.pipe(
        Layer.provide([
          NodeDigest.layer,
          Layer.succeed(LogStore, log.store),
          Layer.succeed(ReceiptStore, {} as ReceiptStore["Service"]),
          Layer.succeed(LogSigner, {} as LogSigner["Service"])
        ])
      )
    )
  )
})
