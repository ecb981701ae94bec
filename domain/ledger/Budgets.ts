/**
 * Caps that a consumer sets for its own spending: per day, per month or in all, on everything or on one tool or provider.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import type { ConsumerId, ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { type BudgetPeriod, resetsAt } from "./BudgetPeriod.ts"
import { type Budget, BudgetId, type BudgetStanding, BudgetStore } from "./BudgetStore.ts"

export const BUDGETS_MAX = 20

export interface BudgetTerms {
  readonly cap: Microcents
  readonly period: BudgetPeriod
  readonly toolId: ToolId | undefined
  readonly providerId: ProviderId | undefined
}

export interface BudgetReport extends BudgetStanding {
  /** Never below zero, also where the cap was lowered below what is spent. */
  readonly leftMicrocents: bigint
  readonly resetsAt: string | undefined
}

export class TooManyBudgets extends Schema.TaggedError<TooManyBudgets>()("TooManyBudgets", {}) {
  override get message() {
    return `You have ${BUDGETS_MAX} budgets already. Remove one first.`
  }
}

export class BudgetNotFound extends Schema.TaggedError<BudgetNotFound>()("BudgetNotFound", { id: Schema.String }) {
  override get message() {
    return `You have no budget ${this.id}.`
  }
}

export class Budgets extends Context.Service<
  Budgets,
  {
    create(consumerId: ConsumerId, terms: BudgetTerms): Effect.Effect<Budget, TooManyBudgets>
    changeCap(consumerId: ConsumerId, id: BudgetId, cap: Microcents): Effect.Effect<void, BudgetNotFound>
    remove(consumerId: ConsumerId, id: BudgetId): Effect.Effect<void, BudgetNotFound>
    list(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<BudgetReport>>
  }
>()("agent-tool-billing/domain/ledger/Budgets") {
  static readonly layer = Layer.effect(
    Budgets,
    Effect.gen(function* () {
      const store = yield* BudgetStore
      const entropy = yield* Entropy

      const create = Effect.fn("Budgets.create")(function* (consumerId: ConsumerId, terms: BudgetTerms) {
        const id = BudgetId.make(yield* entropy.uuid)
        const budget: Budget = { ...terms, id, consumerId, createdAt: yield* DateTime.now }
        if (!(yield* store.create(budget, BUDGETS_MAX))) return yield* new TooManyBudgets()
        return budget
      })

      const changeCap = Effect.fn("Budgets.changeCap")(function* (
        consumerId: ConsumerId,
        id: BudgetId,
        cap: Microcents
      ) {
        if (!(yield* store.changeCap(consumerId, id, cap))) return yield* new BudgetNotFound({ id })
      })

      const remove = Effect.fn("Budgets.remove")(function* (consumerId: ConsumerId, id: BudgetId) {
        if (!(yield* store.remove(consumerId, id))) return yield* new BudgetNotFound({ id })
      })

      const list = Effect.fn("Budgets.list")(function* (consumerId: ConsumerId) {
        const now = yield* DateTime.now
        return (yield* store.list(consumerId, now)).map((budget) => reportOf(budget, now))
      })

      return Budgets.of({ create, changeCap, remove, list })
    })
  )
}

const reportOf = (budget: BudgetStanding, now: DateTime.Utc): BudgetReport => {
  const left = budget.cap - budget.spentMicrocents - budget.heldMicrocents
  return { ...budget, leftMicrocents: left > 0n ? left : 0n, resetsAt: resetsAt(budget.period, now) }
}
