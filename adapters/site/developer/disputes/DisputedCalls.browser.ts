/**
 * The developer's disputes by the receipt of their call.
 */
import type { ConsoleApi } from "../../console/ConsoleContext.browser.ts"
import { type Dispute, disputePage } from "../../console/DisputeDetail.browser.ts"

const READ_LIMIT = 100

/** Those filed since then. Disputes are listed newest first. */
export const disputedCalls = async (api: ConsoleApi, sinceMs: number): Promise<ReadonlyMap<string, Dispute>> => {
  const found = new Map<string, Dispute>()
  let cursor: string | undefined
  do {
    const { next, rows } = await disputePage(api, cursor, undefined, READ_LIMIT)
    for (const one of rows) found.set(one.receipt_id, one)
    const last = rows.at(-1)
    cursor = last !== undefined && Date.parse(last.created_at) >= sinceMs ? (next ?? undefined) : undefined
  } while (cursor !== undefined)
  return found
}
