/**
 * Port for budgets, which cap a consumer's spending. Calls reserve against them when they open and count when they
 * close (CallStore). A call must fit into every budget that covers it.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import { type ConsumerId, type ProviderId, type ToolId, Uuid } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { BudgetPeriod } from "./BudgetPeriod.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

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
  /** In the current period. */
  readonly spentMicrocents: bigint
  /** By open calls. */
  readonly heldMicrocents: bigint
}

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
