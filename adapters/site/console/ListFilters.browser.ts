/**
 * Filters, search and sorting of a list, kept in the query of the address: a link or a reload shows the same list.
 */
import { type ComponentChildren } from "preact"
import type { Sorting } from "./DataTable.browser.ts"
import { place, setQuery } from "./Place.browser.ts"
import { h, type View } from "./View.browser.ts"

export interface ListFilter {
  readonly name: string
  readonly label: string
  /** The first choice, with an empty value, is the default. */
  readonly choices: ReadonlyArray<readonly [value: string, label: string]>
}

export interface ListQuery {
  /** Without those at their default. */
  readonly filters: Readonly<Record<string, string>>
  readonly search: string
  readonly sorting: Sorting | undefined
  /** Descending first, then ascending, then in the order of the API. */
  readonly sort: (column: string) => void
}

const SEARCH = "q"
const SORT = "sort"

export const useListQuery = (filters: ReadonlyArray<ListFilter>): ListQuery => {
  const { query } = place.value
  const chosen = filters.flatMap(({ choices, name }) => {
    const value = query.get(name) ?? ""
    return value !== "" && choices.some(([choice]) => choice === value) ? [[name, value] as const] : []
  })
  const text = query.get(SORT) ?? ""
  const sorting = text === "" ? undefined : { column: text.replace(/^-/u, ""), isDescending: text.startsWith("-") }
  return {
    filters: Object.fromEntries(chosen),
    search: query.get(SEARCH) ?? "",
    sorting,
    sort: (column) =>
      setQuery({
        [SORT]: sorting?.column !== column ? `-${column}` : sorting.isDescending ? column : ""
      })
  }
}

export interface FiltersProps {
  readonly id: string
  readonly filters: ReadonlyArray<ListFilter>
  readonly query: ListQuery
  readonly hasSearch: boolean
  readonly action: ComponentChildren
}

export const Filters = ({ action, filters, hasSearch, id, query }: FiltersProps): View =>
  h(
    "div",
    { class: "filters" },
    hasSearch
      ? h("input", {
          type: "search",
          "aria-label": "Search",
          placeholder: "Search",
          value: query.search,
          onInput: (event: Event) => setQuery({ [SEARCH]: valueOf(event) })
        })
      : undefined,
    filters.map(({ choices, label, name }) =>
      h(
        "div",
        { class: "choice", key: name },
        h("label", { for: `${id}-${name}` }, label),
        h(
          "select",
          { id: `${id}-${name}`, onChange: (event: Event) => setQuery({ [name]: valueOf(event) }) },
          choices.map(([value, text]) =>
            h("option", { key: value, value, selected: value === (query.filters[name] ?? "") }, text)
          )
        )
      )
    ),
    h("div", { class: "filters-action" }, action)
  )

const valueOf = ({ target }: Event): string => (target as HTMLInputElement | HTMLSelectElement).value
