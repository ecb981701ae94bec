/**
 * The recently used tools of an account, listed at the market door where no tools are chosen.
 */
import type { UsageOfToolDay } from "../metering/Usage.ts"
import type { ToolId } from "../shared/Ids.ts"

export const RECENT_DAYS = 30

/** Last used first; of the same day, most used first. Tools that were never called successfully are left out. */
export const recentTools = (days: ReadonlyArray<UsageOfToolDay>, max: number): ReadonlyArray<ToolId> => {
  const tools = new Map<ToolId, { date: string; calls: number; successes: number }>()
  for (const { calls, date, successes, toolId } of days) {
    const known = tools.get(toolId)
    if (known === undefined) {
      tools.set(toolId, { date, calls, successes })
      continue
    }
    if (date > known.date) Object.assign(known, { date, calls })
    known.successes += successes
  }
  return [...tools]
    .filter(([, { successes }]) => successes > 0)
    .toSorted(([a, x], [b, y]) =>
      x.date === y.date ? y.calls - x.calls || (a < b ? -1 : 1) : x.date < y.date ? 1 : -1
    )
    .slice(0, max)
    .map(([toolId]) => toolId)
}
