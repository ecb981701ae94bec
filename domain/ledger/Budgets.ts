/**
 * Budgets cap what a consumer spends, or one of its levels: a team, a key, a run. They are enforced when a call is held.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { Entropy } from "../shared/Cryptography.ts"
import { type ConsumerId, type LevelId, type ProviderId, type ToolId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { format } from "../shared/Time.ts"

/** A budget's period starts each hour, day, week (on Monday) or month in UTC, or never. */
export const BudgetPeriod = Schema.Literals(["hour", "day", "week", "month", "total"])
export type BudgetPeriod = typeof BudgetPeriod.Type

/** Undefined for `total`, which has only one period. */
export const startOfPeriod = (period: BudgetPeriod, instant: DateTime.Utc): DateTime.Utc | undefined =>
  period === "total" ? undefined : DateTime.startOf(instant, period, { weekStartsOn: 1 })

export const resetsAt = (period: BudgetPeriod, instant: DateTime.Utc): string | undefined => {
  const start = startOfPeriod(period, instant)
  return start === undefined ? undefined : format(DateTime.add(start, { [`${period}s`]: 1 }))
}

/** What counts toward a budget, in the period that began then. */
export interface Counted {
  readonly period: BudgetPeriod
  readonly periodStartMs: number
  readonly spent: bigint
  readonly held: bigint
}

/** Neither spending nor holds of an earlier period count: a call counts in the period in which it was opened. */
export const inPeriodOf = (budget: Counted, at: DateTime.Utc): Pick<Counted, "spent" | "held"> => {
  const start = startOfPeriod(budget.period, at)
  return start !== undefined && budget.periodStartMs < start.epochMilliseconds ? { spent: 0n, held: 0n } : budget
}

/** Identifies a budget. It is a UUID. */
export const BudgetId = Uuid.pipe(Schema.brand("BudgetId"))
export type BudgetId = typeof BudgetId.Type

/** A limit for what a consumer or one of its levels spends in each period, in all or for one tool or provider. */
export interface Budget {
  readonly id: BudgetId
  readonly consumerId: ConsumerId
  /** Calls below this level only; of the whole account if undefined. */
  readonly levelId: LevelId | undefined
  /** Calls of this tool only; of any tool if undefined. */
  readonly toolId: ToolId | undefined
  /** Calls of this provider only; of any provider if undefined. */
  readonly providerId: ProviderId | undefined
  readonly cap: Microcents
  readonly period: BudgetPeriod
  /** Earlier spending does not count. */
  readonly createdAt: DateTime.Utc
}

/** A budget with what already counts toward its cap. */
export interface BudgetStatus extends Budget {
  /** The amount of the current period. */
  readonly spentMicrocents: bigint
  readonly heldMicrocents: bigint
}

/**
 * Port for budgets, which cap a consumer's spending. Calls reserve against them when they open and count when they close
 * (CallStore). A call must fit into every budget that covers it.
 */
export class BudgetStore extends Context.Service<
  BudgetStore,
  {
    /** False if the account, or the level, has `most` budgets already; nothing is stored. */
    create(budget: Budget, most: number): Effect.Effect<boolean, StoreUnavailable>
    /**
     * Makes these the budgets of their level, at most one for each period. One whose period the level has already keeps its id
     * and what counts toward it.
     */
    replace(
      consumerId: ConsumerId,
      levelId: LevelId,
      budgets: ReadonlyArray<Budget>
    ): Effect.Effect<void, StoreUnavailable>
    /** Of the account. May be below what is spent; further calls are then rejected. False if there is no such budget. */
    changeCap(consumerId: ConsumerId, id: BudgetId, cap: Microcents): Effect.Effect<boolean, StoreUnavailable>
    /** Of the account. False if there is no such budget. */
    remove(consumerId: ConsumerId, id: BudgetId): Effect.Effect<boolean, StoreUnavailable>
    /** Those of the account, oldest first. */
    list(consumerId: ConsumerId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<BudgetStatus>, StoreUnavailable>
    /** Those of these levels. */
    ofLevels(
      consumerId: ConsumerId,
      levels: ReadonlyArray<LevelId>,
      now: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<BudgetStatus>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/BudgetStore") {}

export const BUDGETS_PER_CONSUMER_MAX = 50

/** The terms of a new budget. Earlier spending does not count toward it. */
export type BudgetRequest = Pick<Budget, "toolId" | "providerId" | "cap" | "period">

/** What one level may spend in each period. */
export interface SpendingLimit {
  readonly period: BudgetPeriod
  readonly limit: Microcents
}

/** Every call is checked against all budgets of its consumer, so their number is limited. */
export class TooManyBudgets extends Schema.TaggedError<TooManyBudgets>()("TooManyBudgets", { max: Schema.Int }) {
  override get message() {
    return `An account has at most ${this.max} budgets. Remove one first.`
  }
}

/** The consumer has no such budget. Budgets of other consumers are not found either. */
export class BudgetNotFound extends Schema.TaggedError<BudgetNotFound>()("BudgetNotFound", {
  budgetId: Schema.String
}) {
  override get message() {
    return `You have no budget ${this.budgetId}.`
  }
}

export class Budgets extends Context.Service<
  Budgets,
  {
    set(consumerId: ConsumerId, request: BudgetRequest): Effect.Effect<BudgetStatus, TooManyBudgets | StoreUnavailable>
    list(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<BudgetStatus>, StoreUnavailable>
    remove(consumerId: ConsumerId, id: BudgetId): Effect.Effect<void, BudgetNotFound | StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/Budgets") {
  static readonly layer = Layer.effect(
    Budgets,
    Effect.gen(function* () {
      const store = yield* BudgetStore
      const entropy = yield* Entropy

      const set = Effect.fn("Budgets.set")(function* (consumerId: ConsumerId, request: BudgetRequest) {
        const budget = {
          id: BudgetId.make(yield* entropy.uuid),
          consumerId,
          levelId: undefined,
          ...request,
          createdAt: yield* DateTime.now
        }
        if (!(yield* store.create(budget, BUDGETS_PER_CONSUMER_MAX))) {
          return yield* new TooManyBudgets({ max: BUDGETS_PER_CONSUMER_MAX })
        }
        return { ...budget, spentMicrocents: 0n, heldMicrocents: 0n }
      })

      const list = Effect.fn("Budgets.list")(function* (consumerId: ConsumerId) {
        return yield* store.list(consumerId, yield* DateTime.now)
      })

      const remove = Effect.fn("Budgets.remove")(function* (consumerId: ConsumerId, id: BudgetId) {
        if (!(yield* store.remove(consumerId, id))) return yield* new BudgetNotFound({ budgetId: id })
      })

      return Budgets.of({ set, list, remove })
    })
  )
}
