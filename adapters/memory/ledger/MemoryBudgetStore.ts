/**
 * Budgets on plain Maps.
 */
import { Effect, Layer } from "effect"
import { type BudgetId, type BudgetStatus, BudgetStore } from "../../../domain/ledger/Budgets.ts"
import { spentIn } from "../../../domain/metering/CallRules.ts"
import { oldestFirst } from "../shared/MemoryRows.ts"
import { put, write } from "../shared/MemoryUnitOfWork.ts"
import { type BudgetRow, MemoryLedger } from "./MemoryLedger.ts"

export const layer = Layer.effect(
  BudgetStore,
  Effect.gen(function* () {
    const { budgets } = yield* MemoryLedger
    return BudgetStore.of({
      create: (budget, most) =>
        Effect.suspend(() => {
          const own = budgets.get(budget.consumerId) ?? new Map<BudgetId, BudgetRow>()
          if (own.size >= most) return Effect.succeed(false)
          budgets.set(budget.consumerId, own)
          const row = { ...budget, spent: 0n, held: 0n, periodStartMs: budget.createdAt.epochMilliseconds }
          return Effect.as(put(own, budget.id, row), true)
        }),
      changeCap: (consumerId, id, cap) =>
        Effect.suspend(() => {
          const budget = budgets.get(consumerId)?.get(id)
          return budget === undefined ? Effect.succeed(false) : Effect.as(changeCap(budget, cap), true)
        }),
      remove: (consumerId, id) =>
        Effect.suspend(() => {
          const own = budgets.get(consumerId)
          const budget = own?.get(id)
          if (own === undefined || budget === undefined) return Effect.succeed(false)
          return write(
            () => own.delete(id),
            () => own.set(id, budget)
          )
        }),
      list: (consumerId, now) =>
        Effect.sync(() =>
          [...(budgets.get(consumerId)?.values() ?? [])]
            .toSorted(oldestFirst((budget) => budget.createdAt))
            .map((budget) => fundsOf(budget, spentIn(budget, now)))
        )
    })
  })
)

const changeCap = (budget: BudgetRow, cap: BudgetRow["cap"]) =>
  write(
    () => {
      const before = budget.cap
      budget.cap = cap
      return before
    },
    (before) => {
      budget.cap = before
    }
  )

const fundsOf = (
  { spent: _, held, periodStartMs: _start, ...budget }: BudgetRow,
  spentMicrocents: bigint
): BudgetStatus => ({ ...budget, spentMicrocents, heldMicrocents: held })
