/**
 * Selects the period that a panel shows.
 */
import { el, on } from "./Dom.browser.ts"

export interface PeriodSelect {
  readonly element: HTMLElement
  readonly value: () => string
}

const DAYS = [
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"]
] as const

export const USAGE_PERIODS = [["24h", "24 hours"], ...DAYS] as const
export const EARNINGS_PERIODS = [...DAYS, ["all", "All time"]] as const

export const periodSelect = (
  id: string,
  periods: ReadonlyArray<readonly [value: string, label: string]>,
  changed: () => void
): PeriodSelect => {
  const select = on(
    el(
      "select",
      { id },
      periods.map(([value, label]) => el("option", { value, selected: value === "30d" }, label))
    ),
    { change: changed }
  )
  return {
    element: el("div", { class: "choice" }, el("label", { for: id }, "Period"), select),
    value: () => select.value
  }
}
