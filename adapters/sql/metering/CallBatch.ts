/**
 * A batch of calls as the parameters of `calls_settle_batch` (migrations/ledger/SettleCalls.ts), and its results.
 * Closings come first: openings may hold what they release.
 */
import type { CloseCall, Closed, OpenCall, Opened } from "../../../domain/metering/CallStore.ts"
import { closeColumns, expectedColumns, openColumns, type Wallets } from "./CallColumns.ts"
import { openedAs, REPLAY } from "./CallRows.ts"
import { column, OID } from "../shared/Columns.ts"

const PARAMETERS = 45

export interface CallBatch {
  readonly wallets: Wallets
  /** Sorted by receipt. */
  readonly closes: ReadonlyArray<CloseCall>
  readonly opens: ReadonlyArray<OpenCall>
}

export const make = (closes: ReadonlyArray<CloseCall>, opens: ReadonlyArray<OpenCall>): CallBatch => ({
  wallets: walletsOf([...closes, ...opens]),
  closes: closes.toSorted((a, b) => (a.receipt.receipt_id < b.receipt.receipt_id ? -1 : 1)),
  opens
})

const walletsOf = (calls: ReadonlyArray<{ readonly consumerId: string }>): Wallets => {
  const ids = [...new Set(calls.map((call) => call.consumerId))].toSorted()
  return { ids, placeOf: new Map(ids.map((id, i) => [id, i + 1])) }
}

export const placeholders = (many: number): string => Array.from({ length: many }, (_, i) => `$${i + 1}`).join(", ")

export const SETTLE = `SELECT * FROM calls_settle_batch(${placeholders(PARAMETERS)})`

/** `again`: an earlier attempt may have succeeded. */
export const params = ({ closes, opens, wallets }: CallBatch, again: boolean): ReadonlyArray<unknown> => [
  column(wallets.ids, OID.uuid),
  again,
  ...expectedColumns(wallets, closes, opens),
  ...closeColumns(wallets, closes),
  ...openColumns(wallets, opens)
]

/**
 * This key has a kept response. The kept responses of a batch together may exceed what the connection takes at once.
 */
export interface Kept {
  readonly _tag: "Kept"
}

export interface Answers {
  readonly closed: ReadonlyArray<Closed>
  readonly opened: ReadonlyArray<Opened | Kept>
}

/** In the order of the batch. A wallet's available balance changes from call to call, closings first. */
export const answersOf = (batch: CallBatch, values: ReadonlyArray<unknown>): Answers => {
  const row = rowOf(values)
  const available = [...row.available]
  const placeOf = ({ consumerId }: { readonly consumerId: string }) => batch.wallets.placeOf.get(consumerId)! - 1
  const closed = batch.closes.map((call, i): Closed => {
    if (row.closedCodes?.[i] === 1) return { _tag: "AlreadyClosed" }
    const held = row.closedHeld?.[i]
    const place = placeOf(call)
    if (typeof held === "bigint") available[place]! += held - call.receipt.cost_microcents
    return { _tag: "Closed", now: typeof held === "bigint", availableMicrocents: available[place]! }
  })
  const opened = batch.opens.map((call, i): Opened | Kept => {
    const amount = row.amounts?.[i] ?? 0n
    const left = row.aloneAvailable?.[i] ?? (available[placeOf(call)]! -= amount)
    const code = row.codes?.[i] ?? 0
    const freeLeft = row.freeLeft?.[i] ?? null
    const detail = row.details?.[i] ?? null
    if (code === REPLAY) return { _tag: "Kept" }
    return openedAs(call, { code, amount, freeLeft, available: left, detail, body: null })
  })
  return { closed, opened }
}

/** The single row that the function returns. Columns that no call of the batch needs are null. */
interface BatchRow {
  /** The available balance of each wallet before the batch. */
  readonly available: ReadonlyArray<bigint>
  readonly closedCodes: ReadonlyArray<number> | null
  readonly closedHeld: ReadonlyArray<bigint | null> | null
  readonly codes: ReadonlyArray<number> | null
  readonly amounts: ReadonlyArray<bigint | null> | null
  readonly freeLeft: ReadonlyArray<number | null> | null
  readonly aloneAvailable: ReadonlyArray<bigint | null> | null
  readonly details: ReadonlyArray<string | null> | null
}

const rowOf = (values: ReadonlyArray<unknown>): BatchRow => {
  const [available, closedCodes, closedHeld, codes, amounts, freeLeft, aloneAvailable, details] = values
  return { available, closedCodes, closedHeld, codes, amounts, freeLeft, aloneAvailable, details } as BatchRow
}
