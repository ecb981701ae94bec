/**
 * Budgets in PostgreSQL. The wallet says whether its consumer has any, so that calls without budgets skip the lookup.
 */
import { DateTime, Effect, Layer } from "effect"
import { type Budget, BudgetId, type BudgetStatus, BudgetStore } from "../../../domain/ledger/BudgetStore.ts"
import { type ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { PERIOD_CODE, wordOf } from "./LedgerCodes.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface BudgetRow {
  readonly budget_id: string
  readonly tool_id: string | null
  readonly provider_id: string | null
  readonly cap: bigint
  readonly period: number
  readonly spent: bigint
  readonly held: bigint
  readonly created_at: Date
}

export const layer = Layer.effect(
  BudgetStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    /** Calls take the same lock, so that no call is between reading budgets and reserving against them. */
    const underLock = <A, E>(consumerId: ConsumerId, change: Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        yield* sql`INSERT INTO wallets (consumer_id) VALUES (${consumerId}) ON CONFLICT DO NOTHING`
        yield* sql`SELECT 1 FROM wallets WHERE consumer_id = ${consumerId} FOR NO KEY UPDATE`
        const done = yield* change
        yield* sql`UPDATE wallets SET budgeted = EXISTS (SELECT FROM budgets WHERE consumer_id = ${consumerId})
          WHERE consumer_id = ${consumerId}`
        return done
      }).pipe(sql.withTransaction)

    const create = Effect.fn("PostgresBudgetStore.create")((budget: Budget, most: number) => {
      const createdAt = DateTime.toDate(budget.createdAt)
      const insert = sql`
        INSERT INTO budgets (consumer_id, budget_id, tool_id, provider_id, cap, period, period_start, created_at)
        SELECT ${budget.consumerId}::uuid, ${budget.id}::uuid, ${budget.toolId ?? null}::uuid,
          ${budget.providerId ?? null}::uuid, ${budget.cap}::int8, ${PERIOD_CODE[budget.period]}::int2,
          ${createdAt}::timestamptz, ${createdAt}::timestamptz
        WHERE (SELECT count(*) FROM budgets WHERE consumer_id = ${budget.consumerId}) < ${most} RETURNING 1`
      return underLock(
        budget.consumerId,
        Effect.map(insert, (rows) => rows.length === 1)
      )
    })

    const changeCap = Effect.fn("PostgresBudgetStore.changeCap")(function* (
      consumerId: ConsumerId,
      id: BudgetId,
      cap: Microcents
    ) {
      const rows = yield* sql`
        UPDATE budgets SET cap = ${cap} WHERE consumer_id = ${consumerId} AND budget_id = ${id} RETURNING 1`
      return rows.length === 1
    })

    const remove = Effect.fn("PostgresBudgetStore.remove")((consumerId: ConsumerId, id: BudgetId) => {
      const remove = sql`DELETE FROM budgets WHERE consumer_id = ${consumerId} AND budget_id = ${id} RETURNING 1`
      return underLock(
        consumerId,
        Effect.map(remove, (rows) => rows.length === 1)
      )
    })

    const list = Effect.fn("PostgresBudgetStore.list")(function* (consumerId: ConsumerId, now: DateTime.Utc) {
      const rows = yield* sql<BudgetRow>`
        SELECT budget_id, tool_id, provider_id, cap, period, held, created_at,
          CASE WHEN period_start < budget_period_start(period, ${DateTime.toDate(now)}) THEN 0 ELSE spent END AS spent
        FROM budgets WHERE consumer_id = ${consumerId} ORDER BY created_at, budget_id`
      return rows.map((row) => toStatus(consumerId, row))
    })

    return BudgetStore.of({ create, changeCap, remove, list })
  })
)

const toStatus = (consumerId: ConsumerId, row: BudgetRow): BudgetStatus => ({
  id: BudgetId.make(row.budget_id),
  consumerId,
  toolId: row.tool_id === null ? undefined : ToolId.make(row.tool_id),
  providerId: row.provider_id === null ? undefined : ProviderId.make(row.provider_id),
  cap: Microcents.make(row.cap),
  period: wordOf(PERIOD_CODE, row.period),
  createdAt: DateTime.makeUnsafe(row.created_at.getTime()),
  spentMicrocents: row.spent,
  heldMicrocents: row.held
})
