/**
 * Limits of the developer's spending: budgets, and grants that let providers bill.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column, moneyColumn, statusColumn } from "../../console/DataTable.browser.ts"
import { type Field, InputForm, type Values } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import type { Confirmation } from "../../console/Modal.browser.ts"
import { ProviderLink, toolIdOf, ToolLink } from "../../console/PublicNames.browser.ts"
import { type Badges, h, section, TimeText, type View } from "../../console/View.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import type { Budgets, Grants } from "../../kit/ApiResponses.browser.ts"
import { money, parseDollars, plural } from "../../kit/Format.browser.ts"

// Amount and period of a limit.

const LIMIT_PERIODS = [
  ["day", "per day"],
  ["month", "per month"],
  ["total", "in total"]
] as const

const periodLabel = (period = ""): string => LIMIT_PERIODS.find(([value]) => value === period)?.[1] ?? period

/** The limit that was entered into the field `cap_microcents`. */
const limitIn = (dollars: string | undefined): number => {
  const microcents = parseDollars(dollars)
  if (microcents === undefined) throw invalid({ cap_microcents: "Enter an amount in dollars, such as 5.00." })
  return microcents
}

// A list of limits that the developer creates and ends: budgets and grants.

interface LimitListProps<Row, List> {
  readonly id: string
  readonly title: string
  readonly path: string
  readonly purpose: string
  readonly rowsOf: (list: List) => ReadonlyArray<Row>
  readonly idOf: (row: Row) => string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly empty: ComponentChildren
  /** Ends a limit. */
  readonly ending: {
    readonly label: string
    readonly isPossible: (row: Row) => boolean
    readonly confirm: Confirmation
    readonly message: string
  }
  readonly form: {
    readonly id: string
    readonly submit: string
    readonly fields: ReadonlyArray<Field>
    readonly bodyOf: (values: Values) => object | Promise<object>
    readonly messageOf: (values: Values) => string
  }
}

const LimitList = <Row, List>(props: LimitListProps<Row, List>): View => {
  const { columns, empty, ending, form, id, idOf, path, purpose, rowsOf, title } = props
  const { api } = useConsole()
  const [version, setVersion] = useState(0)
  const changed = () => setVersion((before) => before + 1)
  const actions: Column<Row> = {
    name: "",
    cell: (row) =>
      !ending.isPossible(row)
        ? undefined
        : h(ActionButton, {
            label: ending.label,
            style: "plain tiny",
            confirm: ending.confirm,
            run: async (idempotencyKey) => {
              await api.delete(`${path}/${idOf(row)}`, idempotencyKey)
              changed()
              return ending.message
            }
          })
  }
  return section(
    id,
    h("h2", null, title),
    h("p", { class: "muted" }, purpose),
    h(ListView<Row>, {
      id,
      caption: title,
      version,
      load: async () => ({ rows: rowsOf(await api.get<List>(path)), next: null }),
      keyOf: idOf,
      columns: [...columns, actions],
      empty
    }),
    h(
      "details",
      null,
      h("summary", null, form.submit),
      h(InputForm, {
        id: form.id,
        submit: form.submit,
        fields: form.fields,
        send: async (values, idempotencyKey) => {
          await api.post(path, await form.bodyOf(values), idempotencyKey)
          changed()
          return form.messageOf(values)
        }
      })
    )
  )
}

interface Limit {
  readonly cap_microcents: number
  readonly period: string
  readonly spent_microcents: number
}

const limitText = (one: Limit): string => `${money(one.cap_microcents)} ${periodLabel(one.period)}`

const limitColumn: Column<Limit> = column("Limit", (one) => one.cap_microcents, {
  cell: limitText,
  csv: limitText,
  isNumber: true
})

const spentColumn: Column<Limit> = moneyColumn("Spent", (one) => one.spent_microcents)

// Budgets: limits that a developer sets on its own spending.

type Budget = Budgets["budgets"][number]

const BudgetList = (): View =>
  h(LimitList<Budget, Budgets>, {
    id: "budgets",
    title: "Budgets",
    path: "/api/v1/market/budgets",
    purpose: "A call that could exceed a budget is rejected before it reaches the provider.",
    rowsOf: ({ budgets }) => budgets,
    idOf: ({ budget_id: id }) => id,
    columns: BUDGET_COLUMNS,
    empty: "No budgets. Your balance is the only limit on what your agents spend.",
    ending: {
      label: "Delete",
      isPossible: () => true,
      confirm: {
        title: "Delete this budget?",
        text: "Your agents can exceed it immediately.",
        action: "Delete budget",
        isDangerous: true
      },
      message: "Budget deleted."
    },
    form: {
      id: "budget",
      submit: "Create budget",
      fields: [
        { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
        { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "day" },
        {
          name: "tool_id",
          label: "Tool",
          optional: true,
          placeholder: "demo/echo",
          hint: "Name or ID. Empty: all tools."
        },
        {
          name: "provider_id",
          label: "Provider ID",
          optional: true,
          hint: "Shown on the provider's page in the catalog. Empty: all providers."
        }
      ],
      bodyOf: async ({ cap_microcents: limit, period, provider_id: provider, tool_id: tool = "" }) => ({
        cap_microcents: limitIn(limit),
        period,
        ...(tool === "" ? {} : { tool_id: await toolIdOf(tool) }),
        ...(provider === "" ? {} : { provider_id: provider })
      }),
      messageOf: ({ cap_microcents: limit, period }) => `Budget created: $${limit} ${periodLabel(period)}.`
    }
  })

const scopeOf = (one: Budget): View | string => {
  if (one.tool_id !== null) return h(ToolLink, { id: one.tool_id })
  return one.provider_id === null ? "All calls" : h(ProviderLink, { id: one.provider_id })
}

const BUDGET_COLUMNS: ReadonlyArray<Column<Budget>> = [
  { name: "Scope", cell: scopeOf, csv: (one) => one.tool_id ?? one.provider_id ?? "All calls" },
  limitColumn,
  spentColumn,
  moneyColumn("Remaining", (one) => one.left_microcents),
  { name: "Resets", cell: (one) => (one.resets_at === null ? "Never" : h(TimeText, { at: one.resets_at })) }
]

// Grants: permission for a provider to bill the developer for calls that the provider reports.

type Grant = Grants["grants"][number]

const STATUSES: Badges<Grant["status"]> = {
  active: ["Active", "good"],
  revoked: ["Revoked", ""],
  expired: ["Expired", ""]
}

const GrantList = (): View =>
  h(LimitList<Grant, Grants>, {
    id: "grants",
    title: "Grants",
    path: "/api/v1/market/grants",
    purpose: "A grant lets a provider bill you, up to a limit, for calls that you make outside this service.",
    rowsOf: ({ grants }) => grants,
    idOf: ({ grant_id: id }) => id,
    columns: GRANT_COLUMNS,
    empty: "No grants. No provider can bill you for calls that it reports itself.",
    ending: {
      label: "Revoke",
      isPossible: ({ status }) => status === "active",
      confirm: {
        title: "Revoke this grant?",
        text: "The provider can no longer bill you. Calls that were already billed stay billed.",
        action: "Revoke grant",
        isDangerous: true
      },
      message: "Grant revoked."
    },
    form: {
      id: "grant",
      submit: "Create grant",
      fields: [
        { name: "provider_id", label: "Provider ID", hint: "Shown on the provider's page in the catalog." },
        { name: "cap_microcents", label: "Limit in dollars", type: "number", value: "5.00" },
        { name: "period", label: "Period", type: "select", choices: LIMIT_PERIODS, value: "month" }
      ],
      bodyOf: ({ cap_microcents: limit, period, provider_id }) => ({
        provider_id,
        cap_microcents: limitIn(limit),
        period
      }),
      messageOf: () => "Grant created."
    }
  })

const GRANT_COLUMNS: ReadonlyArray<Column<Grant>> = [
  {
    name: "Provider",
    cell: (one) => [
      h(ProviderLink, { key: "provider", id: one.provider_id }),
      one.tool_ids.length === 0 ? ", all tools" : `, ${plural(one.tool_ids.length, "tool")}`
    ],
    csv: (one) => one.provider_id
  },
  statusColumn("Status", STATUSES, ({ status }) => status),
  limitColumn,
  spentColumn,
  { name: "Expires", cell: (one) => (one.expires_at === null ? "Never" : h(TimeText, { at: one.expires_at })) }
]

export const tab = (): ComponentChildren => [h(BudgetList, null), h(GrantList, null)]
