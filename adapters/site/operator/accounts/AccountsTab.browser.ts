/**
 * Accounts of consumers and providers: search, details, freeze and unfreeze.
 */
import { Fragment } from "preact"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { place, setQuery } from "../../console/Place.browser.ts"
import { Badge, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { consumerLink, providerLink, rowsOf, shortId } from "../lists/OperatorLists.browser.ts"
import type { Consumers, Providers } from "../lists/OperatorResponses.browser.ts"
import { ConsumerDetail } from "./ConsumerDetail.browser.ts"
import { ProviderDetail } from "./ProviderDetail.browser.ts"

type Consumer = Consumers["consumers"][number]
type Provider = Providers["providers"][number]

const KINDS = [
  ["", "Consumers"],
  ["frozen", "Frozen consumers"],
  ["providers", "Providers"]
] as const

/** The address names what a row is of: `consumer-…` or `provider-…`. */
const DETAIL = /^(consumer|provider)-(.+)$/u

export const tab = ({ detail }: TabProps): View => {
  const [, role, id] = DETAIL.exec(detail ?? "") ?? []
  if (id !== undefined) return role === "consumer" ? h(ConsumerDetail, { id }) : h(ProviderDetail, { id })
  const { query } = place.value
  const kind = query.get("kind") ?? ""
  const search = kind === "frozen" ? undefined : (query.get("find") ?? undefined)
  return h(
    "section",
    { id: "accounts" },
    h(
      "form",
      {
        class: "filters",
        role: "search",
        onSubmit: (event: Event) => {
          event.preventDefault()
          const values = new FormData(event.currentTarget as HTMLFormElement)
          setQuery({ kind: String(values.get("kind")), find: String(values.get("find") ?? "").trim() })
        }
      },
      h(
        "div",
        { class: "choice" },
        h("label", { for: "accounts-kind" }, "Accounts"),
        h(
          "select",
          {
            id: "accounts-kind",
            name: "kind",
            onChange: (event: Event) => setQuery({ kind: (event.currentTarget as HTMLSelectElement).value, find: "" })
          },
          KINDS.map(([value, label]) => h("option", { key: value, value, selected: value === kind }, label))
        )
      ),
      kind === "frozen"
        ? undefined
        : h(
            Fragment,
            null,
            h("input", {
              key: kind,
              type: "search",
              name: "find",
              "aria-label": "Find an account",
              placeholder: "Name, email or ID",
              minLength: 2,
              defaultValue: search ?? ""
            }),
            h("button", { type: "submit", class: "plain tiny" }, "Find")
          )
    ),
    kind === "providers" ? h(ProviderList, { key: "providers", search }) : h(ConsumerList, { key: kind, kind, search })
  )
}

interface ListProps {
  readonly kind?: string
  readonly search: string | undefined
}

const ConsumerList = ({ kind, search }: ListProps): View => {
  const { api } = useConsole()
  const frozen = kind === "frozen" ? "true" : undefined
  return h(ListView<Consumer>, {
    id: "consumers",
    caption: "Consumers",
    version: search,
    load: (cursor) => rowsOf<"consumers", Consumer>(api, "/consumers", "consumers")(cursor, { search, frozen }),
    keyOf: ({ consumer_id }) => consumer_id,
    columns: CONSUMER_COLUMNS,
    empty: frozen === undefined ? found(search) : "No account is frozen."
  })
}

const ProviderList = ({ search }: ListProps): View => {
  const { api } = useConsole()
  return h(ListView<Provider>, {
    id: "providers",
    caption: "Providers",
    version: search,
    load: (cursor) => rowsOf<"providers", Provider>(api, "/providers", "providers")(cursor, { search }),
    keyOf: ({ provider_id }) => provider_id,
    columns: PROVIDER_COLUMNS,
    empty: found(search)
  })
}

const found = (search: string | undefined): string =>
  search === undefined
    ? "No accounts yet. They appear here when they register."
    : "No account has this ID, or begins with this text."

const CONSUMER_COLUMNS: ReadonlyArray<Column<Consumer>> = [
  {
    name: "Name",
    cell: ({ consumer_id: id, name }) => consumerLink(id, name),
    sortBy: ({ name }) => name,
    csv: ({ name }) => name
  },
  { name: "Email", cell: ({ email }) => email, sortBy: ({ email }) => email, csv: ({ email }) => email },
  {
    name: "Registered",
    cell: ({ created_at: at }) => h(TimeText, { at }),
    sortBy: ({ created_at: at }) => at,
    csv: ({ created_at: at }) => at
  },
  {
    name: "Status",
    cell: ({ frozen, frozen_reason: reason }) =>
      frozen
        ? [
            h(Badge, { label: "Frozen", style: "bad", key: "badge" }),
            h("div", { class: "small muted", key: "reason" }, reason)
          ]
        : h(Badge, { label: "Active", style: "good" }),
    sortBy: ({ frozen }) => (frozen ? 1 : 0),
    csv: ({ frozen, frozen_reason: reason }) => (frozen ? `frozen: ${reason ?? ""}` : "active")
  },
  { name: "ID", cell: ({ consumer_id: id }) => shortId(id), csv: ({ consumer_id: id }) => id }
]

const PROVIDER_COLUMNS: ReadonlyArray<Column<Provider>> = [
  {
    name: "Name",
    cell: ({ name, provider_id: id }) => providerLink(id, name),
    sortBy: ({ name }) => name,
    csv: ({ name }) => name
  },
  { name: "Handle", cell: ({ handle }) => handle, sortBy: ({ handle }) => handle, csv: ({ handle }) => handle },
  { name: "Email", cell: ({ email }) => email, sortBy: ({ email }) => email, csv: ({ email }) => email },
  {
    name: "Registered",
    cell: ({ created_at: at }) => h(TimeText, { at }),
    sortBy: ({ created_at: at }) => at,
    csv: ({ created_at: at }) => at
  },
  {
    name: "Status",
    cell: ({ frozen }) =>
      frozen ? h(Badge, { label: "Frozen", style: "bad" }) : h(Badge, { label: "Active", style: "good" }),
    sortBy: ({ frozen }) => (frozen ? 1 : 0),
    csv: ({ frozen }) => (frozen ? "frozen" : "active")
  },
  { name: "ID", cell: ({ provider_id: id }) => shortId(id), csv: ({ provider_id: id }) => id }
]
