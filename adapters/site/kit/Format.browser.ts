/**
 * Numbers as people write them, times in the reader's zone. Money is exact: microcents are whole numbers, a ten-thousandth
 * of a cent each, and nothing is rounded away.
 */
import { el } from "./Dom.browser.ts"

const MICROCENTS_PER_DOLLAR = 1_000_000
const FRACTION_DIGITS_MIN = 2

export const money = (microcents: number): string => {
  const whole = Math.abs(microcents)
  const dollars = Math.floor(whole / MICROCENTS_PER_DOLLAR).toLocaleString("en-US")
  const rest = String(whole % MICROCENTS_PER_DOLLAR)
    .padStart(6, "0")
    .replace(/0+$/u, "")
  return `${microcents < 0 ? "−" : ""}$${dollars}.${rest.padEnd(FRACTION_DIGITS_MIN, "0")}`
}

/**
 * Dollars as somebody typed them; undefined where they are not an amount, or finer than a microcent. A comma is taken
 * only between thousands: half the world writes half a dollar as 0,5.
 */
export const microcentsOf = (dollars: string): number | undefined => {
  const parts = /^\$?(\d{1,9}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?:\.(\d{1,6}))?$/u.exec(dollars.trim())
  if (parts === null) return undefined
  return Number(parts[1]!.replaceAll(",", "")) * MICROCENTS_PER_DOLLAR + Number((parts[2] ?? "").padEnd(6, "0"))
}

/** As `microcentsOf` reads it; nothing where there is no amount. */
export const dollarsOf = (microcents: number | undefined): string =>
  microcents === undefined ? "" : money(microcents).replace(/[$,]/gu, "")

export const count = (value: number): string => value.toLocaleString()

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

export const milliseconds = (value: number | null): string =>
  value === null ? "–" : value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`

export const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 2 : 1)} %`

export const bytes = (value: number): string => {
  const units = ["bytes", "kB", "MB", "GB", "TB"]
  let [left, unit] = [value, 0]
  while (left >= 1_000 && unit < units.length - 1) [left, unit] = [left / 1_000, unit + 1]
  return `${unit === 0 ? left : left.toFixed(1)} ${units[unit]}`
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })

export const moment = (timestamp: string): HTMLTimeElement =>
  el("time", { datetime: timestamp, title: timestamp }, MOMENT.format(new Date(timestamp)))

/** A day of the books, which is one of UTC. */
export const day = (date: string): string => DAY.format(new Date(`${date.slice(0, 10)}T00:00:00Z`))

const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" })

/** A month of the books, such as `2026-11`. */
export const month = (text: string): string => MONTH.format(new Date(`${text}-01T00:00:00Z`))

const AWAY = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" })
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000]
] as const

/** How far away a moment is: `in 6 days`. */
export const until = (timestamp: string): string => {
  const ms = Date.parse(timestamp) - Date.now()
  const [unit, length] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? UNITS[2]
  return AWAY.format(Math.trunc(ms / length), unit)
}
