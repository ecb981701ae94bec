/**
 * How many tools a search finds in all. Counting tens of thousands costs more than the page itself, so a counted total is
 * kept together with the number of changes that the catalogue had seen, and believed only while that number stands.
 */
import { Effect, Option } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

const TOTALS_KEPT_MAX = 1_000

interface Tally {
  readonly tools: bigint
  readonly changes: bigint
}

export interface CatalogTotals {
  readonly everything: Effect.Effect<number, SqlError.SqlError>
  /** `key` stands for the conditions, which name the table `t`. */
  matching(key: string, conditions: ReadonlyArray<Statement.Fragment>): Effect.Effect<number, SqlError.SqlError>
}

export const catalogTotals = (sql: SqlClient.SqlClient): CatalogTotals => {
  const kept = new Map<string, { readonly changes: bigint; readonly total: number }>()

  const tally = Effect.map(
    sql<Tally>`SELECT sum(tools)::int8 AS tools, sum(changes)::int8 AS changes FROM catalog_tallies`,
    ([row]) => row!
  )

  const keep = (key: string, changes: bigint, total: number): void => {
    kept.delete(key)
    if (kept.size >= TOTALS_KEPT_MAX) kept.delete(kept.keys().next().value!)
    kept.set(key, { changes, total })
  }

  // Planned for these very values.
  const count = (conditions: ReadonlyArray<Statement.Fragment>) =>
    Effect.map(
      sql<{ readonly total: bigint; readonly changes: bigint }>`
        SELECT count(*) AS total, (SELECT sum(changes)::int8 FROM catalog_tallies) AS changes
        FROM tools t WHERE ${sql.and(conditions)}`.unprepared,
      ([row]) => ({ total: Number(row!.total), changes: row!.changes })
    )

  // The cost of comparing word lists is not in PostgreSQL's estimate: for common words it would rather read the whole
  // table. Before version 18 ruling that out makes the estimate so large that the plan is compiled to machine code first.
  const countByIndex = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql`SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.pipe(
      Effect.andThen(count(conditions)),
      sql.withTransaction
    )

  return {
    everything: Effect.map(tally, ({ tools }) => Number(tools)),

    matching: Effect.fnUntraced(function* (key, conditions) {
      // Changes of a transaction that is still open may be taken back: nothing is learned from them.
      const inTransaction = Option.isSome(yield* Effect.serviceOption(sql.transactionService))
      if (inTransaction) return (yield* count(conditions)).total
      const known = kept.get(key)
      if (known !== undefined && known.changes === (yield* tally).changes) return known.total
      const { changes, total } = yield* countByIndex(conditions)
      keep(key, changes, total)
      return total
    })
  }
}
