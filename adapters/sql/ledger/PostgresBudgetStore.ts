/**
 * Budgets in PostgreSQL. The wallet says whether its consumer has any, so that calls without budgets skip the lookup.
 */
import { type DateTime, Effect, Layer } from "effect"
import { type BudgetStatus, BudgetStore, startOfPeriod } from "../../../domain/ledger/Budgets.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { rowReader, toDate, toDateOrNull } from "../shared/Rows.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { PERIOD_CODE, wordOf } from "./LedgerCodes.ts"

const toStatus = rowReader<BudgetStatus>(
  { budget_id: "id", spent: "spentMicrocents", held: "heldMicrocents" },
  { period: (code: number) => wordOf(PERIOD_CODE, code) }
)

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

    /** When the period of a budget began in which this instant is. */
    const begunBy = (now: DateTime.Utc) => sql`CASE
      WHEN period = ${PERIOD_CODE.day} THEN ${toDateOrNull(startOfPeriod("day", now))}::timestamptz
      WHEN period = ${PERIOD_CODE.month} THEN ${toDateOrNull(startOfPeriod("month", now))}::timestamptz
      ELSE '-infinity' END`

    return BudgetStore.of({
      create: Effect.fn("PostgresBudgetStore.create")((budget, most) => {
        const createdAt = toDate(budget.createdAt)
        return underLock(
          budget.consumerId,
          sql`
            INSERT INTO budgets (consumer_id, budget_id, tool_id, provider_id, cap, period, period_start, created_at)
            SELECT ${budget.consumerId}::uuid, ${budget.id}::uuid, ${budget.toolId ?? null}::uuid,
              ${budget.providerId ?? null}::uuid, ${budget.cap}::int8, ${PERIOD_CODE[budget.period]}::int2,
              ${createdAt}::timestamptz, ${createdAt}::timestamptz
            WHERE (SELECT count(*) FROM budgets WHERE consumer_id = ${budget.consumerId}) < ${most} RETURNING 1`.hasRows
        )
      }),

      changeCap: Effect.fn("PostgresBudgetStore.changeCap")(
        (consumerId, id, cap) =>
          sql`
            UPDATE budgets SET cap = ${cap} WHERE consumer_id = ${consumerId} AND budget_id = ${id}
            RETURNING 1`.hasRows
      ),

      remove: Effect.fn("PostgresBudgetStore.remove")((consumerId, id) =>
        underLock(
          consumerId,
          sql`DELETE FROM budgets WHERE consumer_id = ${consumerId} AND budget_id = ${id} RETURNING 1`.hasRows
        )
      ),

      list: Effect.fn("PostgresBudgetStore.list")((consumerId, now) =>
        sql`
          SELECT consumer_id, budget_id, tool_id, provider_id, cap, period, held, created_at,
            CASE WHEN period_start < ${begunBy(now)} THEN 0 ELSE spent END AS spent
          FROM budgets WHERE consumer_id = ${consumerId} ORDER BY created_at, budget_id`.all(toStatus)
      )
    })
  })
)
