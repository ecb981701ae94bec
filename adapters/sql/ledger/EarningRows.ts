/**
 * How what calls earned enters `account_balances`.
 */
import type { Statement } from "effect/sql"
import type { StoreSql, StoreStatement } from "../shared/StoreSql.ts"

/** Adds rows with the columns of `account_balances`, in the order of their keys, in which other nodes lock them too. */
export const addEarnings = (sql: StoreSql, rows: Statement.Fragment): StoreStatement<object> => sql`
  INSERT INTO account_balances AS b (owner_id, account, lane, day, credits)
  SELECT owner_id, account, lane, day, sum(credits) FROM ${rows} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET credits = b.credits + excluded.credits`
