/**
 * Conditional writes, orders and pages of the rows of a Map.
 */
import { DateTime, Effect, Order } from "effect"
import { type Page, pageOf, type PageRequest } from "../../../domain/shared/Page.ts"
import { put, write } from "./MemoryUnitOfWork.ts"

/** Adds a row, undone on failure. False if the key exists: nothing is changed. */
export const add = <K, V>(map: Map<K, V>, key: K, value: V): Effect.Effect<boolean> =>
  Effect.suspend(() => (map.has(key) ? Effect.succeed(false) : Effect.as(put(map, key, value), true)))

/** Changes a row, undone on failure. Without the row nothing is changed. */
export const change = <K, V extends object>(map: Map<K, V>, key: K, changes: Partial<V>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const row = map.get(key)
    return row === undefined ? Effect.void : put(map, key, { ...row, ...changes })
  })

/** Deletes at most `limit` of the rows for which `isOld` holds, undone on failure, and returns their number. */
export const prune = <K, V>(map: Map<K, V>, isOld: (value: V) => boolean, limit: number): Effect.Effect<number> =>
  write(
    () => {
      const old = [...map].filter(([, value]) => isOld(value)).slice(0, limit)
      for (const [key] of old) map.delete(key)
      return old
    },
    (old) => {
      for (const [key, value] of old) map.set(key, value)
    }
  ).pipe(Effect.map((old) => old.length))

export const oldestFirst = <Row extends { readonly id: string }>(timeOf: (row: Row) => DateTime.Utc) =>
  Order.combine(
    Order.mapInput(DateTime.Order, timeOf),
    Order.mapInput(Order.String, ({ id }: Row) => id)
  )

export const newestFirst = <Row extends { readonly id: string }>(timeOf: (row: Row) => DateTime.Utc) =>
  Order.flip(oldestFirst(timeOf))

/** A page of a list in the order of its ids, newest first. */
export const pageById = <Row extends { readonly id: string }>(
  rows: ReadonlyArray<Row>,
  { after, limit, offset }: PageRequest
): Page<Row> => {
  const listed = rows
    .filter(({ id }) => after === undefined || id < after.id)
    .toSorted(Order.flip(Order.mapInput(Order.String, ({ id }) => id)))
  return pageOf(listed.slice(offset, offset + limit + 1), limit, rows.length, ({ id }) => ({ key: "", id }))
}

/** A page of a list in the order of a time, then of ids. */
export const pageByTime = <Row extends { readonly id: string }>(
  rows: ReadonlyArray<Row>,
  { after, limit, offset }: PageRequest,
  timeOf: (row: Row) => DateTime.Utc,
  first: "newest" | "oldest"
): Page<Row> => {
  const order = first === "newest" ? newestFirst(timeOf) : oldestFirst(timeOf)
  const isAfter = (row: Row): boolean => {
    if (after === undefined) return true
    const [time, end] = [DateTime.formatIso(timeOf(row)), after.key]
    const later = time === end ? row.id > after.id : time > end
    return first === "newest" ? !later && !(time === end && row.id === after.id) : later
  }
  const listed = rows.filter(isAfter).toSorted(order)
  return pageOf(listed.slice(offset, offset + limit + 1), limit, rows.length, (last) => ({
    key: DateTime.formatIso(timeOf(last)),
    id: last.id
  }))
}
