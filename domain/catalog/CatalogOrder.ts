/**
 * The orders of the catalog and the positions in them: one rule for every adapter and for cursors. Names are ordered by
 * code point, newest by id (version 7 UUIDs are ordered by time).
 */
import type { Position } from "../shared/Page.ts"
import type { CatalogEntry, CatalogSort } from "./CatalogStore.ts"

/** Padded to the digits of the largest amount, prices sort as text. */
const PRICE_DIGITS = 16
const NAME_CHARS_MAX = 256

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u
const PRICE = /^\d{16}$/u

export const positionOf = (entry: CatalogEntry, sort: CatalogSort): Position => {
  const id = entry.tool.id
  switch (sort) {
    case "name":
      return { key: entry.tool.toolName, id }
    case "price":
    case "price_desc":
      return { key: String(entry.maximum).padStart(PRICE_DIGITS, "0"), id }
    case "newest":
      return { key: id, id }
  }
}

/** Whether `positionOf` can produce it. A cursor is untrusted input: an impossible position yields an empty page. */
export const isPosition = ({ key, id }: Position, sort: CatalogSort): boolean => {
  if (!UUID.test(id)) return false
  switch (sort) {
    case "name":
      return key.length <= NAME_CHARS_MAX && key.isWellFormed() && !key.includes("\0")
    case "price":
    case "price_desc":
      return PRICE.test(key)
    case "newest":
      return key === id
  }
}

/** Below zero if `a` comes first. */
export const comparePositions = (a: Position, b: Position, sort: CatalogSort): number => {
  const ascending = compareCodePoints(a.key, b.key) || compareCodePoints(a.id, b.id)
  return sort === "price_desc" || sort === "newest" ? -ascending : ascending
}

/** Not `<`, which compares UTF-16 units: these differ in order beyond the first plane. */
export const compareCodePoints = (a: string, b: string): number => {
  if (a === b) return 0
  let i = 0
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++
  if (i === a.length || i === b.length) return a.length - b.length
  // Inside a pair both are low surrogates of the same high one, and have the order of the code points.
  return a.codePointAt(i)! - b.codePointAt(i)!
}
