/**
 * When the period of a budget starts: each day or month (UTC), or never.
 */
import { DateTime, Schema } from "effect"
import { format } from "../shared/Timestamp.ts"

export const BudgetPeriod = Schema.Literals(["day", "month", "total"])
export type BudgetPeriod = typeof BudgetPeriod.Type

/** Undefined for `total`, which has only one period. */
export const startOfPeriod = (period: BudgetPeriod, instant: DateTime.Utc): DateTime.Utc | undefined =>
  period === "total" ? undefined : DateTime.startOf(instant, period)

export const resetsAt = (period: BudgetPeriod, instant: DateTime.Utc): string | undefined => {
  if (period === "total") return undefined
  const start = DateTime.startOf(instant, period)
  return format(DateTime.add(start, period === "day" ? { days: 1 } : { months: 1 }))
}
