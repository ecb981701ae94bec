/**
 * The steps of a plan, as plain data. Members are numbers modulo the current count, so any steps can be removed from a plan.
 */
import type { Move } from "../adversaries/Move.ts"
import type { ToolTerms } from "../books/ToolTerms.ts"

export interface Step {
  readonly act: Act
  /** Goes wrong at a port while the act is in progress, unless fewer things are asked of ports. */
  readonly fault?: Fault
  /** How much later the next step begins. What is not done by then goes on beside it. */
  readonly thenMs: number
}

export type Act =
  | { readonly _tag: "Consumer" }
  | { readonly _tag: "Provider"; readonly tools: ReadonlyArray<ToolTerms> }
  | { readonly _tag: "Price"; readonly tool: number; readonly price: number }
  /** Null: the default one. */
  | { readonly _tag: "Fee"; readonly provider: number; readonly basisPoints: number | null }
  /** By the operator. `lifts`: one of its freezes ends, of the consumers that are frozen. */
  | { readonly _tag: "Freeze"; readonly who: number; readonly lifts: boolean }
  | { readonly _tag: "Budget"; readonly who: number; readonly cap: number; readonly period: Period }
  | { readonly _tag: "Load"; readonly who: number; readonly cents: number; readonly keyed: boolean }
  | { readonly _tag: "Checkout"; readonly which: number; readonly fate: "paid" | "failed" | "expired" }
  | {
      readonly _tag: "TakeBack"
      readonly which: number
      readonly cause: "refund" | "dispute"
      readonly percent: number
    }
  | { readonly _tag: "BringBack"; readonly which: number }
  /** Of the processor's news that have not been acknowledged. */
  | { readonly _tag: "Webhook"; readonly which: number; readonly copies: number; readonly answerLost: boolean }
  | Call
  | { readonly _tag: "Repeat"; readonly which: number }
  | { readonly _tag: "Again"; readonly which: number; readonly changed: boolean }
  | {
      readonly _tag: "Meter"
      readonly who: number
      readonly tool: number
      readonly keyed: boolean
      readonly ok: boolean
    }
  | {
      readonly _tag: "Grant"
      readonly who: number
      readonly provider: number
      readonly cap: number
      readonly period: Period
    }
  | { readonly _tag: "Revoke"; readonly which: number }
  | { readonly _tag: "Bill"; readonly who: number; readonly tool: number; readonly percent: number }
  | { readonly _tag: "File"; readonly which: number; readonly byProvider: boolean }
  | { readonly _tag: "Respond"; readonly which: number; readonly action: "accept" | "contest" }
  | { readonly _tag: "Resolve"; readonly which: number; readonly resolution: Resolution; readonly percent: number }
  | { readonly _tag: "Connect"; readonly provider: number; readonly automatic: boolean }
  | { readonly _tag: "Payout"; readonly provider: number; readonly keyed: boolean }
  | { readonly _tag: "TransferBack"; readonly which: number; readonly percent: number }
  | { readonly _tag: "Correct"; readonly which: number; readonly percent: number }
  /** What becomes of the next questions of a kind to the processor: as when the service's key is taken away for a while. */
  | { readonly _tag: "Mood"; readonly about: Business; readonly moods: ReadonlyArray<Mood> }
  /** The processor does not pay a provider any more, or does so again. */
  | { readonly _tag: "Restrict"; readonly provider: number; readonly restricted: boolean }
  | { readonly _tag: "RotateKey"; readonly who: number; readonly graceHours: number }
  | { readonly _tag: "Prove"; readonly which: number }
  | { readonly _tag: "Job"; readonly job: Job }
  | { readonly _tag: "Crash" }
  /** The node's clock is put right, or wrong, by so much against the world's. */
  | { readonly _tag: "Skew"; readonly ms: number }
  | { readonly _tag: "MonthEnd" }
  /** Of an adversary. */
  | Move

export type ActOf<Tag extends Act["_tag"]> = Extract<Act, { readonly _tag: Tag }>

export interface Call {
  readonly _tag: "Call"
  readonly who: number
  readonly tool: number
  readonly keyed: boolean
  /** At once. */
  readonly times: number
  readonly provider: Behavior
  readonly goesAwayAfterMs?: number
  /** What the caller agrees to pay at most, in percent of the tool's maximum; the list price without one. */
  readonly cap?: number
}

export interface Behavior {
  readonly outcome: "success" | "tool_error" | "unreachable" | "rate_limited"
  readonly latencyMs: number
  /** What the provider says that the call cost, in percent of the tool's maximum. */
  readonly reports?: number
}

export type Business = "checkouts" | "accounts" | "transfers" | "refunds"
/** `lost`: it is done, and the answer does not come. */
export type Mood = "refused" | "lost"

export type Period = "day" | "month" | "total"

export type Resolution = "resolved_refund" | "resolved_denied" | "resolved_credit"

export type Job =
  | "sequence"
  | "sweep"
  | "payouts"
  | "disputes"
  | "claims"
  | "reconcile"
  | "invoices"
  | "automatic"
  | "prune"
  | "standings"
  | "prices"
  | "withdrawals"
  | "fees"
  | "freezes"

/**
 * A unit of work over several servers was prepared on all of them when the one that commits crashed. Its caller learns nothing.
 * What it has written stays locked until the recovery keeps it, or undoes it, depending on what was recorded before the crash.
 */
export type Doubt = "doubt_kept" | "doubt_undone"

export interface Fault {
  readonly kind: "error_before" | "error_after" | "late_before" | "late_after" | "crash_before" | "crash_after" | Doubt
  /** At which of the questions to ports, from the act's beginning on; of a doubt, at which of the units of work. */
  readonly at: number
  readonly ms: number
}
