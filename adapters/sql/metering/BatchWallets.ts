/**
 * The wallets of a batch of calls. The functions of migrations/ledger take them sorted, each once.
 */
import type { PgTypes } from "@effect/sql-pg"
import { column, OID } from "../shared/Columns.ts"

type Calls = ReadonlyArray<{ readonly consumerId: string }>

export const walletsOf = (calls: Calls): ReadonlyArray<string> =>
  calls.length === 1 ? [calls[0]!.consumerId] : [...new Set(calls.map((call) => call.consumerId))].toSorted()

/** Positions start at 1. */
export const placesOf = (wallets: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  new Map(wallets.map((id, i) => [id, i + 1]))

/** The total of each wallet. */
export const totalsOf = <Call extends Calls[number]>(
  wallets: ReadonlyArray<string>,
  calls: ReadonlyArray<Call>,
  amountOf: (call: Call) => bigint
): PgTypes.Parameter => {
  const totals = new Map(wallets.map((id) => [id, 0n]))
  for (const call of calls) totals.set(call.consumerId, totals.get(call.consumerId)! + amountOf(call))
  return column([...totals.values()], OID.int8)
}

/** The available balance of a wallet after one more call of the batch, in the order of the batch. */
export const availableAfter = (wallets: ReadonlyArray<string>, before: ReadonlyArray<bigint>) => {
  const running = new Map(wallets.map((id, i) => [id, before[i]!]))
  return (consumerId: string, change: bigint): bigint => {
    const available = running.get(consumerId)! + change
    running.set(consumerId, available)
    return available
  }
}
