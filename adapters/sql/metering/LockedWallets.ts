/**
 * Which items of a batch wait for a wallet that another transaction keeps locked.
 */
import { Effect } from "effect"
import { column, OID } from "../shared/Columns.ts"
import type { LaneConnection } from "../shared/LaneConnection.ts"

/** Existing wallets, except those that could be locked now. */
const LOCKED = `SELECT w.consumer_id FROM wallets w WHERE w.consumer_id = ANY ($1) AND w.consumer_id <> ALL (ARRAY(
  SELECT f.consumer_id FROM wallets f WHERE f.consumer_id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED))`

export const lockedOut = Effect.fnUntraced(function* <Item>(
  connection: LaneConnection,
  items: ReadonlyArray<Item>,
  walletOf: (item: Item) => string
) {
  const consumers = new Set(items.map(walletOf))
  const rows = yield* connection.query(LOCKED, [column([...consumers], OID.uuid)])
  const locked = new Set(rows.map(([consumerId]) => consumerId))
  return new Set(items.filter((item) => locked.has(walletOf(item))))
})
