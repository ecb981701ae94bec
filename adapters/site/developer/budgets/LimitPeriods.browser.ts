/**
 * Amount and period of a limit.
 */
import { invalid } from "../../kit/ApiRequest.browser.ts"
import { parseDollars } from "../../kit/Format.browser.ts"

export const LIMIT_PERIODS = [
  ["day", "per day"],
  ["month", "per month"],
  ["total", "in total"]
] as const

export const periodLabel = (period = ""): string => LIMIT_PERIODS.find(([value]) => value === period)?.[1] ?? period

/** The limit that was entered into the field `cap_microcents`. */
export const limitIn = (dollars: string | undefined): number => {
  const microcents = parseDollars(dollars)
  if (microcents === undefined) throw invalid({ cap_microcents: "Enter an amount in dollars, such as 5.00." })
  return microcents
}
