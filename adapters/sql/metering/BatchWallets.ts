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

/** The total of each wallet, and what stands for those without calls. */
export const totalsOf = <Call extends Calls[number]>(
  wallets: ReadonlyArray<string>,
  calls: ReadonlyArray<Call>,
  amountOf: (call: Call) => bigint,
  none: 0n | null
): PgTypes.Parameter => {
  const totals = new Map<string, bigint | null>(wallets.map((id) => [id, none]))
  for (const call of calls) totals.set(call.consumerId, (totals.get(call.consumerId) ?? 0n) + amountOf(call))
  return column([...totals.values()], OID.int8)
}

/** The first value that both functions return. */
export const balancesBefore = (values: unknown): ReadonlyArray<bigint> =>
  (values as ReadonlyArray<ReadonlyArray<bigint>>)[0]!

/** The available balance of a wallet after one more call of the batch, in the order of the batch. */
export type AvailableAfter = (consumerId: string, change: bigint) => bigint

export const availableAfter = (wallets: ReadonlyArray<string>, before: ReadonlyArray<bigint>): AvailableAfter => {
  const running = new Map(wallets.map((id, i) => [id, before[i]!]))
  return (consumerId, change) => {
    const available = running.get(consumerId)! + change
    running.set(consumerId, available)
    return available
  }
}
