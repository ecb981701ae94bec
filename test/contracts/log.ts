/**
 * Contract of log stores, with the sequencer and the log check.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { createHmac, hash } from "node:crypto"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeLogSigner from "../../adapters/crypto/NodeLogSigner.ts"
import * as NodeReceiptSigner from "../../adapters/crypto/NodeReceiptSigner.ts"
import { LogCheck } from "../../domain/log/LogCheck.ts"
import { LogSuccession } from "../../domain/log/LogSuccession.ts"
import { LogSigner } from "../../domain/log/LogSigner.ts"
import { LogStore } from "../../domain/log/LogStore.ts"
import { rootOfInclusion } from "../support/log/InclusionProof.ts"
import { ReceiptLog } from "../../domain/log/ReceiptLog.ts"
import { Sequencer, SequencerBatchMax } from "../../domain/log/Sequencer.ts"
import { canonical, type Receipt } from "../../domain/receipts/Receipt.ts"
import { Receipts } from "../../domain/receipts/Receipts.ts"
import { ReceiptId } from "../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { aReceiptId, atOnce, consumerWith } from "./ledgerSamples.ts"
import type { LogPorts } from "./logPorts.ts"
import { aListedTool, called } from "./meteringSamples.ts"
import { aProvider } from "./samples.ts"

export const LIVE = { timeout: "120 seconds", excludeTestServices: true } as const
const BATCH_MAX = 1_024
/** More than one batch, across several tiles. */
const EACH = Math.ceil((BATCH_MAX * 1.2) / 8)
const AT = "2026-11-20T10:00:00.000Z"
const SECRET = [Redacted.make("the secret of the log's tests")] as const

const signers = (seed: string) =>
  Layer.mergeAll(NodeLogSigner.layer(Redacted.make(seed.repeat(32))), NodeReceiptSigner.layer(SECRET), NodeDigest.layer)

/** The services of one node; each build is another node on the same store. */
export const aNode = <A, E, R>(use: Effect.Effect<A, E, R>, seed = "5e") =>
  Effect.provide(
    use,
    Layer.fresh(Layer.mergeAll(Sequencer.layer, ReceiptLog.layer, LogCheck.layer, LogSuccession.layer)).pipe(
      Layer.provide(Layer.fresh(Receipts.layer.pipe(Layer.provideMerge(signers(seed))))),
      Layer.provide(Layer.succeed(SequencerBatchMax, BATCH_MAX))
    )
  )

export const sequenceAll = Effect.gen(function* () {
  const { sequence } = yield* Sequencer
  let total = 0
  for (let taken = yield* sequence; taken > 0; taken = yield* sequence) total += taken
  return total
})

const hmac = (one: Omit<Receipt, "signature">) =>
  createHmac("sha256", Redacted.value(SECRET[0])).update(canonical(one)).digest("hex")
const sha256 = (bytes: Uint8Array) => hash("sha256", bytes, "buffer")

const check = Effect.flatMap(LogCheck, (one) => one.check)

/** Completed calls of one consumer. */
export const receipts = Effect.fnUntraced(function* (count: number) {
  const consumerId = yield* consumerWith(1_000_000)
  const tool = yield* aListedTool(yield* aProvider(), "logged")
  const made: Array<Receipt> = []
  for (let n = 0; n < count; n++) {
    made.push((yield* called(consumerId, tool, AT, { sign: hmac })).receipt)
  }
  return made
})

export const logContract = (name: string, ports: Layer.Layer<LogPorts>) => {
  it.layer(Layer.fresh(ports), LIVE)(`The log over ${name}`, (it) => {
    it.effect("gives every receipt one position, with a valid proof", () =>
      Effect.gen(function* () {
        const made = yield* receipts(20)
        const store = yield* LogStore
        assert.deepStrictEqual(yield* store.find(made[0]!.receipt_id), Option.none())
        assert.isTrue(yield* store.waiting)
        assert.strictEqual(yield* aNode(sequenceAll), 20)
        assert.isFalse(yield* store.waiting)
        assert.strictEqual(yield* aNode(sequenceAll), 0)
        const places = new Set<number>()
        for (const receipt of made) {
          const proof = yield* aNode(Effect.flatMap(ReceiptLog, (log) => log.prove(receipt.receipt_id, undefined)))
          const root = rootOfInclusion(sha256, proof.leaf, proof.index, proof.size, proof.path)
          assert.deepStrictEqual(Buffer.from(root!), Buffer.from(proof.root))
          const found = Option.getOrThrow(yield* store.find(receipt.receipt_id))
          assert.deepStrictEqual([found.receipt, found.index, found.log], [receipt, proof.index, proof.log])
          assert.deepStrictEqual([found.tile.level, found.tile.index], [0, 0])
          const leaf = found.tile.hashes.subarray(proof.index * 32, proof.index * 32 + 32)
          assert.deepStrictEqual(Buffer.from(leaf), Buffer.from(proof.leaf))
          places.add(proof.index)
        }
        assert.deepStrictEqual(
          [...places].toSorted((a, b) => a - b),
          [...made.keys()]
        )
        const found = yield* aNode(check)
        assert.deepStrictEqual(found, { logs: 1, receipts: 20, waiting: 0, findings: [] })
      })
    )

    it.effect("finds no position of an unknown receipt", () =>
      Effect.gen(function* () {
        const id = yield* aReceiptId
        for (const none of [id, ReceiptId.make(id.slice(0, 21)), ReceiptId.make(`${id}0`)]) {
          assert.deepStrictEqual(yield* (yield* LogStore).find(none), Option.none())
        }
      })
    )

    it.effect("creates a log of a number once", () =>
      Effect.gen(function* () {
        const store = yield* LogStore
        const [first] = yield* store.logs
        assert.isFalse(yield* store.begin({ ...first!, origin: "another" }))
        assert.deepStrictEqual(
          (yield* store.logs).map(({ origin }) => origin),
          [first!.origin]
        )
      })
    )

    it.effect("stores nothing of an interrupted batch, and all of it the next time", () =>
      Effect.gen(function* () {
        const made = yield* receipts(5)
        const store = yield* LogStore
        const before = (yield* store.logs)[0]!
        const broken = LogStore.of({
          ...store,
          append: (batch) => Effect.andThen(store.append(batch), Effect.die(new Error("the node went away")))
        })
        const exit = yield* Effect.exit(Effect.provideService(aNode(sequenceAll), LogStore, broken))
        assert.strictEqual(exit._tag, "Failure")
        assert.deepStrictEqual((yield* store.logs)[0], before)
        assert.deepStrictEqual(yield* store.find(made[0]!.receipt_id), Option.none())
        assert.strictEqual(yield* aNode(sequenceAll), 5)
        assert.strictEqual((yield* store.logs)[0]!.size, before.size + 5)
        assert.deepStrictEqual((yield* aNode(check)).findings, [])
      })
    )

    it.effect("runs one sequencer at a time while calls are closed", () =>
      Effect.gen(function* () {
        const store = yield* LogStore
        const before = (yield* store.logs)[0]!.size
        const count = 8 * 40
        const node = aNode(
          Effect.gen(function* () {
            const { sequence } = yield* Sequencer
            while ((yield* store.logs)[0]!.size < before + count)
              yield* Effect.andThen(sequence, Effect.sleep("1 millis"))
          })
        )
        yield* Effect.all([atOnce(8, () => receipts(40)), node, node, node], { concurrency: "unbounded" })
        assert.strictEqual((yield* store.logs)[0]!.size, before + count)
        assert.deepStrictEqual((yield* aNode(check)).findings, [])
      })
    )

    it.effect("creates a new log with a new key, and keeps the old one unchanged", () =>
      Effect.gen(function* () {
        const store = yield* LogStore
        const [old] = yield* receipts(1)
        yield* aNode(sequenceAll)
        const proveOld = Effect.flatMap(ReceiptLog, (log) => log.prove(old!.receipt_id, undefined))
        const before = yield* aNode(proveOld)

        const [fresh] = yield* receipts(1)
        assert.strictEqual(yield* aNode(sequenceAll, "6f"), 1)
        const logs = yield* store.logs
        assert.deepStrictEqual(
          logs.map((log) => log.number),
          [1, 2]
        )
        assert.deepStrictEqual(logs[0], before.log)
        assert.strictEqual((yield* aNode(proveOld, "6f")).checkpoint, before.checkpoint)
        const proof = yield* aNode(Effect.flatMap(ReceiptLog, (log) => log.prove(fresh!.receipt_id, undefined)))
        assert.deepStrictEqual([proof.log.number, proof.index], [2, 0])
        assert.notStrictEqual(proof.key, before.key)

        yield* receipts(1)
        assert.strictEqual(yield* aNode(sequenceAll), 0)
        assert.strictEqual(yield* aNode(sequenceAll, "6f"), 1)
        const found = yield* aNode(check)
        assert.deepStrictEqual([found.logs, found.waiting, found.findings], [2, 0, []])
      })
    )
  })

  it.layer(Layer.fresh(ports), LIVE)(`A long log over ${name}`, (it) => {
    it.effect("appends at most a batch at a time, across tiles", () =>
      Effect.gen(function* () {
        yield* atOnce(8, () => receipts(EACH))
        assert.strictEqual(yield* aNode(Effect.flatMap(Sequencer, (one) => one.sequence)), BATCH_MAX)
        assert.strictEqual(yield* aNode(sequenceAll), 8 * EACH - BATCH_MAX)
        const found = yield* aNode(check)
        assert.deepStrictEqual(found, { logs: 1, receipts: 8 * EACH, waiting: 0, findings: [] })
      })
    )

    it.effect("proves from the leaf's own tile once a node has loaded the others", () =>
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
        const page = yield* store.scan(undefined, 8 * EACH)
        const some = page.filter((_, n) => n % 97 === 0)
        const provesAll = Effect.gen(function* () {
          const log = yield* ReceiptLog
          const proveSome = Effect.forEach(some, ({ receipt }) => log.prove(receipt.receipt_id, undefined))
          const first = yield* proveSome
          assert.isAbove(read, 0)
          read = 0
          assert.deepStrictEqual(yield* proveSome, first)
          assert.strictEqual(read, 0)
          return first
        })
        const proofs = yield* Effect.provideService(aNode(provesAll), LogStore, counted)
        for (const { index, leaf, path, root, size } of proofs) {
          assert.deepStrictEqual(Buffer.from(rootOfInclusion(sha256, leaf, index, size, path)!), Buffer.from(root))
        }
        assert.isAbove(new Set(proofs.map(({ index }) => index >> 8)).size, 2)
      })
    )

    it.effect("fails its check after any change", () =>
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
        assert.include(yield* changing(-1), "the tile 0/000 is another one")
        assert.include(yield* changing(0), "the tile 0/000 is another one")
        assert.include(yield* changing(1), "the tile 1/000 is another one")
        assert.include(
          yield* findingsOver({
            logs: Effect.map(store.logs, (logs) => logs.map((log) => ({ ...log, size: log.size - 1 })))
          }),
          "its checkpoint belongs to another tree"
        )
        assert.include(
          yield* findingsOver({
            logs: Effect.map(store.logs, (logs) =>
              logs.map((log) => ({ ...log, checkpoint: log.checkpoint.replace(/.{8}\n$/u, "AAAAAAA=\n") }))
            )
          }),
          "its checkpoint"
        )
        const scanned = (change: (receipt: Receipt, nth: number) => Partial<Receipt>) =>
          findingsOver({
            scan: (after, limit) =>
              Effect.map(store.scan(after, limit), (page) =>
                page.map(({ place, receipt }, nth) => ({ place, receipt: { ...receipt, ...change(receipt, nth) } }))
              )
          })
        assert.include(yield* scanned((_, nth) => (nth === 3 ? { tool_name: "another" } : {})), "does not match leaf")
        assert.include(yield* scanned((_, nth) => (nth === 3 ? { duration_ms: 1_234_567 } : {})), "does not match leaf")
        const without = yield* findingsOver({
          scan: (after, limit) =>
            Effect.map(store.scan(after, limit), (page) => (after === undefined ? page.slice(1) : page))
        })
        assert.match(without, /Leaf \d+ of log 1 belongs to no receipt/u)
        assert.strictEqual(yield* findingsOver({}), "")
      })
    )
  })

  it.layer(Layer.fresh(ports), LIVE)(`What the sequencer takes over ${name}`, (it) => {
    it.effect("passes the cause of an error to the sequencer, for single and batched closings", () =>
      Effect.gen(function* () {
        const store = yield* LogStore
        const consumerId = yield* consumerWith(1_000_000)
        const tool = yield* aListedTool(yield* aProvider(), "picky")
        const endings = [
          { status: "success", cause: undefined },
          { status: "error", cause: undefined },
          { status: "error", cause: "input_rejected" },
          { status: "error", cause: "canceled" }
        ] as const
        const close = (n: number) => called(consumerId, tool, AT, { ...endings[n % 4]!, cost: 0 })
        const alone = yield* Effect.forEach([0, 1, 2, 3], close)
        const together = yield* atOnce(12, close)
        const taken = yield* (yield* UnitOfWork).atomically(store.take(100))
        const found = new Map(taken.map(({ cause, receipt }) => [receipt.receipt_id, [receipt.status, cause]]))
        for (const [n, { receipt }] of [...alone, ...together].entries()) {
          const { cause, status } = endings[n % 4]!
          assert.deepStrictEqual(found.get(receipt.receipt_id), [status, cause])
        }
      })
    )
  })
}

const turned = (hashes: Uint8Array): Uint8Array => {
  const changed = Uint8Array.from(hashes)
  changed[40]! ^= 1
  return changed
}

export const logSignerContract = () =>
  it.effect("signs the same text with the same signature, and another text with another", () =>
    Effect.gen(function* () {
      const signer = yield* LogSigner
      const text = new TextEncoder().encode("origin\n1\nroot\n")
      assert.deepStrictEqual(signer.sign(text), signer.sign(text))
      assert.isTrue(signer.verify(signer.publicKey, text, signer.sign(text)))
      assert.isFalse(signer.verify(signer.publicKey, new TextEncoder().encode("other"), signer.sign(text)))
      assert.isFalse(signer.verify(new Uint8Array(32), text, signer.sign(text)))
      assert.isFalse(signer.verify(new Uint8Array(31), text, signer.sign(text)))
    }).pipe(Effect.provide(signers("5e")))
  )
