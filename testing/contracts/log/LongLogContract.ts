/**
 * What a LogStore must do with a log of several tiles. These rules need an empty log of its own, on which they run in this
 * order.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { LogStore } from "../../../domain/log/LogStore.ts"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { Sequencer } from "../../../domain/log/Sequencer.ts"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import type { Contract } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"
import {
  aNode,
  BATCH_MAX,
  check,
  logRule,
  type LogStores,
  receipts,
  sequenceAll,
  sha256
} from "../shared/LogSamples.ts"
import { rootOfInclusion } from "./InclusionProof.ts"

/** More than one batch, across several tiles. */
const AT_ONCE = 8
const EACH = Math.ceil((BATCH_MAX * 1.2) / AT_ONCE)

const turned = (hashes: Uint8Array): Uint8Array => {
  const changed = Uint8Array.from(hashes)
  changed[40]! ^= 1
  return changed
}

export const longLogContract: Contract<LogStores> = [
  logRule(
    "appends one batch at a time, across tiles",
    Effect.gen(function* () {
      yield* atOnce(AT_ONCE, () => receipts(EACH))
      const first = yield* aNode(Effect.flatMap(Sequencer, (one) => one.sequence))
      // Calls that are closed together are taken together, in both halves of the batch.
      assert.ok(first >= BATCH_MAX && first < BATCH_MAX + 2 * AT_ONCE)
      assert.equal(yield* aNode(sequenceAll), AT_ONCE * EACH - first)
      const found = yield* aNode(check)
      assert.deepEqual(found, { logs: 1, receipts: AT_ONCE * EACH, waiting: 0, findings: [] })
    })
  ),

  logRule(
    "proves from the leaf's own tile once a node has loaded the others",
    Effect.gen(function* () {
      const store = yield* LogStore
      let read = 0
      const counted = LogStore.of({
        ...store,
        tiles: (log, places) => {
          read += places.length
          return store.tiles(log, places)
        }
      })
      const page = yield* store.scan(undefined, AT_ONCE * EACH)
      const some = page.filter((_, n) => n % 97 === 0)
      const provesAll = Effect.gen(function* () {
        const log = yield* ReceiptLog
        const proveSome = Effect.forEach(some, ({ receipt }) => log.prove(receipt.receipt_id, undefined))
        const first = yield* proveSome
        assert.ok(read > 0)
        read = 0
        assert.deepEqual(yield* proveSome, first)
        assert.equal(read, 0)
        return first
      })
      const proofs = yield* Effect.provideService(aNode(provesAll), LogStore, counted)
      for (const { index, leaf, path, root, size } of proofs) {
        assert.deepEqual(Buffer.from(rootOfInclusion(sha256, leaf, index, size, path)!), Buffer.from(root))
      }
      assert.ok(new Set(proofs.map(({ index }) => index >> 8)).size > 2)
    })
  ),

  logRule(
    "fails its check after any change",
    Effect.gen(function* () {
      const store = yield* LogStore
      const findingsOver = (changed: Partial<LogStore["Service"]>) =>
        Effect.map(Effect.provideService(aNode(check), LogStore, LogStore.of({ ...store, ...changed })), (found) =>
          found.findings.join(" ")
        )
      const changing = (level: number) =>
        findingsOver({
          tiles: (log, places) =>
            Effect.map(store.tiles(log, places), (tiles) =>
              tiles.map((tile) =>
                tile.level === level && tile.index === 0 ? { ...tile, hashes: turned(tile.hashes) } : tile
              )
            )
        })
      assert.ok((yield* changing(-1)).includes("the tile 0/000 is another one"))
      assert.ok((yield* changing(0)).includes("the tile 0/000 is another one"))
      assert.ok((yield* changing(1)).includes("the tile 1/000 is another one"))
      assert.ok(
        (yield* findingsOver({
          logs: Effect.map(store.logs, (logs) => logs.map((log) => ({ ...log, size: log.size - 1 })))
        })).includes("its checkpoint belongs to another tree")
      )
      assert.ok(
        (yield* findingsOver({
          logs: Effect.map(store.logs, (logs) =>
            logs.map((log) => ({ ...log, checkpoint: log.checkpoint.replace(/.{8}\n$/u, "AAAAAAA=\n") }))
          )
        })).includes("its checkpoint")
      )
      const scanned = (change: (receipt: Receipt, nth: number) => Partial<Receipt>) =>
        findingsOver({
          scan: (after, limit) =>
            Effect.map(store.scan(after, limit), (page) =>
              page.map(({ place, receipt }, nth) => ({ place, receipt: { ...receipt, ...change(receipt, nth) } }))
            )
        })
      assert.ok(
        (yield* scanned((_, nth) => (nth === 3 ? { tool_name: "another" } : {}))).includes("does not match leaf")
      )
      assert.ok(
        (yield* scanned((_, nth) => (nth === 3 ? { duration_ms: 1_234_567 } : {}))).includes("does not match leaf")
      )
      const without = yield* findingsOver({
        scan: (after, limit) =>
          Effect.map(store.scan(after, limit), (page) => (after === undefined ? page.slice(1) : page))
      })
      assert.match(without, /Leaf \d+ of log 1 belongs to no receipt/u)
      assert.equal(yield* findingsOver({}), "")
    })
  )
]
