/**
 * Budgets in PostgreSQL. The wallet says whether its consumer has any, so that calls without budgets skip the lookup.
 */
import { type DateTime, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import {
  type Budget,
  type BudgetStatus,
  BudgetStore,
  type Counted,
  inPeriodOf
} from "../../../domain/ledger/Budgets.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { rowReader, toDate } from "../shared/Rows.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { PERIOD_CODE, wordOf } from "./LedgerCodes.ts"

const toRow = rowReader<Budget & Counted>(
  { budget_id: "id", period_start: "periodStartMs" },
  { period: (code: number) => wordOf(PERIOD_CODE, code), period_start: (start: Date) => start.getTime() }
)

const toStatus =
  (now: DateTime.Utc) =>
  (row: object): BudgetStatus => {
    const { held: _, periodStartMs: __, spent: ___, ...budget } = toRow(row)
    const { held, spent } = inPeriodOf(toRow(row), now)
    return { ...budget, spentMicrocents: spent, heldMicrocents: held }
  }

const COLUMNS =
  "consumer_id, budget_id, level_id, tool_id, provider_id, cap, period, period_start, held, spent, created_at"

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
        yield* sql`UPDATE wallets SET budgeted = EXISTS (SELECT 1 FROM budgets WHERE consumer_id = ${consumerId})
          WHERE consumer_id = ${consumerId}`
        return done
      }).pipe(sql.withTransaction)

    const columns = sql.literal(COLUMNS)

    const insert = (budget: Budget, where: Statement.Fragment) => {
      const createdAt = toDate(budget.createdAt)
      return sql`
        INSERT INTO budgets (consumer_id, budget_id, level_id, tool_id, provider_id, cap, period, period_start, created_at)
        SELECT ${budget.consumerId}::uuid, ${budget.id}::uuid, ${budget.levelId ?? null}::uuid, ${budget.toolId ?? null}::uuid,
          ${budget.providerId ?? null}::uuid, ${budget.cap}::int8, ${PERIOD_CODE[budget.period]}::int2,
          ${createdAt}::timestamptz, ${createdAt}::timestamptz
        WHERE ${where} RETURNING 1`.hasRows
    }

    return BudgetStore.of({
      create: Effect.fn("PostgresBudgetStore.create")((budget, most) => {
        const { consumerId, levelId } = budget
        const count = sql`SELECT count(*) FROM budgets
          WHERE consumer_id = ${consumerId} AND level_id IS NOT DISTINCT FROM ${levelId ?? null}::uuid`
        return underLock(consumerId, insert(budget, sql`(${count}) < ${most}`))
      }),

      replace: Effect.fn("PostgresBudgetStore.replace")((consumerId, levelId, budgets) => {
        const ofLevel = sql`consumer_id = ${consumerId} AND level_id = ${levelId}`
        const codes = budgets.map(({ period }) => PERIOD_CODE[period])
        const put = Effect.fnUntraced(function* (budget: Budget) {
          const ofPeriod = sql`${ofLevel} AND period = ${PERIOD_CODE[budget.period]}`
          const isChanged = yield* sql`UPDATE budgets SET cap = ${budget.cap} WHERE ${ofPeriod} RETURNING 1`.hasRows
          if (!isChanged) yield* insert(budget, sql`true`)
        })
        return underLock(
          consumerId,
          Effect.andThen(
            sql`DELETE FROM budgets WHERE ${ofLevel} AND period <> ALL (${codes}::int2[])`,
            Effect.forEach(budgets, put, { discard: true })
          )
        )
      }),

      changeCap: Effect.fn("PostgresBudgetStore.changeCap")(
        (consumerId, id, cap) =>
          sql`
            UPDATE budgets SET cap = ${cap} WHERE consumer_id = ${consumerId} AND budget_id = ${id} AND level_id IS NULL
            RETURNING 1`.hasRows
      ),

      remove: Effect.fn("PostgresBudgetStore.remove")((consumerId, id) =>
        underLock(
          consumerId,
          sql`DELETE FROM budgets WHERE consumer_id = ${consumerId} AND budget_id = ${id} AND level_id IS NULL
            RETURNING 1`.hasRows
        )
      ),

      list: Effect.fn("PostgresBudgetStore.list")((consumerId, now) =>
        sql`SELECT ${columns} FROM budgets WHERE consumer_id = ${consumerId} AND level_id IS NULL
          ORDER BY created_at, budget_id`.all(toStatus(now))
      ),

      ofLevels: Effect.fn("PostgresBudgetStore.ofLevels")((consumerId, levels, now) =>
        sql`SELECT ${columns} FROM budgets WHERE consumer_id = ${consumerId} AND level_id = ANY (${levels}::uuid[])
          ORDER BY created_at, budget_id`.all(toStatus(now))
      )
    })
  })
)
