/**
 * Budgets cap a consumer's spending. They are enforced when a call is held.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { Entropy } from "../shared/Cryptography.ts"
import { type ConsumerId, type ProviderId, type ToolId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { format } from "../shared/Time.ts"

/** A budget's period starts each day or month (UTC), or never. */
export const BudgetPeriod = Schema.Literals(["day", "month", "total"])
export type BudgetPeriod = typeof BudgetPeriod.Type

/** Undefined for `total`, which has only one period. */
export const startOfPeriod = (period: BudgetPeriod, instant: DateTime.Utc): DateTime.Utc | undefined =>
  period === "total" ? undefined : DateTime.startOf(instant, period)

export const resetsAt = (period: BudgetPeriod, instant: DateTime.Utc): string | undefined => {
  if (period === "total") return undefined
  const start = DateTime.startOf(instant, period)
  return format(DateTime.add(start, period === "day" ? { days: 1 } : { months: 1 }))
}

/** Identifies a budget. It is a UUID. */
export const BudgetId = Uuid.pipe(Schema.brand("BudgetId"))
export type BudgetId = typeof BudgetId.Type

/** A limit for what a consumer spends in each period, in all or for one tool or provider. */
export interface Budget {
  readonly id: BudgetId
  readonly consumerId: ConsumerId
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
    /** False if the consumer has `most` budgets already; nothing is stored. */
    create(budget: Budget, most: number): Effect.Effect<boolean, StoreUnavailable>
    /** May be below what is spent; further calls are then rejected. False if there is no such budget. */
    changeCap(consumerId: ConsumerId, id: BudgetId, cap: Microcents): Effect.Effect<boolean, StoreUnavailable>
    /** False if there is no such budget. */
    remove(consumerId: ConsumerId, id: BudgetId): Effect.Effect<boolean, StoreUnavailable>
    /** Oldest first. */
    list(consumerId: ConsumerId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<BudgetStatus>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/BudgetStore") {}

export const BUDGETS_PER_CONSUMER_MAX = 50

/** The terms of a new budget. Earlier spending does not count toward it. */
export type BudgetRequest = Pick<Budget, "toolId" | "providerId" | "cap" | "period">

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
