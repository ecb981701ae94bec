/**
 * Earnings of a period: `7d`, `30d`, `90d` or `all`.
 */
import type { ConsoleApi } from "../../console/ConsoleContext.browser.ts"
import type { Earnings } from "../../kit/ApiResponses.browser.ts"

export const readEarnings = (api: ConsoleApi, period: string): Promise<Earnings> =>
  api.post<Earnings>("/api/v1/market/billing/provider-summary", { period })
