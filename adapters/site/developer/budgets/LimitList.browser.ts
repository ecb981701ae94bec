/**
 * A list of limits that the developer creates and ends: budgets and grants.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Column } from "../../console/DataTable.browser.ts"
import { type Field, InputForm, type Values } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import type { Confirmation } from "../../console/Modal.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { money } from "../../kit/Format.browser.ts"
import { periodLabel } from "./LimitPeriods.browser.ts"

export interface LimitListProps<Row, List> {
  readonly id: string
  readonly title: string
  readonly path: string
  /** What such a limit does. */
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

export const LimitList = <Row, List>(props: LimitListProps<Row, List>): View => {
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
  return h(
    "section",
    { id },
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

export const limitColumn: Column<Limit> = {
  name: "Limit",
  cell: limitText,
  isNumber: true,
  sortBy: (one) => one.cap_microcents,
  csv: limitText
}

export const spentColumn: Column<Limit> = {
  name: "Spent",
  cell: (one) => money(one.spent_microcents),
  isNumber: true,
  sortBy: (one) => one.spent_microcents,
  csv: (one) => money(one.spent_microcents)
}
