/**
 * The calls that this node closed last, as the rows that it sent. After a failover to a standby that lacks the last
 * commits, they are what is left of calls that were acknowledged.
 */
import { Context, Layer } from "effect"
import {
  type CloseCall,
  type Closed,
  type KeptResult,
  LOST,
  retainedResult
} from "../../../domain/metering/CallStore.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"

/** The calls of one statement. */
export interface ClosedTogether {
  readonly atMs: number
  /** Elements of an array of `call_closing`, as text. */
  readonly rows: string
  readonly calls: number
  /** Calls among them with an idempotency key. */
  readonly keyed: ReadonlyArray<KeyedClosing>
  /** Receipts among them that did not close their call: the sweeper had. */
  readonly unused: ReadonlyArray<ReceiptId>
}

interface KeyedClosing {
  readonly receiptId: ReceiptId
  readonly keyHash: string
  /** Stored instead of the response, which is not kept here: what the call cost. */
  readonly mark: string
}

/** The closings of one service, which its call store and its search for lost calls share. */
export class RecentClosings extends Context.Service<
  RecentClosings,
  {
    /** The statement has succeeded. */
    add(rows: string, calls: ReadonlyArray<CloseCall>, closed: ReadonlyArray<Closed>): void
    /** Newest first. */
    all(): Iterable<ClosedTogether>
  }
>()("agent-tool-billing/adapters/sql/RecentClosings") {
  static readonly layer = Layer.sync(RecentClosings, () => makeRecentClosings(() => performance.now()))
}

/** Between this and half of it is kept: about 25,000 to 50,000 calls. */
const CHARS_MAX = 16 * 1024 * 1024
const NONE: ReadonlyArray<never> = []

/** `nowMs`: monotonic. */
export const makeRecentClosings = (nowMs: () => number, charsMax = CHARS_MAX): RecentClosings["Service"] => {
  let older: Array<ClosedTogether> = []
  let newer: Array<ClosedTogether> = []
  let chars = 0
  return {
    add: (rows, calls, closed) => {
      if (chars > charsMax / 2) {
        older = newer
        newer = []
        chars = 0
      }
      chars += rows.length
      newer.push({
        atMs: nowMs(),
        rows,
        calls: calls.length,
        keyed: calls.some(hasKey) ? calls.flatMap(keyedOf) : NONE,
        unused: closed.some(isUnused)
          ? calls.flatMap(({ receipt }, n) => (isUnused(closed[n]!) ? [receipt.receipt_id] : []))
          : NONE
      })
    },
    *all() {
      yield* newer.toReversed()
      yield* older.toReversed()
    }
  }
}

const hasKey = ({ keyHash }: CloseCall): boolean => keyHash !== undefined

export const keyedOf = ({ keyHash, receipt }: CloseCall): ReadonlyArray<KeyedClosing> =>
  keyHash === undefined
    ? NONE
    : [
        {
          receiptId: receipt.receipt_id,
          keyHash,
          mark: JSON.stringify(retainedResult(NO_RESULT, receipt, LOST).headers)
        }
      ]

const NO_RESULT: KeptResult = { status: 200, headers: {}, body: "" }
const isUnused = ({ _tag }: Closed): boolean => _tag === "AlreadyClosed"
