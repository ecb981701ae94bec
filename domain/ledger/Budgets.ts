/**
 * Budgets cap a consumer's spending. They are enforced when a call is held.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import type { ConsumerId, ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { BudgetPeriod } from "./BudgetPeriod.ts"
import { BudgetId, type BudgetStatus, BudgetStore } from "./BudgetStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const BUDGETS_PER_CONSUMER_MAX = 50

/** The terms of a new budget. Earlier spending does not count toward it. */
export interface BudgetRequest {
  readonly toolId: ToolId | undefined
  readonly providerId: ProviderId | undefined
  readonly cap: Microcents
  readonly period: BudgetPeriod
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
