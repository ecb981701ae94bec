/**
 * The paths of tiles: `0/x001/x234/067`, `entries/000.p/17`.
 */
import { ENTRIES, TILE_WIDTH, type TilePlace } from "./Tiles.ts"

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
