/**
 * The response of a call with an Idempotency-Key whose caller disconnected: stored for a short time and up to a number of
 * bytes per account. After that the key stays bound to the receipt, and a replay returns the outcome of the call.
 */
import { type Clock, DateTime, Effect, Schema } from "effect"
import { type Receipt, ReceiptStatus } from "../receipts/Receipt.ts"
import { type ConsumerId, ReceiptId } from "../shared/Ids.ts"
import { formatAmount, Microcents } from "../shared/Microcents.ts"
import { monotonicMs } from "../shared/Time.ts"
import type { KeptResult } from "./CallStore.ts"

export const RETAINED_RESULT_MS_MAX = 10 * 60_000
/** Per account and node, over the storage time. */
export const RETAINED_RESULT_BYTES_MAX = 16 * 1024 * 1024

/** The call was made, and its result is gone. The receipt says what it cost. */
export class ResultNotRetained extends Schema.TaggedError<ResultNotRetained>()("ResultNotRetained", {
  receiptId: ReceiptId,
  outcome: ReceiptStatus,
  costMicrocents: Schema.BigInt,
  /** In a failover of the database, after which the call was settled again by its receipt. Otherwise its caller had disconnected. */
  isLost: Schema.Boolean
}) {
  override get message() {
    return `The response of this call is no longer stored: ${this.isLost ? "a failover of the database lost it" : "its caller disconnected before it ended"}. Outcome: ${this.outcome}. Cost: ${formatAmount(this.costMicrocents)}. See receipt ${this.receiptId}. Use a new idempotency key for a new call.`
  }
}

/** The first header of the stored response, never sent: expiry, receipt, outcome and cost. */
const MARK = "left"

/** Instead of the time until which the result is kept: the database lost it. */
export const LOST = -1

/** `keptUntilMs` 0: the body is not stored. */
export const retainedResult = (rendered: KeptResult, receipt: Receipt, keptUntilMs: number): KeptResult => {
  const mark = [keptUntilMs, receipt.receipt_id, receipt.status, receipt.cost_microcents].join(" ")
  return keptUntilMs <= 0
    ? { status: rendered.status, headers: { [MARK]: mark }, body: "" }
    : { ...rendered, headers: { [MARK]: mark, ...rendered.headers } }
}

/** Whether the caller of the call had disconnected. */
export const isRetained = ({ headers }: KeptResult): boolean => headers[MARK] !== undefined

/** What a replay returns for a stored response. */
export const replayedResult = (answer: KeptResult, nowMs: number): Effect.Effect<KeptResult, ResultNotRetained> => {
  const { [MARK]: mark, ...headers } = answer.headers
  if (mark === undefined) return Effect.succeed(answer)
  const [untilMs, receiptId, outcome, cost] = mark.split(" ")
  return nowMs < Number(untilMs)
    ? Effect.succeed({ ...answer, headers })
    : Effect.fail(
        new ResultNotRetained({
          receiptId: ReceiptId.make(receiptId!),
          outcome: outcome as ReceiptStatus,
          costMicrocents: Microcents.make(BigInt(cost!)),
          isLost: Number(untilMs) === LOST
        })
      )
}

/** The outcome of a request whose call ran before: its response, as long as it is stored. */
export const replayed = ({ answer }: { readonly answer: KeptResult }) =>
  Effect.flatMap(DateTime.now, (now) =>
    Effect.map(replayedResult(answer, now.epochMilliseconds), (kept) => ({ _tag: "Replayed" as const, answer: kept }))
  )

/** Bytes are counted per time slice, so that an account costs a few numbers, regardless of its number of responses. */
const SLICES = 10
const SLICE_MS = RETAINED_RESULT_MS_MAX / SLICES

interface Account {
  readonly bytes: Array<number>
  lastSlice: number
}

/** Decides for each response whether its bytes fit in the account's quota. */
export const makeRetainedResultQuota = (clock: Clock.Clock) => {
  const accounts = new Map<ConsumerId, Account>()
  let prunedSlice = 0

  const forgetOld = (slice: number): void => {
    if (slice === prunedSlice) return
    prunedSlice = slice
    for (const [id, { lastSlice }] of accounts) if (slice - lastSlice > SLICES) accounts.delete(id)
  }

  return (consumerId: ConsumerId, bytes: number): boolean => {
    const slice = Math.floor(monotonicMs(clock) / SLICE_MS)
    forgetOld(slice)
    let account = accounts.get(consumerId)
    if (account === undefined) {
      account = { bytes: Array.from({ length: SLICES + 1 }, () => 0), lastSlice: slice }
      accounts.set(consumerId, account)
    }
    for (let each = Math.max(account.lastSlice + 1, slice - SLICES); each <= slice; each++) {
      account.bytes[each % account.bytes.length] = 0
    }
    account.lastSlice = slice
    const kept = account.bytes.reduce((sum, one) => sum + one, 0)
    if (kept + bytes > RETAINED_RESULT_BYTES_MAX) return false
    account.bytes[slice % account.bytes.length]! += bytes
    return true
  }
}
