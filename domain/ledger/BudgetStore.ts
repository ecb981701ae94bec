/**
 * The port under budgets: caps that a consumer sets for its own spending. Calls reserve against them when they are
 * opened and count when they are closed (CallStore); every budget that covers a call must have room for it.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import { type ConsumerId, type ProviderId, type ToolId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { BudgetPeriod } from "./BudgetPeriod.ts"

export const BudgetId = Uuid.pipe(Schema.brand("BudgetId"))
export type BudgetId = typeof BudgetId.Type

export interface Budget {
  readonly id: BudgetId
  readonly consumerId: ConsumerId
  /** Only calls of this tool; of any, where undefined. */
  readonly toolId: ToolId | undefined
  /** Only calls of this provider; of any, where undefined. */
  readonly providerId: ProviderId | undefined
  readonly cap: Microcents
  readonly period: BudgetPeriod
  /** What was spent before does not count. */
  readonly createdAt: DateTime.Utc
}

export interface BudgetStanding extends Budget {
  /** In the period of the question. */
  readonly spentMicrocents: bigint
  /** Reserved by open calls. */
  readonly heldMicrocents: bigint
}

export class BudgetStore extends Context.Service<
  BudgetStore,
  {
    /** False, and nothing is kept, if the consumer has `most` budgets already. */
    create(budget: Budget, most: number): Effect.Effect<boolean>
    /** Also below what is spent: then nothing more fits. False if there is no such budget. */
    changeCap(consumerId: ConsumerId, id: BudgetId, cap: Microcents): Effect.Effect<boolean>
    /** False if there is no such budget. */
    remove(consumerId: ConsumerId, id: BudgetId): Effect.Effect<boolean>
    /** Oldest first. */
    list(consumerId: ConsumerId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<BudgetStanding>>
  }
>()("agent-tool-billing/domain/ledger/BudgetStore") {}
