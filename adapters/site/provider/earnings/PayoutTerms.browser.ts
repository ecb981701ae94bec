/**
 * Paths of payouts.
 */
export const PAYOUTS_PATH = "/api/market/payouts"
export const CONNECT_PATH = "/api/market/connect"
