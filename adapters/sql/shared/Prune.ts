/**
 * Deletes old rows in bounded portions. Rows that another transaction has locked wait for the next round.
 */
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import type { StoreSql } from "./StoreSql.ts"

/** Deletes at most `limit` of the rows for which `isOld` holds, and returns their number. */
export const prune = (
  sql: StoreSql,
  table: string,
  isOld: Statement.Fragment,
  limit: number
): Effect.Effect<number, StoreUnavailable> =>
  Effect.map(
    sql<{ readonly pruned: bigint }>`
      WITH gone AS (
        DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${sql(table)} WHERE ${isOld} LIMIT ${limit} FOR UPDATE SKIP LOCKED))
        RETURNING 1
      ) SELECT count(*) AS pruned FROM gone`,
    ([row]) => Number(row!.pruned)
  )
