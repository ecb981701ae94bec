/**
 * How many tools match a search. Counting tens of thousands costs more than the page itself, so a total is cached with
 * the catalog's number of changes and the frozen providers, and is valid only while these stay the same.
 */
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import type { StoreSql } from "../shared/StoreSql.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

const TOTALS_KEPT_MAX = 1_000

interface Tally {
  readonly tools: bigint
  readonly changes: bigint
  /** Identifies the providers that are frozen; null: none. */
  readonly frozen: string | null
}

export interface CatalogTotals {
  readonly tally: Effect.Effect<Tally, StoreUnavailable>
  /** Listed, without those of frozen providers. */
  everything(tally: Tally): Effect.Effect<number, StoreUnavailable>
  /** `key` identifies the conditions, which refer to the table as `t`. */
  matching(
    tally: Tally,
    key: string,
    conditions: ReadonlyArray<Statement.Fragment>
  ): Effect.Effect<number, StoreUnavailable>
}

const FROZEN = "(SELECT id FROM providers WHERE frozen_at IS NOT NULL)"

/** Of `tools t`. The few frozen providers are read once and hashed. */
export const ofNoFrozenProvider = (sql: StoreSql): Statement.Fragment =>
  sql`t.provider_id NOT IN ${sql.literal(FROZEN)}`

export const catalogTotals = (sql: StoreSql): CatalogTotals => {
  const kept = new Map<string, { readonly changes: bigint; readonly frozen: string | null; readonly total: number }>()

  const columns = sql.literal(
    "sum(tools)::int8 AS tools, sum(changes)::int8 AS changes, " +
      "(SELECT md5(string_agg(id::text, '' ORDER BY id)) FROM providers WHERE frozen_at IS NOT NULL) AS frozen"
  )
  const tally = sql<Tally>`SELECT ${columns} FROM catalog_tallies`.one((row) => row)

  const keep = (key: string, { changes, frozen }: Tally, total: number): void => {
    kept.delete(key)
    if (kept.size >= TOTALS_KEPT_MAX) kept.delete(kept.keys().next().value!)
    kept.set(key, { changes, frozen, total })
  }

  // Planned for these values.
  const count = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql<Tally & { readonly total: bigint }>`
      SELECT (SELECT count(*) FROM tools t WHERE ${sql.and(conditions)}) AS total, ${columns}
      FROM catalog_tallies`.unprepared.one(({ total, ...counted }) => ({ total: Number(total), counted }))

  // PostgreSQL's estimate does not include the cost of comparing word lists: for common words it prefers to scan the
  // whole table. Before version 18, disabling that scan makes the estimate so large that the plan is first compiled to
  // machine code.
  const countByIndex = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql`SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.pipe(
      Effect.andThen(count(conditions)),
      sql.withTransaction
    )

  const matching: CatalogTotals["matching"] = Effect.fnUntraced(function* (now, key, conditions) {
    // Changes of an open transaction may be rolled back, so totals are not cached in one.
    if (yield* sql.isInTransaction) return (yield* count(conditions)).total
    const known = kept.get(key)
    if (known !== undefined && known.changes === now.changes && known.frozen === now.frozen) return known.total
    const { counted, total } = yield* countByIndex(conditions)
    if (counted.frozen === now.frozen) keep(key, counted, total)
    return total
  })

  return {
    tally,
    matching,

    everything: Effect.fnUntraced(function* (now) {
      if (now.frozen === null) return Number(now.tools)
      const hidden = [sql`t.withdrawn_at IS NULL`, sql`t.provider_id IN ${sql.literal(FROZEN)}`]
      return Number(now.tools) - (yield* matching(now, "of frozen providers", hidden))
    })
  }
}
