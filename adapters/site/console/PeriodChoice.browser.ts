/**
 * The period that a tab shows, kept in the query of the address.
 */
import { place, setQuery } from "./Place.browser.ts"
import { h, type View } from "./View.browser.ts"

/** The first one, with an empty value, is the default. */
export type Periods = ReadonlyArray<readonly [value: string, label: string]>

const NAME = "period"

/** Empty: the default. Another tab may have periods that this one does not have. */
export const usePeriod = (periods: Periods): string => {
  const chosen = place.value.query.get(NAME) ?? ""
  return periods.some(([value]) => value === chosen) ? chosen : ""
}

export interface PeriodChoiceProps {
  readonly id: string
  readonly periods: Periods
}

export const PeriodChoice = ({ id, periods }: PeriodChoiceProps): View => {
  const period = usePeriod(periods)
  return h(
    "div",
    { class: "choice" },
    h("label", { for: id }, "Period"),
    h(
      "select",
      { id, onChange: ({ currentTarget }: Event) => setQuery({ [NAME]: (currentTarget as HTMLSelectElement).value }) },
      periods.map(([value, label]) => h("option", { key: value, value, selected: value === period }, label))
    )
  )
}
