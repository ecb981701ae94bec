/**
 * The provider's trust score.
 */
import { request } from "../../kit/ApiRequest.browser.ts"
import type { Trust } from "../../kit/ApiResponses.browser.ts"

export const readTrust = (providerId: string): Promise<Trust> =>
  request<Trust>("GET", `/api/v1/market/providers/${providerId}/trust`, { isFresh: true })
