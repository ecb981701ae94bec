/**
 * The port under every billed call, in two durable steps. `open` reserves the price against wallet, budgets and free
 * tier together with the idempotency record; `close` posts or gives back the reservation and writes transfers, receipt
 * and usage, in one transaction. Adapters gather concurrent calls into one statement: one consumer's shortage never
 * fails another's call, and each call is closed exactly once, by its caller or by the sweeper.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { Receipt } from "../receipts/Receipt.ts"
import type { ConsumerId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { CallCause } from "./CallCause.ts"

export interface OpenCall {
  readonly invocationId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly toolId: ToolId
  readonly toolName: string
  readonly priceVersion: number
  /** The most that this call may cost. Zero for a free tool. */
  readonly holdAmount: Microcents
  /** Calls per consumer, tool and calendar month that cost nothing; 0 where there are none. */
  readonly freeTierCalls: number
  readonly origin: "proxy" | "meter"
  readonly openedAt: DateTime.Utc
  /** From then on the sweeper may void it. */
  readonly deadlineAt: DateTime.Utc
  readonly idempotency: CallIdempotency | undefined
}

export interface CallIdempotency {
  /** SHA-256 of scope and key, hex. */
  readonly keyHash: string
  /** SHA-256 of the request that the key stands for, hex. */
  readonly requestHash: string
}

/** The result of a call as the adapter rendered it, kept under an Idempotency-Key: a replay gets it byte for byte. */
export interface KeptResult {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Opened =
  | {
      readonly _tag: "Opened"
      readonly held: Microcents
      /** This call is inside the free tier: nothing is held. */
      readonly free: boolean
      /** Free calls left this month after this one; undefined where the tool has no free tier. */
      readonly freeCallsLeft: number | undefined
      readonly availableMicrocents: bigint
    }
  | { readonly _tag: "InsufficientFunds"; readonly availableMicrocents: bigint; readonly neededMicrocents: bigint }
  | {
      readonly _tag: "BudgetExceeded"
      readonly budgetId: string
      readonly capMicrocents: bigint
      readonly leftMicrocents: bigint
      readonly resetsAt: string | undefined
    }
  /** Nothing is held while the account is frozen, whatever the call costs. */
  | { readonly _tag: "AccountFrozen" }
  | { readonly _tag: "Replay"; readonly answer: KeptResult }
  | { readonly _tag: "IdempotencyConflict" }
  | { readonly _tag: "InFlight"; readonly invocationId: ReceiptId }

/** What a key stands for already. */
export type Earlier = Extract<Opened, { readonly _tag: "Replay" | "IdempotencyConflict" | "InFlight" }>

export interface CloseCall {
  readonly consumerId: ConsumerId
  /** Signed. Its cost is what is billed: at most what was held. */
  readonly receipt: Receipt
  /** Only beside a receipt that says `error`. */
  readonly cause?: CallCause | undefined
  readonly fee: Microcents
  /** What the opening said was held, where it is known: the store knows it, too, and is quicker where both agree. */
  readonly held?: Microcents | undefined
  readonly priceVersion: number
  readonly origin: "proxy" | "meter"
  readonly requestBytes: number
  readonly responseBytes: number
  readonly tokensInput: number
  readonly tokensOutput: number
  /** Whether the opening found the call inside the free tier: for figures only, the store decides what is charged. */
  readonly free?: boolean | undefined
  /** Of a call inside the free tier: whether it uses up a free call. A success does, unless this says otherwise. */
  readonly usesFreeCall?: boolean | undefined
  /**
   * What a replay gets, where the call came with a key. Undefined sets the key of a call that cost nothing free again:
   * the next request with it is a new call. The key of a call that cost something is never free again.
   */
  readonly answer: KeptResult | undefined
}

/** For the figures: whether the proxy made the call and the free tier covered it. */
export const isFreeProxiedCall = ({ free, origin, receipt, usesFreeCall }: CloseCall): boolean =>
  origin === "proxy" && free === true && (usesFreeCall ?? receipt.status === "success")

export type Closed =
  /** `now`: by this closing, and not by another one with the same receipt before it. */
  | { readonly _tag: "Closed"; readonly now: boolean; readonly availableMicrocents: bigint }
  /** The sweeper came first, or somebody closed it before: nothing was changed now. */
  | { readonly _tag: "AlreadyClosed" }

export interface Standing {
  readonly availableMicrocents: bigint
  /** Of this tool in the calendar month (UTC) of `now`. */
  readonly freeCallsUsed: number
}

export interface FreeCalls {
  readonly toolId: ToolId
  readonly used: number
}

export type CallFate =
  | { readonly _tag: "Open" }
  | { readonly _tag: "Closed"; readonly cost: Microcents }
  /** Never opened, or not yet. */
  | { readonly _tag: "Unknown" }

/** A call whose process died, or whose answer came after the deadline. */
export interface OverdueCall {
  readonly invocationId: ReceiptId
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly toolId: ToolId
  readonly toolName: string
  readonly priceVersion: number
  readonly origin: "proxy" | "meter"
  readonly openedAt: DateTime.Utc
}

/**
 * Opening and closing are transactions of their own: they do not join a unit of work. Who is interrupted while waiting
 * for one may find it done all the same; opening a call that the store could not answer for leaves it to the sweeper.
 */
export class CallStore extends Context.Service<
  CallStore,
  {
    /** What is refused changes nothing. */
    open(call: OpenCall): Effect.Effect<Opened>
    /**
     * Once per call. The same receipt again is answered as the first time. Dies if the call was never opened, or if the
     * cost is more than was held; nothing is changed then.
     */
    close(call: CloseCall): Effect.Effect<Closed>
    /** What `open` answers to this key, whatever the call costs; undefined where the key is free. Changes nothing. */
    earlier(consumerId: ConsumerId, idempotency: CallIdempotency): Effect.Effect<Earlier | undefined>
    /** Where a consumer stands, without holding anything: for quotes. */
    standing(consumerId: ConsumerId, toolId: ToolId, now: DateTime.Utc): Effect.Effect<Standing>
    /** Tools that a consumer called free of charge in the calendar month of `now`, the most used first, at most `limit`. */
    freeCallsByTool(consumerId: ConsumerId, now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<FreeCalls>>
    /** What has become of a call, in one look. */
    fate(consumerId: ConsumerId, invocationId: ReceiptId): Effect.Effect<CallFate>
    /** At most `limit`, oldest deadline first. */
    overdue(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<OverdueCall>>
    /** Takes away at most `limit` stored answers from before, and their keys with them; says how many. */
    forget(before: DateTime.Utc, limit: number): Effect.Effect<number>
    /** Takes the bodies of at most `limit` answers from before whose callers had left; their keys stay bound. */
    forgetLeft(before: DateTime.Utc, limit: number): Effect.Effect<number>
  }
>()("agent-tool-billing/domain/metering/CallStore") {}
