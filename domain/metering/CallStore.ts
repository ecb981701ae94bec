/**
 * The port under every billed call, in two durable steps. `open` reserves the price against wallet, budgets and free tier
 * and stores the idempotency record. `close` settles or releases the hold and writes transfers, receipt and usage. Each step
 * is one transaction. Adapters combine concurrent calls into one statement: one consumer's insufficient balance never fails
 * another consumer's call, and each call is closed exactly once, by its caller or by the sweeper.
 */
import { type Clock, Context, DateTime, Effect, Schema } from "effect"
import type { BudgetPeriod } from "../ledger/Budgets.ts"
import { type CallCause, type Receipt, ReceiptStatus } from "../receipts/Receipts.ts"
import { type ConsumerId, type LevelId, type ProviderId, ReceiptId, type ToolId } from "../shared/Ids.ts"
import { formatAmount, Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { monotonicMs } from "../shared/Time.ts"

// A call between two legs. A leg is one request to the provider; a leg may end with questions to the caller instead of a
// result. The call then stays open with its hold, and the request that brings the answers resumes it, once per leg.

/** The first leg opens the call. */
export const LEGS_MAX = 5
/** From the opening of a call until the answers for its last leg. */
export const SUSPENDED_MS_MAX = 10 * 60_000
/** Per account: each has a hold and a row. */
export const SUSPENDED_CALLS_MAX = 32

/** The provider asked for input: the call stays open with its hold until the caller answers or the deadline passes. */
export interface SuspendCall {
  readonly consumerId: ConsumerId
  readonly invocationId: ReceiptId
  /** The leg that ended, from 1. */
  readonly leg: number
  /** After this the sweeper may void the call. */
  readonly deadlineAt: DateTime.Utc
  /**
   * Suspended calls that the consumer may have, including this one: half of them at one provider, which cannot keep the
   * consumer from the tools of others.
   */
  readonly max: number
}

/** `gone`: the call is not open. A call that is not suspended now is unchanged. */
export type Suspended = "suspended" | "too_many" | "gone"

/** The caller answered: the call goes on with its hold. Only one request resumes a leg. */
export interface ResumeCall {
  readonly consumerId: ConsumerId
  readonly invocationId: ReceiptId
  /** The leg after which the call was suspended. */
  readonly leg: number
  readonly deadlineAt: DateTime.Utc
}

/** A call that is about to be made. The store reserves its maximum cost, or rejects it. */
export interface OpenCall {
  readonly invocationId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly toolId: ToolId
  readonly toolName: string
  readonly priceVersion: number
  /** The maximum cost of this call. Zero for a free tool. */
  readonly holdAmount: Microcents
  /** The platform fee in effect now: recorded on the call. */
  readonly feeBasisPoints: number
  /** Free calls per consumer, tool and calendar month; 0 where the tool has no free tier. */
  readonly freeTierCalls: number
  readonly origin: "proxy" | "meter"
  readonly openedAt: DateTime.Utc
  /** After this time the sweeper may void the call. */
  readonly deadlineAt: DateTime.Utc
  readonly idempotency: CallIdempotency | undefined
  /** Those of the caller's key or run, from the top. The call must fit into the budgets of each. Default: none. */
  readonly levels?: ReadonlyArray<LevelId> | undefined
}

/** A caller's idempotency key and the request that it stands for, both as hashes. */
export interface CallIdempotency {
  /** SHA-256 of scope and key, hex. */
  readonly keyHash: string
  /** SHA-256 of the request that the key was sent with, hex. */
  readonly requestHash: string
}

/** The result of a call as the adapter rendered it, stored under an Idempotency-Key: a replay returns it byte for byte. */
export interface KeptResult {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Only with `Opened` may the provider be called. */
export type Opened =
  | {
      readonly _tag: "Opened"
      readonly held: Microcents
      /** This call is inside the free tier: nothing is reserved. */
      readonly free: boolean
      /** Free calls left this month after this one; undefined where the tool has no free tier. */
      readonly freeCallsLeft: number | undefined
      readonly availableMicrocents: bigint
    }
  | { readonly _tag: "InsufficientFunds"; readonly availableMicrocents: bigint; readonly neededMicrocents: bigint }
  | {
      readonly _tag: "BudgetExceeded"
      readonly budgetId: string
      /** Undefined: the budget is the account's. */
      readonly levelId: LevelId | undefined
      readonly period: BudgetPeriod
      readonly capMicrocents: bigint
      readonly spentMicrocents: bigint
      readonly heldMicrocents: bigint
      readonly leftMicrocents: bigint
      readonly resetsAt: string | undefined
    }
  /** A frozen account cannot open any call, not even a free one. */
  | { readonly _tag: "AccountFrozen" }
  | { readonly _tag: "Replay"; readonly answer: KeptResult }
  | { readonly _tag: "IdempotencyConflict" }
  | { readonly _tag: "InFlight"; readonly invocationId: ReceiptId }

/** A resumed call, with what its opening reserved. A frozen account cannot resume any call. */
export type Resumed = Extract<Opened, { readonly _tag: "Opened" | "AccountFrozen" }>

/** The earlier call with the same key. */
export type Earlier = Extract<Opened, { readonly _tag: "Replay" | "IdempotencyConflict" | "InFlight" }>

/** The store books the cost and the fee of the call, releases the rest of the hold and queues the receipt. */
export interface CloseCall {
  readonly consumerId: ConsumerId
  /** Signed. Its cost is what is billed: at most the amount reserved. */
  readonly receipt: Receipt
  /** Only with a receipt whose status is `error`. */
  readonly cause?: CallCause | undefined
  /** As recorded by `open`. The fee of the cost follows from it. */
  readonly feeBasisPoints: number
  /** The amount reserved by `open`, where it is known. The store knows it too, and is faster where both agree. */
  readonly held?: Microcents | undefined
  readonly priceVersion: number
  readonly origin: "proxy" | "meter"
  readonly requestBytes?: number | undefined
  readonly responseBytes?: number | undefined
  readonly tokensInput?: number | undefined
  readonly tokensOutput?: number | undefined
  /** Of the request that ended the call; undefined where the sweeper did. */
  readonly requestId?: string | undefined
  /** How long the hold took, in whole milliseconds; undefined for a report, and where the sweeper ended the call. */
  readonly holdMs?: number | undefined
  /** Whether `open` found the call inside the free tier. For metrics only: the store decides what is charged. */
  readonly free?: boolean | undefined
  /** Of its idempotency key, where it has one: recorded if the store loses the call. */
  readonly keyHash?: string | undefined
  /** For a call inside the free tier: whether it uses up a free call. By default only a success does. */
  readonly usesFreeCall?: boolean | undefined
  /**
   * What a replay returns, where the call has an idempotency key. Undefined releases the key of a call that cost nothing:
   * the next request with it is a new call. The key of a call with a cost is never released.
   */
  readonly answer: KeptResult | undefined
}

/** For metrics: whether the proxy made the call and the free tier covered it. */
export const isFreeProxiedCall = ({ free, origin, receipt, usesFreeCall }: CloseCall): boolean =>
  origin === "proxy" && free === true && (usesFreeCall ?? receipt.status === "success")

/** A call is closed once: `false` if another request closed it. */
export type Closed =
  /** `now`: closed by this request, not by an earlier one with the same receipt. */
  | { readonly _tag: "Closed"; readonly now: boolean; readonly availableMicrocents: bigint }
  /** The sweeper or another request closed the call before: nothing was changed. */
  | { readonly _tag: "AlreadyClosed" }

/** The consumer's balance and free calls after a call was opened or read. */
export interface CallFunds {
  readonly availableMicrocents: bigint
  /** Of this tool in the calendar month (UTC) of `now`. */
  readonly freeCallsUsed: number
}

/** How many calls of a tool's free tier a consumer has used this month. */
export interface FreeCalls {
  readonly toolId: ToolId
  readonly used: number
}

/** Tells a caller that lost the response of `close` how the call stands. */
export type StoredOutcome =
  | { readonly _tag: "Open" }
  | { readonly _tag: "Closed"; readonly cost: Microcents }
  /** Never opened, or not opened yet. */
  | { readonly _tag: "Unknown" }

/** A call whose process died, or whose response came after the deadline. */
export interface OverdueCall {
  readonly invocationId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly toolId: ToolId
  readonly toolName: string
  readonly priceVersion: number
  readonly feeBasisPoints: number
  readonly origin: "proxy" | "meter"
  readonly openedAt: DateTime.Utc
}

/**
 * `open` and `close` are separate transactions: they do not join a unit of work. An interrupted caller may find that the
 * transaction was committed. If the store fails to confirm an `open`, the sweeper ends the call.
 */
export class CallStore extends Context.Service<
  CallStore,
  {
    /** A rejected call changes nothing. */
    open(call: OpenCall): Effect.Effect<Opened, StoreUnavailable>
    /**
     * Once per call. The same receipt again gets the first result. Dies if the call was never opened, if the cost is more
     * than the amount reserved, or if the fee is not the recorded one; nothing is changed then.
     */
    close(call: CloseCall): Effect.Effect<Closed, StoreUnavailable>
    /** The call waits for its caller. Its hold, and its idempotency key, stay as they are. */
    suspend(call: SuspendCall): Effect.Effect<Suspended, StoreUnavailable>
    /** Whether one more call of the consumer at this provider could be suspended now, of `max` as in `suspend`. */
    mayWait(consumerId: ConsumerId, providerId: ProviderId, max: number): Effect.Effect<boolean, StoreUnavailable>
    /** Exactly one of several concurrent requests for a leg gets the call. The others get undefined, as for a call that has ended. */
    resume(call: ResumeCall): Effect.Effect<Resumed | undefined, StoreUnavailable>
    /** Moves the deadline of an open call, never to an earlier time; returns whether the call is open. */
    extend(
      consumerId: ConsumerId,
      invocationId: ReceiptId,
      deadlineAt: DateTime.Utc
    ): Effect.Effect<boolean, StoreUnavailable>
    /** What `open` returns for this key, whatever the call costs; undefined where the key is unused. Changes nothing. */
    earlier(consumerId: ConsumerId, idempotency: CallIdempotency): Effect.Effect<Earlier | undefined, StoreUnavailable>
    /** A consumer's balance and free calls, without a hold: for quotes. */
    callFunds(consumerId: ConsumerId, toolId: ToolId, now: DateTime.Utc): Effect.Effect<CallFunds, StoreUnavailable>
    /** Tools that a consumer called free of charge in the calendar month of `now`, most used first, at most `limit`. */
    freeCallsByTool(
      consumerId: ConsumerId,
      now: DateTime.Utc,
      limit: number
    ): Effect.Effect<ReadonlyArray<FreeCalls>, StoreUnavailable>
    /** The outcome of a call, in one read. */
    outcome(consumerId: ConsumerId, invocationId: ReceiptId): Effect.Effect<StoredOutcome, StoreUnavailable>
    /** At most `limit`, oldest deadline first. */
    overdue(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<OverdueCall>, StoreUnavailable>
    /** Deletes at most `limit` responses stored before this time, with their keys; returns how many. */
    forget(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
    /**
     * Deletes the bodies of at most `limit` responses stored before this time whose callers had disconnected. Their keys
     * stay bound.
     */
    pruneRetained(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/CallStore") {}

// The response of a call with an Idempotency-Key whose caller disconnected: stored for a short time and up to a number of
// bytes per account. After that the key stays bound to the receipt, and a replay returns the outcome of the call.

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

export const isRetained = ({ headers }: KeptResult): boolean => headers[MARK] !== undefined

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
