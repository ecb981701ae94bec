/**
 * Reasons to reject a call. A rejected call has changed nothing.
 */
import { Effect, Schema } from "effect"
import { qualifiedName } from "../accounts/Handle.ts"
import { boundOf, type Level } from "../accounts/Levels.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import type { SchemaBudgetSpent } from "../catalog/JsonSchemas.ts"
import { BudgetPeriod } from "../ledger/Budgets.ts"
import { SignerUnavailable } from "../receipts/Receipts.ts"
import { type ConsumerId, LevelId } from "../shared/Ids.ts"
import { formatAmount, type Microcents, zero } from "../shared/Microcents.ts"
import { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { inSeconds } from "../shared/Time.ts"
import type { CallIdempotency, CallStore, KeptResult, Opened, ResultNotRetained } from "./CallStore.ts"
import type { TooManyCallsInFlight } from "./CallsInFlight.ts"
import type { ToolUnresolved } from "./ToolDirectory.ts"

/** The tool costs more than the caller's cap, such as after a price change. Nothing was called or charged. */
export class PriceChanged extends Schema.TaggedError<PriceChanged>()("PriceChanged", {
  priceMicrocents: Schema.BigInt,
  maxCostMicrocents: Schema.BigInt,
  priceVersion: Schema.Int
}) {
  override get message() {
    return `The price is above your cap: this call costs ${formatAmount(this.priceMicrocents)} and your cap is ${formatAmount(this.maxCostMicrocents)}. Nothing was charged.`
  }
}

/** The caller sent the price version of its quote, and another one is in effect. */
export class PriceVersionChanged extends Schema.TaggedError<PriceVersionChanged>()("PriceVersionChanged", {
  named: Schema.Int,
  priceVersion: Schema.Int,
  priceMicrocents: Schema.BigInt,
  maxCostMicrocents: Schema.BigInt
}) {
  override get message() {
    return (
      `The price has changed: you sent price version ${this.named}, and version ${this.priceVersion} is in effect. ` +
      "Nothing was charged."
    )
  }
}

/** A usage-priced tool is not called without the caller's cap, because the cost is known only afterwards. */
export class CapRequired extends Schema.TaggedError<CapRequired>()("CapRequired", {
  /** Qualified. */
  toolName: Schema.String,
  maxCostMicrocents: Schema.BigInt,
  priceMicrocents: Schema.BigInt
}) {
  override get message() {
    return (
      `This tool is usage-priced: one call costs up to ${formatAmount(this.maxCostMicrocents)}, and no cap is set. ` +
      "Nothing was charged."
    )
  }
}

/** The arguments do not match the tool's input schema. The provider was not called. */
export class InvalidArguments extends Schema.TaggedError<InvalidArguments>()("InvalidArguments", {
  violations: Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String }))
}) {
  override get message() {
    return "The input does not match the tool's input schema. Nothing was charged."
  }
}

/** The available balance does not cover the most that the call can cost. Nothing was called or charged. */
export class InsufficientFunds extends Schema.TaggedError<InsufficientFunds>()("InsufficientFunds", {
  costMicrocents: Schema.BigInt,
  balanceMicrocents: Schema.BigInt,
  /** The user was asked to add funds, and declined. */
  declined: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    const why = this.declined === true ? "The user declined to add funds" : "Insufficient balance"
    const available = this.balanceMicrocents < 0n ? 0n : this.balanceMicrocents
    return `${why}: this call costs ${formatAmount(this.costMicrocents)} and ${formatAmount(available)} is available.`
  }
}

/** The call could cost more than one of the consumer's budgets has left. Nothing was called or charged. */
export class BudgetExceeded extends Schema.TaggedError<BudgetExceeded>()("BudgetExceeded", {
  budgetId: Schema.String,
  level: Schema.Literals(["account", "team", "key", "run"]),
  levelId: Schema.UndefinedOr(LevelId),
  label: Schema.String,
  period: BudgetPeriod,
  capMicrocents: Schema.BigInt,
  spentMicrocents: Schema.BigInt,
  heldMicrocents: Schema.BigInt,
  leftMicrocents: Schema.BigInt,
  resetsAt: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    const reset = this.resetsAt === undefined ? "" : ` It resets at ${this.resetsAt}.`
    const budget =
      this.level === "account"
        ? `Budget ${this.budgetId}`
        : `The limit of the ${this.level} ${this.label === "" ? this.levelId : JSON.stringify(this.label)}`
    return `${budget} does not cover this call: ${formatAmount(this.leftMicrocents)} of ${formatAmount(this.capMicrocents)} is left.${reset}`
  }
}

/** The caller's key or run, or a level above it, does not permit the call. Nothing was called or charged. */
export class CallNotAllowed extends Schema.TaggedError<CallNotAllowed>()("CallNotAllowed", {
  levelId: LevelId,
  kind: Schema.Literals(["team", "key", "run"]),
  label: Schema.String,
  bound: Schema.Literals(["tool", "provider", "category", "price"]),
  toolName: Schema.String,
  costMicrocents: Schema.BigInt,
  maxPriceMicrocents: Schema.UndefinedOr(Schema.BigInt)
}) {
  override get message() {
    const level = `${this.kind} ${this.label === "" ? this.levelId : JSON.stringify(this.label)}`
    return this.maxPriceMicrocents === undefined || this.bound !== "price"
      ? `The ${level} does not permit ${this.toolName}: its ${this.bound} is not among the allowed ones. Nothing was charged.`
      : `The ${level} permits calls of at most ${formatAmount(this.maxPriceMicrocents)}, and this one costs up to ${formatAmount(this.costMicrocents)}. Nothing was charged.`
  }
}

/** The account is frozen: after a chargeback, or by the operator. Nothing was called, charged or paid. */
export class AccountFrozen extends Schema.TaggedError<AccountFrozen>()("AccountFrozen", {}) {
  override get message() {
    return (
      "This account is frozen: a payment of it is disputed at the bank or was charged back, or the operator froze it. " +
      "It can neither spend nor be paid out. Your account shows why."
    )
  }
}

/** An idempotency key stands for one call; this is another one with the same key. */
export class CallConflict extends Schema.TaggedError<CallConflict>()("CallConflict", {}) {
  override get message() {
    return "This idempotency key was used with another call. Use a new key for a new call."
  }
}

/** A call with this idempotency key has not ended yet, and the wait for it has. */
export class CallInFlight extends Schema.TaggedError<CallInFlight>()("CallInFlight", {
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `The call with this idempotency key is still in flight. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}

/** As many calls of the account wait for input or run as tasks as may. The call wants a task, and was not forwarded. */
export class TooManyCallsWaiting extends Schema.TaggedError<TooManyCallsWaiting>()("TooManyCallsWaiting", {
  max: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `This call was not run as a task: ${this.max} calls of this account, or ${this.max / 2} at this provider, already run as tasks or wait for input, the maximum. Nothing was charged. Wait for one of them to end, or call the tool without a task.`
  }
}

/** Why a call was not made. The provider was not called, and nothing was charged. */
export type CallRejected =
  | ToolUnresolved
  | PriceChanged
  | PriceVersionChanged
  | CapRequired
  | InvalidArguments
  | SchemaBudgetSpent
  | InsufficientFunds
  | BudgetExceeded
  | CallNotAllowed
  | AccountFrozen
  | CallConflict
  | CallInFlight
  | TooManyCallsInFlight
  | TooManyCallsWaiting
  | ResultNotRetained

const IN_FLIGHT_RETRY_SECONDS = 1

export const requirePermitted = (
  levels: ReadonlyArray<Level>,
  { provider, tool }: CatalogEntry,
  cost: Microcents
): Effect.Effect<void, CallNotAllowed> => {
  const toolName = qualifiedName(provider.handle, tool.toolName)
  const { category, id: toolId } = tool
  const found = boundOf(levels, {
    toolId,
    qualifiedName: toolName,
    providerId: provider.id,
    handle: provider.handle,
    category,
    cost
  })
  if (found === undefined) return Effect.void
  const { bound, level } = found
  const { id: levelId, kind, label, maxPrice: maxPriceMicrocents } = level
  return new CallNotAllowed({ levelId, kind, label, bound, toolName, costMicrocents: cost, maxPriceMicrocents })
}

export const rejectionOf = (
  opened: Exclude<Opened, { _tag: "Opened" }>,
  holdAmount: Microcents,
  levels: ReadonlyArray<Level> = []
): Effect.Effect<
  { readonly _tag: "Replayed"; readonly answer: KeptResult },
  InsufficientFunds | BudgetExceeded | AccountFrozen | CallConflict | CallInFlight
> => {
  switch (opened._tag) {
    case "Replay":
      return Effect.succeed({ _tag: "Replayed", answer: opened.answer })
    case "InsufficientFunds":
      return Effect.fail(
        new InsufficientFunds({ costMicrocents: holdAmount, balanceMicrocents: opened.availableMicrocents })
      )
    case "BudgetExceeded": {
      const level = levels.find(({ id }) => id === opened.levelId)
      return Effect.fail(
        new BudgetExceeded({
          budgetId: opened.budgetId,
          level: level?.kind ?? "account",
          levelId: opened.levelId,
          label: level?.label ?? "",
          period: opened.period,
          capMicrocents: opened.capMicrocents,
          spentMicrocents: opened.spentMicrocents,
          heldMicrocents: opened.heldMicrocents,
          leftMicrocents: opened.leftMicrocents,
          resetsAt: opened.resetsAt
        })
      )
    }
    case "AccountFrozen":
      return Effect.fail(new AccountFrozen())
    case "IdempotencyConflict":
      return Effect.fail(new CallConflict())
    case "InFlight":
      return Effect.fail(new CallInFlight({ retryAfterSeconds: IN_FLIGHT_RETRY_SECONDS }))
  }
}

/**
 * A replay gets the first response, even if the call would be rejected now. An unavailable store or signer has rejected
 * nothing: what is known of the key may be this very call.
 */
export const replayOrFail =
  (calls: CallStore["Service"], consumerId: ConsumerId, idempotency: CallIdempotency) =>
  <E>(rejection: E): Effect.Effect<Replayed, E | KeyRejection | StoreUnavailable> =>
    rejection instanceof StoreUnavailable || rejection instanceof SignerUnavailable
      ? Effect.fail(rejection)
      : Effect.flatMap(calls.earlier(consumerId, idempotency), (earlier): Effect.Effect<Replayed, E | KeyRejection> =>
          earlier === undefined ? Effect.fail(rejection) : rejectionOf(earlier, zero)
        )

type Replayed = Effect.Success<ReturnType<typeof rejectionOf>>
type KeyRejection = Effect.Error<ReturnType<typeof rejectionOf>>
