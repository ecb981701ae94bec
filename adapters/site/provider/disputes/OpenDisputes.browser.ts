/**
 * Disputes that wait for the provider's response.
 */
import type { ConsoleApi } from "../../console/ConsoleApi.browser.ts"
import { type Dispute, disputePage } from "../../console/DisputeTerms.browser.ts"
import { needsResponse } from "./ProviderDisputeStatuses.browser.ts"

const READ_MAX = 100

/** Of the newest ones, the oldest first: its deadline is the next. */
export const openDisputes = async (api: ConsoleApi): Promise<ReadonlyArray<Dispute>> => {
  const { rows } = await disputePage(api, undefined, "filed", READ_MAX)
  return rows.filter(needsResponse).toReversed()
}
