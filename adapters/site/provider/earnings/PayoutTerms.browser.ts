/**
 * Paths of payouts, and their amounts, which are whole cents.
 */
import { money } from "../../kit/Format.browser.ts"

export const PAYOUTS_PATH = "/api/market/payouts"
export const CONNECT_PATH = "/api/market/connect"

const MICROCENTS_PER_CENT = 10_000

export const dollars = (cents: number): string => money(cents * MICROCENTS_PER_CENT)
