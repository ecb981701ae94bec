/**
 * Proofs of receipts over HTTP, verified with public data only.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { vi } from "vitest"
import { verifyReceipt } from "../../adapters/site/verify/ReceiptVerifier.browser.ts"
import { leafHash, rootsOfConsistency } from "../../domain/log/MerkleTree.ts"
import { fromBase64, parseCheckpoint, parseNote } from "../../domain/log/SignedNote.ts"
import { grow } from "../../domain/log/Tiles.ts"
import { at, expecting, listAt, textAt, valueAt } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  callOf,
  memoryMarket,
  numberAt,
  problemOf,
  receiptsOf
} from "../support/metering/Shop.ts"

const LOG = "/api/v1/market/log"
const sha256 = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer")
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")
const proofOf = (id: string) => `/api/v1/market/receipts/${id}/proof`
const JSON_WANTED = { headers: { accept: "application/json" } }

const vkey = Effect.map(expecting(200, { path: "/.well-known/jwks.json" }), (answer) =>
  textAt(answer, "keys", 0, "vkey")
)

const treeAt = (note: string) => parseCheckpoint(parseNote(note)!.text)!

/** Buys once; the receipt with its proof as text. */
const bought = Effect.gen(function* () {
  const { url } = yield* providing(fine)
  const consumer = yield* aFundedConsumer()
  yield* expecting(200, callOf(consumer, yield* anOffer(url)))
  const [receipt] = yield* receiptsOf(consumer)
  const proof = yield* expecting(200, { path: proofOf(receipt!.receipt_id) })
  return { receipt: receipt!, proof }
})

/** As in a browser, where only WebCrypto hashes. */
const verifierOfBrowsers = Effect.promise(async () => {
  const builtin = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
  vi.resetModules()
  try {
    return (await import("../../adapters/site/verify/ReceiptVerifier.browser.ts")).verifyReceipt
  } finally {
    builtin.mockRestore()
  }
})

/** Each single-bit change of a text. */
function* flipped(text: string): Generator<string> {
  const bytes = Buffer.from(text)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    yield changed.toString("utf8")
  }
}

it.layer(memoryMarket(), LIVE)("The proof of a receipt", (it) => {
  it.effect("is sufficient to verify it, besides the log's key", () =>
    Effect.gen(function* () {
      const { proof, receipt } = yield* bought
      assert.strictEqual(proof.headers["content-type"], "text/plain; charset=utf-8")
      const key = yield* vkey
      const verdict = yield* Effect.promise(() => verifyReceipt(receipt, proof.text, key))
      assert.strictEqual(verdict.reason, "ok")
      for (const form of [JSON.stringify(receipt), JSON.stringify({ receipt }, null, 2)]) {
        assert.isTrue((yield* Effect.promise(() => verifyReceipt(form, proof.text, key))).valid)
      }
      const one = yield* expecting(200, { path: `/api/v1/market/receipts/${receipt.receipt_id}` })
      assert.strictEqual(
        one.headers["link"],
        `<https://market.example${proofOf(receipt.receipt_id)}>; rel="describedby"`
      )
    })
  )

  it.effect("has the same verdict in browsers and in Node", () =>
    Effect.gen(function* () {
      const inBrowser = yield* verifierOfBrowsers
      const digest = vi.spyOn(crypto.subtle, "digest")
      yield* Effect.addFinalizer(() => Effect.sync(() => digest.mockRestore()))
      const [one, other] = [yield* bought, yield* bought]
      const key = yield* vkey
      for (const receipt of [one.receipt, other.receipt, { ...one.receipt, status: "error" }]) {
        const verdict = yield* Effect.promise(() => verifyReceipt(receipt, one.proof.text, key))
        assert.strictEqual(digest.mock.calls.length, 0)
        assert.deepStrictEqual(yield* Effect.promise(() => inBrowser(receipt, one.proof.text, key)), verdict)
        assert.isAbove(digest.mock.calls.length, 0)
        digest.mockClear()
      }
    })
  )

  it.effect("belongs to one receipt, one tree and one key", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* bought, yield* bought]
      const key = yield* vkey
      const reasonOf = (receipt: unknown, proof: string, vkey_: string) =>
        Effect.map(
          Effect.promise(() => verifyReceipt(receipt, proof, vkey_)),
          ({ reason }) => reason
        )
      assert.strictEqual(yield* reasonOf(one.receipt, other.proof.text, key), "not_in_tree")
      assert.strictEqual(yield* reasonOf({ ...one.receipt, cost_microcents: 1 }, one.proof.text, key), "not_in_tree")
      assert.strictEqual(yield* reasonOf({ ...one.receipt, tool_name: "x" }, one.proof.text, key), "not_in_tree")
      assert.strictEqual(yield* reasonOf({ ...one.receipt, more: 1 }, one.proof.text, key), "bad_receipt")
      assert.strictEqual(yield* reasonOf(one.receipt, "", key), "bad_proof")
      assert.strictEqual(
        yield* reasonOf(
          one.receipt,
          one.proof.text,
          "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
        ),
        "wrong_log"
      )
    })
  )

  it.effect("is valid in an earlier tree too, whose signed note stays the same byte for byte", () =>
    Effect.gen(function* () {
      const { proof, receipt } = yield* bought
      const note = proof.text.slice(proof.text.indexOf("\n\n") + 2)
      const { size } = treeAt(note)
      const later = yield* bought
      const again = yield* expecting(200, { path: `${proofOf(receipt.receipt_id)}?tree_size=${size}` })
      assert.strictEqual(again.text, proof.text)
      const early = yield* send({ path: `${proofOf(later.receipt.receipt_id)}?tree_size=${size}` })
      assert.deepStrictEqual(problemOf(early), [422, "VALIDATION_ERROR"])
      const beyond = yield* send({ path: `${proofOf(receipt.receipt_id)}?tree_size=999999` })
      assert.deepStrictEqual(problemOf(beyond), [422, "VALIDATION_ERROR"])
    })
  )

  it.effect("is the same in JSON", () =>
    Effect.gen(function* () {
      const { receipt } = yield* bought
      const answer = yield* expecting(200, { path: proofOf(receipt.receipt_id), ...JSON_WANTED })
      assert.deepStrictEqual(at(answer, "receipt"), { ...receipt })
      const tree = treeAt(textAt(answer, "checkpoint"))
      assert.strictEqual(numberAt(answer, "tree_size"), tree.size)
      assert.strictEqual(textAt(answer, "origin"), tree.origin)
      assert.strictEqual(textAt(answer, "vkey"), yield* vkey)
      assert.deepStrictEqual(fromBase64(textAt(answer, "root_hash")), new Uint8Array(tree.root))
      const leaf = leafHash(sha256, fromBase64(textAt(answer, "commitment"))!)
      assert.strictEqual(textAt(answer, "leaf_hash"), Buffer.from(leaf).toString("base64"))
    })
  )

  it.effect("is 404 for an unknown receipt", () =>
    Effect.gen(function* () {
      const none = yield* send({ path: proofOf(`rcpt_${"0".repeat(32)}`) })
      assert.deepStrictEqual(problemOf(none), [404, "NOT_FOUND"])
    })
  )
})

it.layer(memoryMarket(), LIVE)("The log", (it) => {
  it.effect("is served in tiles that give its root, and reveals nothing of a receipt", () =>
    Effect.gen(function* () {
      const { receipt } = yield* bought
      yield* bought
      const note = yield* expecting(200, { path: `${LOG}/checkpoint` })
      assert.strictEqual(note.headers["content-type"], "text/plain; charset=utf-8")
      const { root, size } = treeAt(note.text)
      assert.strictEqual((yield* expecting(200, { path: `${LOG}/1/checkpoint` })).text, note.text)
      const tile = yield* expecting(200, { path: `${LOG}/tile/0/000.p/${size}` })
      assert.strictEqual(tile.headers["cache-control"], "public, max-age=31536000, immutable")
      assert.strictEqual(tile.headers["content-type"], "application/octet-stream")
      const entries = yield* expecting(200, { path: `${LOG}/1/tile/entries/000.p/${size}` })
      assert.strictEqual(entries.bytes.length, size * 34)
      const added = Array.from({ length: size }, (_, n) => {
        assert.strictEqual(hex(entries.bytes.slice(n * 34, n * 34 + 2)), "0020")
        const entry = entries.bytes.slice(n * 34 + 2, n * 34 + 34)
        assert.strictEqual(hex(leafHash(sha256, entry)), hex(tile.bytes.slice(n * 32, n * 32 + 32)))
        return { entry, leaf: leafHash(sha256, entry) }
      })
      assert.strictEqual(hex(grow(sha256, 0, [], added).root), hex(root))
      // The receipt without its salt matches nothing.
      const guesses = [JSON.stringify(receipt), receipt.signature, receipt.receipt_id].map((text) =>
        hex(sha256(Buffer.from(text)))
      )
      for (const { entry } of added) assert.notInclude(guesses, hex(entry))
    })
  )

  it.effect("has no tile beyond its tree", () =>
    Effect.gen(function* () {
      yield* bought
      for (const path of ["0/001", "0/000", "0/000.p/200", "1/000.p/1", "0/x", "7/000", "entries/000", "0/..%2f000"]) {
        assert.deepStrictEqual(problemOf(yield* send({ path: `${LOG}/tile/${path}` })), [404, "NOT_FOUND"], path)
      }
      assert.deepStrictEqual(problemOf(yield* send({ path: `${LOG}/2/checkpoint` })), [404, "NOT_FOUND"])
      assert.deepStrictEqual(problemOf(yield* send({ path: `${LOG}/0/tile/0/000.p/1` })), [404, "NOT_FOUND"])
    })
  )

  it.effect("proves its consistency", () =>
    Effect.gen(function* () {
      yield* bought
      const before = treeAt((yield* expecting(200, { path: `${LOG}/checkpoint` })).text)
      for (let i = 0; i < 3; i++) yield* bought
      const after = treeAt((yield* expecting(200, { path: `${LOG}/checkpoint` })).text)
      const answer = yield* expecting(200, { path: `${LOG}/consistency?from=${before.size}&to=${after.size}` })
      const hashes = listAt(answer, "hashes").map((text) => fromBase64(String(text))!)
      const roots = rootsOfConsistency(sha256, before.size, after.size, before.root, hashes)!
      assert.strictEqual(hex(roots.smaller), hex(before.root))
      assert.strictEqual(hex(roots.larger), hex(after.root))
      const beyond = yield* send({ path: `${LOG}/consistency?from=1&to=${after.size + 1}` })
      assert.deepStrictEqual(problemOf(beyond), [422, "VALIDATION_ERROR"])
      const [log] = listAt(yield* expecting(200, { path: LOG }), "logs")
      assert.deepStrictEqual([valueAt(log!, "log"), valueAt(log!, "open")], [1, true])
    })
  )
})

it.layer(memoryMarket(), { timeout: "120 seconds", excludeTestServices: true })("A forgery", (it) => {
  it.effect(
    "is detected, for any changed bit of the receipt, the proof or the key",
    () =>
      Effect.gen(function* () {
        yield* bought
        yield* bought
        const { proof, receipt } = yield* bought
        const key = yield* vkey
        const text = JSON.stringify(receipt)
        let tried = 0
        const refuses = (what: string, forged: () => ReturnType<typeof verifyReceipt>) =>
          Effect.map(Effect.promise(forged), ({ valid }) => {
            tried++
            if (valid) assert.fail(`accepted ${what}`)
          })
        for (const one of flipped(text)) yield* refuses(one, () => verifyReceipt(one, proof.text, key))
        for (const one of flipped(proof.text)) yield* refuses(one, () => verifyReceipt(text, one, key))
        for (const one of flipped(key)) yield* refuses(one, () => verifyReceipt(text, proof.text, one))
        assert.strictEqual(tried, 8 * Buffer.byteLength(text + proof.text + key))
        assert.isTrue((yield* Effect.promise(() => verifyReceipt(text, proof.text, key))).valid)
      }),
    { timeout: 240_000 }
  )
})

it.layer(memoryMarket({ RATE_LIMIT_RPM: "0" }), LIVE)("A full tile", (it) => {
  it.effect("is served without a width, and with one up to 255", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const consumer = yield* aFundedConsumer()
      const call = callOf(consumer, yield* anOffer(url, { price_microcents: 1 }))
      yield* Effect.forEach(Array.from({ length: 300 }), () => expecting(200, call), { concurrency: 8 })
      const [newest] = yield* receiptsOf(consumer)
      yield* expecting(200, { path: proofOf(newest!.receipt_id) })
      for (const [path, hashes] of [
        ["0/000", 256],
        ["0/000.p/255", 255]
      ] as const) {
        assert.strictEqual((yield* expecting(200, { path: `${LOG}/tile/${path}` })).bytes.length, hashes * 32)
      }
      for (const path of ["0/000.p/256", "0/000.p/257", "0/000.p/300", "entries/000.p/256"]) {
        assert.deepStrictEqual(problemOf(yield* send({ path: `${LOG}/tile/${path}` })), [404, "NOT_FOUND"], path)
      }
    })
  )
})
