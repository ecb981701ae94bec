import { assert, describe, it } from "@effect/vitest"
import { hash } from "node:crypto"
import {
  consistencyRanges,
  type Hash,
  inclusionRanges,
  leafHash,
  makeKnownNodes,
  nodeHash,
  type Range,
  rootsOfConsistency
} from "../../domain/log/MerkleTree.ts"
import {
  edgeOf,
  ENTRIES,
  exists,
  grow,
  parseTilePath,
  rangeHash,
  type Tile,
  tilePath,
  tilesFor
} from "../../domain/log/Tiles.ts"
import { rootOfInclusion } from "../../testing/contracts/log/InclusionProof.ts"

const sha256 = (bytes: Uint8Array): Hash => hash("sha256", bytes, "buffer")
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** RFC 6962, 2.1, verbatim. */
const mth = (leaves: ReadonlyArray<Hash>): Hash => {
  if (leaves.length === 0) return sha256(new Uint8Array(0))
  if (leaves.length === 1) return leaves[0]!
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1))
  return nodeHash(sha256, mth(leaves.slice(0, k)), mth(leaves.slice(k)))
}

const SIZE_MAX = 300
/** Every size of a small tree, and those around the first full tile. */
const SIZES = [...Array.from({ length: 130 }, (_, n) => n + 1), 255, 256, 257, 258, SIZE_MAX]
const entries = Array.from({ length: 70_000 }, (_, n) => sha256(Buffer.from(`entry ${n}`)))
const added = entries.map((entry) => ({ entry, leaf: leafHash(sha256, entry) }))
const leaves = added.map(({ leaf }) => leaf)

/** A log as the stores keep it. */
const makeLog = () => {
  const tiles = new Map<string, Tile>()
  // What lies between two existing leaves never changes.
  const known = new Map<string, Hash>()
  const keyOf = ({ index, level }: { readonly index: number; readonly level: number }) => `${level}/${index}`
  const log = {
    size: 0,
    root: mth([]),
    tiles,
    append: (upTo: number) => {
      const edge = edgeOf(log.size).map((place) => tiles.get(keyOf(place))!)
      const grown = grow(sha256, log.size, edge, added.slice(log.size, upTo))
      for (const tile of grown.tiles) tiles.set(keyOf(tile), tile)
      log.size = grown.size
      log.root = grown.root
    },
    hashes: (ranges: ReadonlyArray<Range>) => {
      const needed = new Set(tilesFor(ranges).map(keyOf))
      return ranges.map((range) => {
        const name = `${range.start}-${range.end}`
        const found =
          known.get(name) ??
          rangeHash(sha256, range, (place) => (needed.has(keyOf(place)) ? tiles.get(keyOf(place))?.hashes : undefined))!
        known.set(name, found)
        return found
      })
    }
  }
  return log
}

describe("the tree", () => {
  it("has the well-known roots", () => {
    // The eight leaves that certificate transparency's own tests use, and their roots.
    const inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    const roots = [
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
      "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
      "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
      "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
      "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
    ]
    for (const [size, root] of roots.entries()) {
      const some = inputs.slice(0, size).map((input) => {
        const entry = Buffer.from(input, "hex")
        return { entry: sha256(entry), leaf: leafHash(sha256, entry) }
      })
      assert.strictEqual(hex(grow(sha256, 0, [], some).root), root)
    }
  })

  it("has the root of the definition at every size, in any order of additions", () => {
    const log = makeLog()
    assert.strictEqual(hex(log.root), hex(mth([])))
    for (let size = 1; size <= SIZE_MAX; size++) {
      log.append(size)
      assert.strictEqual(hex(log.root), hex(mth(leaves.slice(0, size))), `${size} leaves`)
      assert.strictEqual(hex(grow(sha256, 0, [], added.slice(0, size)).root), hex(log.root))
    }
    const inSteps = makeLog()
    for (const size of [1, 255, 256, 257, 511, 512, 600, 65_535, 65_536, 65_537, 70_000]) {
      inSteps.append(size)
      assert.strictEqual(hex(inSteps.root), hex(mth(leaves.slice(0, size))), `${size} leaves`)
    }
  })

  it("is served in tiles as C2SP counts them", () => {
    const log = makeLog()
    log.append(70_000)
    const count = (level: number, width: number) =>
      [...log.tiles.values()].filter((tile) => tile.level === level && tile.hashes.length === width * 32).length
    // The example of the specification.
    assert.deepStrictEqual([count(0, 256), count(0, 112), count(1, 256), count(1, 17), count(2, 1)], [273, 1, 1, 1, 1])
    assert.deepStrictEqual([count(ENTRIES, 256), count(ENTRIES, 112)], [273, 1])
    assert.isTrue(exists({ level: 0, index: 273 }, 112, 70_000))
    assert.isFalse(exists({ level: 0, index: 273 }, 113, 70_000))
    assert.isFalse(exists({ level: 3, index: 0 }, 1, 70_000))
  })

  it("proves every leaf of every size, and no other", () => {
    const log = makeLog()
    for (const size of SIZES) {
      log.append(size)
      for (let index = 0; index < size; index++) {
        const path = log.hashes(inclusionRanges(index, size))
        assert.strictEqual(hex(rootOfInclusion(sha256, leaves[index]!, index, size, path)!), hex(log.root))
        const elsewhere = (index + 1) % size
        if (size > 1) {
          const wrong = rootOfInclusion(sha256, leaves[elsewhere]!, index, size, path)
          assert.notStrictEqual(wrong && hex(wrong), hex(log.root))
        }
        assert.isUndefined(rootOfInclusion(sha256, leaves[index]!, index, size, [...path, leaves[0]!]))
        if (path.length > 0) assert.isUndefined(rootOfInclusion(sha256, leaves[index]!, index, size, path.slice(1)))
      }
    }
  })

  it("proves the same from its cache, while it grows", () => {
    const log = makeLog()
    const known = makeKnownNodes()
    let saved = 0
    for (const size of [300, 3_000, 5_000, 66_000, 69_999]) {
      log.append(size)
      for (let n = 0; n < 40; n++) {
        const index = (n * 7_919) % size
        const ranges = inclusionRanges(index, size)
        const places = new Set(tilesFor(ranges, known).map(({ index, level }) => `${level}/${index}`))
        saved += tilesFor(ranges).length - places.size
        const path = ranges.map((range) =>
          rangeHash(
            sha256,
            range,
            ({ index, level }) =>
              places.has(`${level}/${index}`) ? log.tiles.get(`${level}/${index}`)?.hashes : undefined,
            known
          )
        )
        for (const [at, range] of ranges.entries()) if (range.end === size) known.keepRange(range, path[at]!)
        assert.strictEqual(
          hex(rootOfInclusion(sha256, leaves[index]!, index, size, path as Array<Hash>)!),
          hex(log.root)
        )
      }
    }
    assert.isAbove(saved, 0)
  })

  it("proves for every two sizes that one extends the other, and for no other tree", () => {
    const log = makeLog()
    log.append(SIZE_MAX)
    const roots = Array.from({ length: SIZE_MAX + 1 }, (_, size) => mth(leaves.slice(0, size)))
    for (const larger of SIZES) {
      for (let smaller = 1; smaller <= larger; smaller++) {
        const proof = log.hashes(consistencyRanges(smaller, larger))
        const found = rootsOfConsistency(sha256, smaller, larger, roots[smaller]!, proof)!
        assert.strictEqual(hex(found.smaller), hex(roots[smaller]!), `${smaller} in ${larger}`)
        assert.strictEqual(hex(found.larger), hex(roots[larger]!), `${smaller} in ${larger}`)
        if (smaller < larger) {
          const forged = [...proof]
          forged[0] = leaves[SIZE_MAX]!
          const wrong = rootsOfConsistency(sha256, smaller, larger, roots[smaller]!, forged)!
          assert.isFalse(hex(wrong.smaller) === hex(roots[smaller]!) && hex(wrong.larger) === hex(roots[larger]!))
        }
      }
    }
  })
})

describe("a tile's path", () => {
  it("is written in groups of three digits, and parsed back", () => {
    for (const [path, level, index, width] of [
      ["0/000", 0, 0, 256],
      ["0/x001/x234/067", 0, 1_234_067, 256],
      ["1/x001/000.p/17", 1, 1_000, 17],
      ["entries/999.p/1", ENTRIES, 999, 1],
      ["63/255", 63, 255, 256]
    ] as const) {
      assert.strictEqual(tilePath({ level, index, width }), path)
      assert.deepStrictEqual(parseTilePath(path), { level, index, width })
    }
  })

  it("accepts no other text", () => {
    for (const path of [
      "",
      "0",
      "0/",
      "0/0",
      "0/00",
      "00/000",
      "0/x000/000",
      "0/000.p/0",
      "0/000.p/256",
      "0/000.p/257",
      "0/000.p/999",
      "0/000.p/01",
      "0/000.p/",
      "0/001/000",
      "0/x001/x000",
      "-1/000",
      "entries/000.P/1",
      "0/000/",
      "0/../000",
      "data/000"
    ]) {
      assert.isUndefined(parseTilePath(path), path)
    }
  })
})
