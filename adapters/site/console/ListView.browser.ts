/**
 * Lists of rows that are loaded page by page: filters, search, sorting and CSV. Filters, search and sorting are kept in the
 * query of the address: a link or a reload shows the same list.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { errorMessage } from "../kit/ApiRequest.browser.ts"
import { count, plural } from "../kit/Format.browser.ts"
import { ActionButton } from "./ActionButton.browser.ts"
import { saveFile } from "./ConsoleContext.browser.ts"
import { type Column, DataTable, sorted, type Sorting } from "./DataTable.browser.ts"
import { place, setQuery } from "./Place.browser.ts"
import { loaded, useResource } from "./Resource.browser.ts"
import { Choice, Empty, h, Notice, type View } from "./View.browser.ts"

export interface ListFilter {
  readonly name: string
  readonly label: string
  /** The first choice, with an empty value, is the default. */
  readonly choices: ReadonlyArray<readonly [value: string, label: string]>
}

interface ListQuery {
  /** The filters that differ from their default. */
  readonly filters: Readonly<Record<string, string>>
  readonly search: string
  readonly sorting: Sorting | undefined
  /** Descending first, then ascending, then in the order of the API. */
  readonly sort: (column: string) => void
}

const SEARCH = "q"
const SORT = "sort"

const useListQuery = (filters: ReadonlyArray<ListFilter>): ListQuery => {
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

interface FiltersProps {
  readonly id: string
  readonly filters: ReadonlyArray<ListFilter>
  readonly query: ListQuery
  readonly hasSearch: boolean
  readonly action: ComponentChildren
}

const Filters = ({ action, filters, hasSearch, id, query }: FiltersProps): View =>
  h(
    "div",
    { class: "filters" },
    hasSearch
      ? h("input", {
          type: "search",
          "aria-label": "Search",
          placeholder: "Search",
          value: query.search,
          onInput: (event: Event) => setQuery({ [SEARCH]: (event.target as HTMLInputElement).value })
        })
      : undefined,
    filters.map(({ choices, label, name }) =>
      h(Choice, {
        key: name,
        id: `${id}-${name}`,
        label,
        choices,
        value: query.filters[name] ?? "",
        changed: (value) => setQuery({ [name]: value })
      })
    ),
    h("div", { class: "filters-action" }, action)
  )

export const csvOf = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>): string => {
  const written = columns.filter(({ csv }) => csv !== undefined)
  const lines = [written.map(({ name }) => name), ...rows.map((row) => written.map(({ csv }) => csv!(row)))]
  return lines.map((line) => `${line.map(cellOf).join(",")}\r\n`).join("")
}

/**
 * Spreadsheets would run text that begins like a formula. Where they separate cells by semicolons or tabs, as in much of
 * Europe, they begin a cell after each of those, and a row after each line break, also within our quotes.
 */
const FORMULA = /(?=[=+\-@\uff1d\uff0b\uff0d\uff20])(?<=(?:^|[;\t\r\n])["\s]*)/gu

const cellOf = (value: number | string): string => {
  if (typeof value === "number") return String(value)
  const text = value.replaceAll(FORMULA, "'")
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export interface RowPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /** Null after the last page. */
  readonly next: string | null
}

interface ListViewProps<Row> {
  /** Names the rows, such as `calls`, and the CSV file. */
  readonly id: string
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly keyOf: (row: Row) => string
  /** `filters`: the chosen value of each filter; absent where all values are shown. */
  readonly load: (cursor: string | undefined, filters: Readonly<Record<string, string>>) => Promise<RowPage<Row>>
  readonly filters?: ReadonlyArray<ListFilter>
  /** The text that a search looks at. Undefined: the list cannot be searched. */
  readonly textOf?: (row: Row) => string
  /** Shown without rows and without filters. */
  readonly empty: ComponentChildren
  /** Loads again when it changes. */
  readonly version?: unknown
  /** The time after which a visible page loads its first rows again. */
  readonly refreshMs?: (rows: ReadonlyArray<Row>) => number | undefined
}

/** More rows are exported by the API. */
const EXPORTED_MAX = 10_000

export const ListView = <Row>(props: ListViewProps<Row>): View => {
  const { caption, columns, empty, filters = [], keyOf, load, refreshMs, textOf, version } = props
  const query = useListQuery(filters)
  const chosen = JSON.stringify(query.filters)
  const [further, setFurther] = useState<{ readonly of: unknown; readonly page: RowPage<Row> }>()
  const first = useResource(
    () => load(undefined, query.filters),
    [chosen, version],
    refreshMs === undefined ? {} : { refreshMs: ({ rows }) => refreshMs(rows) }
  )
  return loaded(first, (page) => {
    const more = further?.of === page ? further.page : undefined
    const rows = more === undefined ? page.rows : [...page.rows, ...more.rows]
    const next = more === undefined ? page.next : more.next
    const isFiltered = chosen !== "{}"
    if (rows.length === 0 && !isFiltered) return h(Empty, null, empty)
    const found = query.search === "" ? rows : rows.filter((row) => isMatch(textOf?.(row) ?? "", query.search))
    const shown = sorted(found, columns, query.sorting)
    const loadMore = async (cursor: string) => {
      const after = await load(cursor, query.filters)
      setFurther({ of: page, page: { rows: [...(more?.rows ?? []), ...after.rows], next: after.next } })
    }
    return [
      h(Filters, {
        id: props.id,
        filters,
        query,
        hasSearch: textOf !== undefined,
        action: h(CsvButton<Row>, { ...props, chosen: query.filters })
      }),
      shown.length === 0
        ? h(Empty, null, next === null ? "No matches." : "No matches among the loaded rows.")
        : h(DataTable<Row>, { caption, columns, rows: shown, keyOf, sorting: query.sorting, sort: query.sort }),
      h(
        "p",
        { class: "small muted" },
        found.length === rows.length
          ? plural(rows.length, "row")
          : `${count(found.length)} of ${plural(rows.length, "row")}`,
        next === null
          ? ""
          : query.search === "" && query.sorting === undefined
            ? ", more available"
            : " that are loaded"
      ),
      next === null ? undefined : h(MoreButton, { key: next, load: () => loadMore(next) })
    ]
  })
}

const isMatch = (text: string, search: string): boolean => text.toLowerCase().includes(search.toLowerCase())

const MoreButton = ({ load }: { readonly load: () => Promise<void> }): View => {
  const [state, setState] = useState<"idle" | "loading" | { readonly error: unknown }>("idle")
  const start = () => {
    setState("loading")
    load().catch((error: unknown) => setState({ error }))
  }
  return h(
    "div",
    { "aria-live": "polite" },
    typeof state === "object" ? h(Notice, { style: "bad" }, errorMessage(state.error)) : undefined,
    h(
      "div",
      { class: "actions" },
      h(
        "button",
        { type: "button", class: "plain", disabled: state === "loading", onClick: start },
        state === "loading" ? "Loading…" : "Show more"
      )
    )
  )
}

/** Exports all pages with the chosen filters, not only the loaded ones. */
const CsvButton = <Row>(
  props: ListViewProps<Row> & { readonly chosen: Readonly<Record<string, string>> }
): ComponentChildren => {
  const { chosen, columns, id, load } = props
  const [read, setRead] = useState<number>()
  return [
    read === undefined
      ? undefined
      : h("span", { class: "small muted", role: "status" }, `${plural(read, "row")} read…`),
    h(ActionButton, {
      label: "Export CSV",
      style: "plain tiny",
      run: async () => {
        const rows: Array<Row> = []
        let cursor: string | undefined
        try {
          do {
            setRead(rows.length)
            const page = await load(cursor, chosen)
            rows.push(...page.rows)
            cursor = page.next ?? undefined
          } while (cursor !== undefined && rows.length < EXPORTED_MAX)
        } finally {
          setRead(undefined)
        }
        saveFile(`${id}.csv`, csvOf(columns, rows.slice(0, EXPORTED_MAX)))
        return cursor === undefined
          ? `Exported ${plural(rows.length, "row")}.`
          : `Exported the newest ${count(EXPORTED_MAX)} rows. The API returns all of them.`
      }
    })
  ]
}
