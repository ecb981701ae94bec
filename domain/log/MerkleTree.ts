/**
 * The Merkle tree of RFC 6962 (section 2.1), as pure functions: hashes of leaves and nodes, and which hashes prove that
 * a leaf is in a tree or that a tree extends a smaller one. Positions are plain numbers, enough for 2^53 leaves.
 */

/** A SHA-256 hash: the root of a tree, or of a part of it. */
export type Hash = Uint8Array

/** Synchronous, because every use is in a loop. */
export type Sha256 = (bytes: Uint8Array) => Hash

export const HASH_BYTES = 32

/** The leaves from `start` (inclusive) to `end` (exclusive). */
export interface Range {
  readonly start: number
  readonly end: number
}

/** A complete subtree: the `index`-th of those with 2^height leaves. */
export interface Node {
  readonly height: number
  readonly index: number
}

export const emptyRoot = (sha256: Sha256): Hash => sha256(new Uint8Array(0))

export const leafHash = (sha256: Sha256, entry: Uint8Array): Hash => {
  if (entry.length === HASH_BYTES) {
    single.set(entry, 1)
    return sha256(single)
  }
  const bytes = new Uint8Array(entry.length + 1)
  bytes.set(entry, 1)
  return sha256(bytes)
}

/** The usual size of entries, which are hashes themselves. */
const single = new Uint8Array(1 + HASH_BYTES)

/** One buffer for all of them: nothing is asynchronous between filling and hashing. */
const pair = new Uint8Array(1 + 2 * HASH_BYTES)
pair[0] = 0x01

export const nodeHash = (sha256: Sha256, left: Hash, right: Hash): Hash => {
  pair.set(left, 1)
  pair.set(right, 1 + HASH_BYTES)
  return sha256(pair)
}

/** The root over the roots of complete subtrees, largest first, in the order of `nodesOf`. */
export const rootOfPeaks = (sha256: Sha256, peaks: ReadonlyArray<Hash>): Hash => {
  if (peaks.length === 0) return emptyRoot(sha256)
  return peaks.reduceRight((right, left) => nodeHash(sha256, left, right))
}

/** The root over adjacent hashes of one height; their number is a power of two. */
export const completeRoot = (sha256: Sha256, hashes: ReadonlyArray<Hash>): Hash => {
  let row = hashes
  while (row.length > 1) {
    const above: Array<Hash> = []
    for (let i = 0; i < row.length; i += 2) above.push(nodeHash(sha256, row[i]!, row[i + 1]!))
    row = above
  }
  return row[0]!
}

/** The complete subtrees of a range, from left to right. The range must be one of the tree's splits. */
export const nodesOf = ({ end, start }: Range): ReadonlyArray<Node> => {
  const nodes: Array<Node> = []
  let from = start
  while (from < end) {
    const width = powerOfTwoUpTo(end - from)
    nodes.push({ height: Math.log2(width), index: from / width })
    from += width
  }
  return nodes
}

/** The siblings of the path from the leaf to the root, from the bottom up. */
export const inclusionRanges = (index: number, size: number): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  let start = 0
  let end = size
  while (end - start > 1) {
    const split = start + splitOf(end - start)
    if (index < split) {
      ranges.push({ start: split, end })
      end = split
    } else {
      ranges.push({ start, end: split })
      start = split
    }
  }
  return ranges.toReversed()
}

/** Returns what proves that the tree of `larger` leaves extends the tree of `smaller` leaves. */
export const consistencyRanges = (smaller: number, larger: number): ReadonlyArray<Range> => {
  if (smaller === 0 || smaller === larger) return []
  const ranges: Array<Range> = []
  let start = 0
  let end = larger
  while (smaller !== end) {
    const split = start + splitOf(end - start)
    if (smaller <= split) {
      ranges.push({ start: split, end })
      end = split
    } else {
      ranges.push({ start, end: split })
      start = split
    }
  }
  // The verifier knows the root of the smaller tree.
  return (start === 0 ? ranges : [...ranges, { start, end }]).toReversed()
}

/** The largest power of two below `count`. */
const splitOf = (count: number): number => {
  const power = powerOfTwoUpTo(count)
  return power === count ? power / 2 : power
}

const powerOfTwoUpTo = (count: number): number => {
  let power = 1
  while (power * 2 <= count) power *= 2
  return power
}

// Verifies consistency proofs as specified in RFC 9162 (2.1.4.2).

/** The roots of both trees according to the proof; undefined if it has the wrong length. */
export const rootsOfConsistency = (
  sha256: Sha256,
  smaller: number,
  larger: number,
  smallerRoot: Hash,
  proof: ReadonlyArray<Hash>
): { readonly smaller: Hash; readonly larger: Hash } | undefined => {
  if (smaller <= 0 || smaller > larger) return undefined
  if (smaller === larger) return proof.length === 0 ? { smaller: smallerRoot, larger: smallerRoot } : undefined
  const path = Number.isInteger(Math.log2(smaller)) ? [smallerRoot, ...proof] : [...proof]
  const first = path.shift()
  if (first === undefined) return undefined
  let at = smaller - 1
  let last = larger - 1
  while (at % 2 === 1) {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  let [before, after] = [first, first]
  for (const hash of path) {
    if (last === 0) return undefined
    if (at % 2 === 1 || at === last) {
      before = nodeHash(sha256, hash, before)
      after = nodeHash(sha256, hash, after)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else {
      after = nodeHash(sha256, after, hash)
    }
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? { smaller: before, larger: after } : undefined
}

/** Constant time is not needed: hashes of a public log are not secret. */
export const sameHash = (one: Hash, other: Hash): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])

/**
 * Caches what never changes when the tree grows: full tiles above the leaves' level (a few hundred cover millions of
 * leaves), nodes that span whole tiles, and the right edge of the tree.
 */
export interface KnownNodes {
  get(node: Node): Hash | undefined
  keep(node: Node, hash: Hash): void
  getRange(range: Range): Hash | undefined
  keepRange(range: Range, hash: Hash): void
  getTile(level: number, index: number): Uint8Array | undefined
  /** A full tile above the leaves' level. */
  keepTile(level: number, index: number, hashes: Uint8Array): void
}

/** The leaf's own tile contains all lower nodes. */
const HEIGHT_MIN = 8
/** From this height on nodes are few and each takes many hashes to compute: lower ones must not displace them. */
const HEIGHT_HIGH = 11
const NODES_MAX = 20_000
/** 8 KiB each. */
const TILES_MAX = 512
/** One tree size has at most one range per level. */
const RANGES_MAX = 128

export const makeKnownNodes = (): KnownNodes => {
  const low = bounded<number>(NODES_MAX)
  const high = bounded<number>(NODES_MAX)
  const ofHeight = (height: number) => (height < HEIGHT_HIGH ? low : high)
  const ranges = bounded<string>(RANGES_MAX)
  const tiles = bounded<string>(TILES_MAX)
  return {
    get: (node) => ofHeight(node.height).get(keyOf(node)),
    keep: (node, hash) => {
      if (node.height >= HEIGHT_MIN) ofHeight(node.height).keep(keyOf(node), hash)
    },
    getRange: (range) => ranges.get(`${range.start}-${range.end}`),
    keepRange: (range, hash) => ranges.keep(`${range.start}-${range.end}`, hash),
    getTile: (level, index) => tiles.get(`${level}/${index}`),
    keepTile: (level, index, hashes) => tiles.keep(`${level}/${index}`, hashes)
  }
}

/** The oldest is removed first. Bytes are copied, because they may be part of a larger buffer. */
const bounded = <K>(entriesMax: number) => {
  const known = new Map<K, Uint8Array>()
  return {
    get: (key: K) => known.get(key),
    keep: (key: K, bytes: Uint8Array): void => {
      if (known.has(key)) return
      if (known.size >= entriesMax) known.delete(known.keys().next().value!)
      known.set(key, Uint8Array.from(bytes))
    }
  }
}

/** No tree has 2^47 leaves. */
const keyOf = ({ height, index }: Node): number => index * 64 + height
