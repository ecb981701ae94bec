/**
 * The tree is stored and served as C2SP tlog-tiles: rows of 256 hashes, every eighth height. A tile only grows, and a
 * full one never changes. The entries of the leaves are stored in bundles of the same width.
 */
import {
  completeRoot,
  type Hash,
  HASH_BYTES,
  type KnownNodes,
  type Node,
  nodesOf,
  type Range,
  rootOfPeaks,
  type Sha256
} from "./MerkleTree.ts"

export const TILE_WIDTH = 256
const TILE_HEIGHT = 8
const LEVEL_MAX = 6

/** The level of entry bundles. */
export const ENTRIES = -1

/** The place of a tile in the tree. Level 0 has the leaves, level -1 the entries themselves. */
export interface TilePlace {
  readonly level: number
  readonly index: number
}

/** 256 hashes at most of one level of the tree: what the log stores, and serves to other parties. */
export interface Tile extends TilePlace {
  /** Concatenated, 32 bytes each; the entries for an entry bundle. */
  readonly hashes: Uint8Array
}

/** Full tiles never change. */
export const isFull = ({ hashes }: Tile): boolean => hashes.length === TILE_WIDTH * HASH_BYTES

export const leafTile = (index: number): TilePlace => ({ level: 0, index: Math.floor(index / TILE_WIDTH) })

/** Number of hashes in the last tile of a level; 0 if every tile is full. */
export const partialWidth = (level: number, size: number): number =>
  Math.floor(size / TILE_WIDTH ** Math.max(0, level)) % TILE_WIDTH

export const exists = ({ index, level }: TilePlace, width: number, size: number): boolean =>
  index * TILE_WIDTH + width <= Math.floor(size / TILE_WIDTH ** Math.max(0, level))

/** The partial tiles of a tree: all that is needed to extend it. */
export const edgeOf = (size: number): ReadonlyArray<TilePlace> =>
  [ENTRIES, 0, 1, 2, 3, 4, 5, LEVEL_MAX]
    .filter((level) => partialWidth(level, size) > 0)
    .map((level) => ({ level, index: Math.floor(size / TILE_WIDTH ** (Math.max(0, level) + 1)) }))

/** A tree with added leaves: every new or longer tile, and the root. */
export const grow = (
  sha256: Sha256,
  size: number,
  edge: ReadonlyArray<Tile>,
  added: ReadonlyArray<{ readonly entry: Uint8Array; readonly leaf: Hash }>
): { readonly tiles: ReadonlyArray<Tile>; readonly size: number; readonly root: Hash } => {
  const rows = new Map(edge.map(({ hashes, level }) => [level, split(hashes)]))
  const grown: Array<Tile> = []
  const touched = new Set<number>()
  const positions = new Map<number, number>()
  const push = (level: number, hash: Hash): void => {
    const row = rows.get(level) ?? []
    rows.set(level, row)
    if (!positions.has(level)) positions.set(level, Math.floor(size / TILE_WIDTH ** (Math.max(0, level) + 1)))
    row.push(hash)
    touched.add(level)
    if (row.length < TILE_WIDTH) return
    const index = positions.get(level)!
    grown.push({ level, index, hashes: join(row) })
    positions.set(level, index + 1)
    rows.set(level, [])
    touched.delete(level)
    if (level >= 0) push(level + 1, completeRoot(sha256, row))
  }
  for (const { entry, leaf } of added) {
    push(ENTRIES, entry)
    push(0, leaf)
  }
  for (const level of touched) grown.push({ level, index: positions.get(level)!, hashes: join(rows.get(level)!) })
  return { tiles: grown, size: size + added.length, root: rootOfEdge(sha256, rows) }
}

const rootOfEdge = (sha256: Sha256, rows: ReadonlyMap<number, ReadonlyArray<Hash>>): Hash => {
  const peaks: Array<Hash> = []
  for (let level = LEVEL_MAX; level >= 0; level--) {
    const row = rows.get(level) ?? []
    for (const { height, index } of nodesOf({ start: 0, end: row.length })) {
      peaks.push(completeRoot(sha256, row.slice(index * 2 ** height, (index + 1) * 2 ** height)))
    }
  }
  return rootOfPeaks(sha256, peaks)
}

/** The tiles needed for the hashes of some ranges, without known ones. */
export const tilesFor = (ranges: ReadonlyArray<Range>, known?: KnownNodes): ReadonlyArray<TilePlace> => {
  const places = new Map<string, TilePlace>()
  for (const range of ranges) {
    if (known?.getRange(range) !== undefined) continue
    for (const node of nodesOf(range)) {
      if (known?.get(node) !== undefined) continue
      const { index, level } = placeOf(node)
      places.set(`${level}/${index}`, { level, index })
    }
  }
  return [...places.values()]
}

/** The hash over a range, from tiles. Known nodes are used, computed ones become known. */
export const rangeHash = (
  sha256: Sha256,
  range: Range,
  tileAt: (place: TilePlace) => Uint8Array | undefined,
  known?: KnownNodes
): Hash | undefined => {
  const whole = known?.getRange(range)
  if (whole !== undefined) return whole
  const peaks: Array<Hash> = []
  for (const node of nodesOf(range)) {
    const hash = known?.get(node) ?? nodeFrom(sha256, node, tileAt)
    if (hash === undefined) return undefined
    known?.keep(node, hash)
    peaks.push(hash)
  }
  return rootOfPeaks(sha256, peaks)
}

const nodeFrom = (
  sha256: Sha256,
  node: Node,
  tileAt: (place: TilePlace) => Uint8Array | undefined
): Hash | undefined => {
  const { count, index, level, offset } = placeOf(node)
  const tile = tileAt({ level, index })
  if (tile === undefined || tile.length < (offset + count) * HASH_BYTES) return undefined
  return completeRoot(sha256, split(tile.subarray(offset * HASH_BYTES, (offset + count) * HASH_BYTES)))
}

/** Location of a node: `count` hashes from `offset` on, in one tile. */
const placeOf = ({ height, index }: Node): TilePlace & { readonly offset: number; readonly count: number } => {
  const level = Math.floor(height / TILE_HEIGHT)
  const count = 2 ** (height % TILE_HEIGHT)
  const first = index * count
  return { level, index: Math.floor(first / TILE_WIDTH), offset: first % TILE_WIDTH, count }
}

export const split = (hashes: Uint8Array): Array<Hash> => {
  const parts: Array<Hash> = []
  for (let at = 0; at < hashes.length; at += HASH_BYTES) parts.push(hashes.subarray(at, at + HASH_BYTES))
  return parts
}

const join = (hashes: ReadonlyArray<Hash>): Uint8Array => {
  const bytes = new Uint8Array(hashes.length * HASH_BYTES)
  for (const [at, hash] of hashes.entries()) bytes.set(hash, at * HASH_BYTES)
  return bytes
}

// The paths of tiles: `0/x001/x234/067`, `entries/000.p/17`.

export interface RequestedTile extends TilePlace {
  readonly width: number
}

export const tilePath = ({ index, level, width }: RequestedTile): string => {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/.{3}/gu)!
  const name = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/")
  return `${level === ENTRIES ? "entries" : level}/${name}${width === TILE_WIDTH ? "" : `.p/${width}`}`
}

const SHAPE = /^(entries|0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/u

/** Undefined for paths that `tilePath` does not produce. */
export const parseTilePath = (path: string): RequestedTile | undefined => {
  const parts = SHAPE.exec(path)
  if (parts === null) return undefined
  const [, level, name, width] = parts
  const requested = {
    level: level === "entries" ? ENTRIES : Number(level),
    index: Number(name!.replaceAll(/[x/]/gu, "")),
    width: width === undefined ? TILE_WIDTH : Number(width)
  }
  return requested.width <= TILE_WIDTH && tilePath(requested) === path ? requested : undefined
}
