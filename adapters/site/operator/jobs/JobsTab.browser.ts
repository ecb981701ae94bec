/**
 * The background jobs of the node that answers.
 */
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataTable } from "../../console/DataTable.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { Badge, Empty, h, section, TimeText, type View } from "../../console/View.browser.ts"
import { milliseconds } from "../../kit/Format.browser.ts"
import { type Jobs, OPERATOR } from "../lists/OperatorLists.browser.ts"

type Job = Jobs["jobs"][number]

const REFRESH_MS = 10_000

export const tab = (): View => {
  const { api } = useConsole()
  const jobs = useResource(() => api.get<Jobs>(`${OPERATOR}/jobs`), [], { refreshMs: () => REFRESH_MS })
  return section(
    "jobs",
    h("p", null, "Every node runs every job. This list is of the node that answered."),
    loaded(jobs, ({ jobs: all, timestamp }) =>
      all.length === 0
        ? h(Empty, null, "This node runs no jobs.")
        : [
            h(DataTable<Job>, { caption: "Jobs", columns: COLUMNS, rows: all, keyOf: ({ job }) => job }),
            h("p", { class: "small muted" }, "As of ", h(TimeText, { at: timestamp }), ".")
          ]
    )
  )
}

const COLUMNS = [
  { name: "Job", cell: ({ job }: Job) => job },
  {
    name: "State",
    cell: ({ last_success_at: last, late }: Job) =>
      late
        ? h(Badge, { label: "Late", style: "bad" })
        : h(Badge, { label: last === null ? "Not run yet" : "On time", style: last === null ? "" : "good" })
  },
  { name: "Every", cell: ({ interval_seconds: seconds }: Job) => intervalOf(seconds), isNumber: true },
  { name: "Last run", cell: ({ last_success_at: at }: Job) => (at === null ? "–" : h(TimeText, { at })) },
  { name: "Duration", cell: ({ duration_ms: ms }: Job) => milliseconds(ms), isNumber: true },
  { name: "Next run", cell: ({ next_run_at: at }: Job) => h(TimeText, { at }) },
  {
    name: "Last failure",
    cell: ({ failed_at: at, failure }: Job) => (at === null ? "None" : [h(TimeText, { at, key: "at" }), ": ", failure]),
    isLong: true
  }
]

const intervalOf = (seconds: number): string => {
  if (seconds < 60) return `${seconds}\u00a0s`
  return seconds < 3_600 ? `${seconds / 60}\u00a0min` : `${seconds / 3_600}\u00a0h`
}
