/**
 * The versions that the service states.
 */
export const API_VERSION = "0.4.0" as const
/** What `version` refers to; the market API has its own version. */
export const API_VERSION_OF = "the platform API under /api/v1, and the trust layer"
export const MARKET_VERSION_OF = "the market API under /api/market"
