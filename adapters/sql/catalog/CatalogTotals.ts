/**
 * How many tools match a search. Counting tens of thousands costs more than the page itself, so a total is cached with
 * the catalog's number of changes, and is valid only while that number stays the same.
 */
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import type { StoreSql } from "../shared/StoreSql.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

const TOTALS_KEPT_MAX = 1_000

interface Tally {
  readonly tools: bigint
  readonly changes: bigint
}

export interface CatalogTotals {
  readonly everything: Effect.Effect<number, StoreUnavailable>
  /** `key` identifies the conditions, which refer to the table as `t`. */
  matching(key: string, conditions: ReadonlyArray<Statement.Fragment>): Effect.Effect<number, StoreUnavailable>
}

export const catalogTotals = (sql: StoreSql): CatalogTotals => {
  const kept = new Map<string, { readonly changes: bigint; readonly total: number }>()

  const tally = sql<Tally>`
    SELECT sum(tools)::int8 AS tools, sum(changes)::int8 AS changes FROM catalog_tallies`.one((row) => row)

  const keep = (key: string, changes: bigint, total: number): void => {
    kept.delete(key)
    if (kept.size >= TOTALS_KEPT_MAX) kept.delete(kept.keys().next().value!)
    kept.set(key, { changes, total })
  }

  // Planned for these values.
  const count = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql<{ readonly total: bigint; readonly changes: bigint }>`
      SELECT count(*) AS total, (SELECT sum(changes)::int8 FROM catalog_tallies) AS changes
      FROM tools t WHERE ${sql.and(conditions)}`.unprepared.one(({ changes, total }) => ({
      total: Number(total),
      changes
    }))

  // PostgreSQL's estimate does not include the cost of comparing word lists: for common words it prefers to scan the
  // whole table. Before version 18, disabling that scan makes the estimate so large that the plan is first compiled to
  // machine code.
  const countByIndex = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql`SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.pipe(
      Effect.andThen(count(conditions)),
      sql.withTransaction
    )

  return {
    everything: Effect.map(tally, ({ tools }) => Number(tools)),

    matching: Effect.fnUntraced(function* (key, conditions) {
      // Changes of an open transaction may be rolled back, so totals are not cached in one.
      if (yield* sql.isInTransaction) return (yield* count(conditions)).total
      const known = kept.get(key)
      if (known !== undefined && known.changes === (yield* tally).changes) return known.total
      const { changes, total } = yield* countByIndex(conditions)
      keep(key, changes, total)
      return total
    })
  }
}
