/**
 * The history of a provider's fee.
 */
import { type Column, DataTable } from "../console/DataTable.browser.ts"
import { TimeText } from "../console/TimeText.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import type { Provider } from "./OperatorResponses.browser.ts"

type FeeChange = Provider["fee_changes"][number]

export const FeeChanges = ({ all }: { readonly all: ReadonlyArray<FeeChange> }): View =>
  h(DataTable<FeeChange>, {
    caption: "Changes of the fee",
    columns: COLUMNS,
    rows: all,
    keyOf: ({ changed_at: at, platform_fee_bps: points }) => `${at} ${points}`
  })

const percent = (points: number | null): string => (points === null ? "the default" : `${points / 100}%`)

const COLUMNS: ReadonlyArray<Column<FeeChange>> = [
  { name: "Changed", cell: ({ changed_at: at }) => h(TimeText, { at }) },
  { name: "Fee", cell: ({ platform_fee_bps: points }) => percent(points) },
  {
    name: "Announced fee",
    cell: ({ upcoming }) =>
      upcoming === null
        ? "–"
        : [`${percent(upcoming.platform_fee_bps)} from `, h(TimeText, { at: upcoming.effective_from, key: "from" })]
  },
  { name: "Changed by", cell: ({ changed_by: by }) => by },
  { name: "Reason", cell: ({ reason }) => reason ?? "–", isLong: true }
]
