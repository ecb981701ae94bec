/**
 * Formats amounts, numbers and times. Amounts are whole microcents and are never rounded.
 */
const MICROCENTS_PER_DOLLAR = 1_000_000
export const MICROCENTS_PER_CENT = 10_000
const FRACTION_DIGITS_MIN = 2

export const money = (microcents: number): string => {
  const whole = Math.abs(microcents)
  const dollars = Math.floor(whole / MICROCENTS_PER_DOLLAR).toLocaleString("en-US")
  const fraction = String(whole % MICROCENTS_PER_DOLLAR)
    .padStart(6, "0")
    .replace(/0+$/u, "")
  return `${microcents < 0 ? "−" : ""}$${dollars}.${fraction.padEnd(FRACTION_DIGITS_MIN, "0")}`
}

export const moneyOfCents = (cents: number): string => money(cents * MICROCENTS_PER_CENT)

/** Undefined unless it is an amount of whole microcents. A comma is accepted only between thousands: `0,5` is ambiguous. */
export const parseDollars = (text = ""): number | undefined => {
  const parts = /^\$?(\d{1,9}|[1-9]\d{0,2}(?:,\d{3}){1,2})(?:\.(\d{1,6}))?$/u.exec(text.trim())
  if (parts === null) return undefined
  return Number(parts[1]!.replaceAll(",", "")) * MICROCENTS_PER_DOLLAR + Number((parts[2] ?? "").padEnd(6, "0"))
}

/** Not a number where it is no amount of whole cents. */
export const centsIn = (dollars: string | undefined): number =>
  (parseDollars(dollars) ?? Number.NaN) / MICROCENTS_PER_CENT

export const INVALID_PRICE = "Enter an amount in dollars with up to 6 decimal places, such as 0.002."

/** Proposed as the default cap of a new account. */
export const DEFAULT_CAP_DOLLARS = "0.10"

/** An amount as `parseDollars` reads it. */
export const dollarsInput = (microcents: number | undefined): string =>
  microcents === undefined ? "" : money(microcents).replace(/[$,]/gu, "")

export const count = (value: number): string => value.toLocaleString()

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

export const milliseconds = (value: number | null): string =>
  value === null ? "–" : value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`

export const percent = (share: number): string =>
  share === 1 ? "100%" : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 2 : 1)}%`

export const bytes = (value: number): string => {
  const units = ["bytes", "kB", "MB", "GB", "TB"]
  let [left, unit] = [value, 0]
  while (left >= 1_000 && unit < units.length - 1) [left, unit] = [left / 1_000, unit + 1]
  return `${unit === 0 ? left : left.toFixed(1)} ${units[unit]}`
}

const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
const TO_THE_SECOND = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const WITH_ZONE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" })
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })
const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" })

/** Formats in the reader's time zone. */
export const localTime = (timestamp: string): string => DATE_TIME.format(new Date(timestamp))

export const preciseTime = (timestamp: string): string => TO_THE_SECOND.format(new Date(timestamp))

/** Formats to the second, with the name of the reader's time zone. */
export const exactTime = (timestamp: string): string => WITH_ZONE.format(new Date(timestamp))

/** A UTC day. */
export const day = (date: string): string => DAY.format(new Date(`${date.slice(0, 10)}T00:00:00Z`))

/** A UTC month, such as `2026-11`. */
export const month = (text: string): string => MONTH.format(new Date(`${text}-01T00:00:00Z`))

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" })
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000]
] as const

/** Returns a text such as `in 6 days`. */
export const relativeTime = (timestamp: string): string => {
  const ms = Date.parse(timestamp) - Date.now()
  const [unit, length] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? UNITS[2]
  return RELATIVE.format(Math.trunc(ms / length), unit)
}
