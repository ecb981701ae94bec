/**
 * Paths of several rows of the matrix.
 */
export const KEYS = "/api/v1/market/keys"
export const OWN_TOOLS = "/api/v1/market/tools"
export const GRANTS = "/api/v1/market/grants"
export const BUDGETS = "/api/v1/market/budgets"
export const BALANCE = "/api/v1/market/balance"
export const RECEIPTS = "/api/v1/market/receipts"
export const DISPUTES = "/api/v1/market/disputes"
export const INVOICES = "/api/v1/market/invoices"
export const PROVIDERS = "/api/v1/market/providers"
export const TOOLBOX = "/api/market/toolbox"
export const LOG = "/api/v1/market/log"
export const RUNS = "/api/v1/market/runs"
