/**
 * The rule of the call: what opening and closing decide, on plain data. The memory store executes it; the functions
 * `calls_open` and `calls_close` of the database state the same rule in SQL, and the tests compare the two.
 */
import { DateTime } from "effect"
import { type Counted, inPeriodOf, resetsAt, startOfPeriod } from "../ledger/Budgets.ts"
import { feeOf } from "../ledger/PlatformFee.ts"
import type { LevelId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import type {
  CloseCall,
  Earlier,
  KeptResult,
  OpenCall,
  Opened,
  ResumeCall,
  SuspendCall,
  Suspended
} from "./CallStore.ts"

export interface KeyedCall {
  readonly requestHash: string
  readonly invocationId: OpenCall["invocationId"]
  /** Undefined while the call is open, and for a closed call without a stored response. */
  readonly answer: KeptResult | undefined
}

export interface CoveringBudget extends Counted {
  readonly id: string
  readonly levelId: LevelId | undefined
  readonly cap: bigint
}

/** The input of `decideOpening`, read while the wallet is locked. */
export interface OpeningFacts {
  /** The call that already used the idempotency key. */
  readonly keyed: KeyedCall | undefined
  readonly frozen: boolean
  readonly availableMicrocents: bigint
  readonly freeCallsUsed: number
  /** Budgets that apply to the tool and its provider: those of the account, then those of its levels from the top, by id. */
  readonly budgets: ReadonlyArray<CoveringBudget>
}

export type Opening =
  | { readonly _tag: "Open"; readonly answer: Extract<Opened, { readonly _tag: "Opened" }> }
  | { readonly _tag: "Reject"; readonly answer: Exclude<Opened, { readonly _tag: "Opened" }> }

/** Checked in this order: the key, the freeze, the free tier, the balance, each budget. A rejected call changes nothing. */
export const decideOpening = (call: OpenCall, facts: OpeningFacts): Opening => {
  const earlier = earlierOf(facts.keyed, call.idempotency?.requestHash)
  if (earlier !== undefined) return reject(earlier)
  if (facts.frozen) return reject({ _tag: "AccountFrozen" })
  const { availableMicrocents, freeCallsUsed } = facts
  const free = freeCallsUsed < call.freeTierCalls
  const held = free ? zero : call.holdAmount
  if (held > availableMicrocents) {
    return reject({ _tag: "InsufficientFunds", availableMicrocents, neededMicrocents: held })
  }
  const countedAt = countedFrom(facts.budgets, call.openedAt)
  for (const budget of held === zero ? [] : facts.budgets) {
    const { held: heldBefore, spent } = inPeriodOf(budget, countedAt)
    const left = budget.cap - spent - heldBefore
    if (left >= held) continue
    return reject({
      _tag: "BudgetExceeded",
      budgetId: budget.id,
      levelId: budget.levelId,
      period: budget.period,
      capMicrocents: budget.cap,
      spentMicrocents: spent,
      heldMicrocents: heldBefore,
      leftMicrocents: left > 0n ? left : 0n,
      resetsAt: resetsAt(budget.period, call.openedAt)
    })
  }
  const freeCallsLeft = Math.max(0, call.freeTierCalls - freeCallsUsed - (free ? 1 : 0))
  return {
    _tag: "Open",
    answer: {
      _tag: "Opened",
      held,
      free,
      freeCallsLeft: call.freeTierCalls === 0 ? undefined : freeCallsLeft,
      availableMicrocents: availableMicrocents - held
    }
  }
}

/** The result for a request with this key and hash; undefined where the key is unused. */
export const earlierOf = (keyed: KeyedCall | undefined, requestHash: string | undefined): Earlier | undefined => {
  if (keyed === undefined) return undefined
  if (keyed.requestHash !== requestHash) return { _tag: "IdempotencyConflict" }
  const { answer, invocationId } = keyed
  return answer === undefined ? { _tag: "InFlight", invocationId } : { _tag: "Replay", answer }
}

/**
 * When a call counts as opened: where another node's clock is ahead, in the latest period that it has begun. Else a call could
 * count in the new period of one budget and in the earlier one of another.
 */
export const countedFrom = (budgets: ReadonlyArray<Counted>, openedAt: DateTime.Utc): DateTime.Utc => {
  const begun = budgets.filter(({ period }) => period !== "total").map(({ periodStartMs }) => periodStartMs)
  return DateTime.makeUnsafe(Math.max(openedAt.epochMilliseconds, ...begun))
}

/** A budget after the hold of an opened call. */
export const reserveIn = (budget: CoveringBudget, amount: bigint, at: DateTime.Utc): Omit<Counted, "period"> => {
  const { held, spent } = inPeriodOf(budget, at)
  const startMs = startOfPeriod(budget.period, at)?.epochMilliseconds ?? Number.NEGATIVE_INFINITY
  return { held: held + amount, spent, periodStartMs: Math.max(budget.periodStartMs, startMs) }
}

/** The input of `decideClosing`: the open call, else the signature of the consumer's receipt that closed it. */
export interface ClosingFacts {
  readonly open:
    | (Pick<OpenCall, "consumerId" | "feeBasisPoints" | "idempotency"> & {
        readonly held: bigint
        readonly free: boolean
      })
    | undefined
  readonly closedBy: string | undefined
}

export type Closing =
  | {
      readonly _tag: "Close"
      readonly cost: Microcents
      /** Returned to the available balance. */
      readonly released: bigint
      /** The cost minus the fee. */
      readonly earned: bigint
      /** By the fee that was recorded when the call was held. */
      readonly fee: Microcents
      readonly returnsFreeCall: boolean
      /** Whether the key stays bound to the call; else it is released. */
      readonly keepsKey: boolean
    }
  /** `same`: by the same receipt. */
  | { readonly _tag: "ClosedBefore"; readonly same: boolean }
  | { readonly _tag: "Invalid"; readonly reason: string }

export const decideClosing = (call: CloseCall, { closedBy, open }: ClosingFacts): Closing => {
  const { answer, consumerId, feeBasisPoints, receipt, usesFreeCall } = call
  const cost = receipt.cost_microcents
  if (open === undefined) {
    return closedBy === undefined
      ? { _tag: "Invalid", reason: `${receipt.receipt_id} was never opened` }
      : { _tag: "ClosedBefore", same: closedBy === receipt.signature }
  }
  if (open.consumerId !== consumerId || cost > open.held) {
    const reason = `${receipt.receipt_id} is another consumer's, or costs ${cost} of the ${open.held} held`
    return { _tag: "Invalid", reason }
  }
  if (open.feeBasisPoints !== feeBasisPoints) {
    const reason = `${receipt.receipt_id} is closed with ${feeBasisPoints} basis points of the ${open.feeBasisPoints} recorded`
    return { _tag: "Invalid", reason }
  }
  const fee = feeOf(cost, open.feeBasisPoints)
  return {
    _tag: "Close",
    cost,
    released: open.held - cost,
    earned: cost - fee,
    fee,
    returnsFreeCall: open.free && !(usesFreeCall ?? receipt.status === "success"),
    keepsKey: open.idempotency !== undefined && (answer !== undefined || cost > zero)
  }
}

/** The input of `decideSuspension`: of an open call, the leg after which it is suspended; undefined while it runs. */
export interface SuspensionFacts {
  readonly open: { readonly consumerId: OpenCall["consumerId"]; readonly suspendedLeg: number | undefined } | undefined
  /** Suspended calls of the consumer. */
  readonly suspended: number
  readonly ofProvider: number
}

/** Suspended again after the same leg, a call stays suspended: the first request may not have been confirmed. */
export const decideSuspension = (call: SuspendCall, { ofProvider, open, suspended }: SuspensionFacts): Suspended => {
  if (open === undefined || open.consumerId !== call.consumerId) return "gone"
  if (open.suspendedLeg !== undefined) return open.suspendedLeg === call.leg ? "suspended" : "gone"
  return maySuspend(call.max, { ofProvider, suspended }) ? "suspended" : "too_many"
}

export const maySuspend = (max: number, { ofProvider, suspended }: Omit<SuspensionFacts, "open">): boolean =>
  suspended < max && ofProvider < max / 2

/** `no`: it runs, waits after another leg, has ended, or is another consumer's. */
export const decideResumption = (
  call: ResumeCall,
  { frozen, open }: Pick<SuspensionFacts, "open"> & { readonly frozen: boolean }
): "resume" | "frozen" | "no" => {
  if (open === undefined || open.consumerId !== call.consumerId || open.suspendedLeg !== call.leg) return "no"
  return frozen ? "frozen" : "resume"
}

const reject = (answer: Exclude<Opened, { readonly _tag: "Opened" }>): Opening => ({ _tag: "Reject", answer })
