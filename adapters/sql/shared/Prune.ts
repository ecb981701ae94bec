/**
 * Deletes old rows in bounded portions. Rows that another transaction has locked wait for the next round.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

/** Deletes at most `limit` of the rows for which `isOld` holds, and returns their number. */
export const prune = (
  sql: SqlClient.SqlClient,
  table: string,
  isOld: Statement.Fragment,
  limit: number
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly pruned: bigint }>`
      WITH gone AS (
        DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${sql(table)} WHERE ${isOld} LIMIT ${limit} FOR UPDATE SKIP LOCKED))
        RETURNING 1
      ) SELECT count(*) AS pruned FROM gone`,
    ([row]) => Number(row!.pruned)
  )
