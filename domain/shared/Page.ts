/**
 * A page of a list: by offset, for clients that count, or after a position, which stays correct while rows are added.
 */
export const PAGE_LIMIT_DEFAULT = 50
export const PAGE_LIMIT_MAX = 100
export const PAGE_OFFSET_MAX = 1_000_000
/** Lists that may be long count up to this: no page reads a whole table to say how long it is. */
export const COUNTED_MAX = 10_000

/** The end of a page: the last row's sort key and id. The id breaks ties. */
export interface Position {
  readonly key: string
  readonly id: string
}

/** Begins at `offset`, or after the position at which the page before ended. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
  readonly after: Position | undefined
}

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Counts the whole filtered list. */
  readonly total: number
  /** Undefined on the last page. */
  readonly next: Position | undefined
}

/** The page's rows out of `limit + 1` fetched ones: the extra row shows that there is a next page. */
export const pageOf = <A>(
  rows: ReadonlyArray<A>,
  limit: number,
  total: number,
  position: (last: A) => Position
): Page<A> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, total, next: rows.length > limit && last !== undefined ? position(last) : undefined }
}
