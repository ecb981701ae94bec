/**
 * A time in the reader's time zone. Its tooltip has the seconds and the name of the zone.
 */
import { exactTime, localTime, preciseTime } from "../kit/Format.browser.ts"
import { h, type View } from "./View.browser.ts"

export interface TimeTextProps {
  /** In ISO 8601. */
  readonly at: string
  /** Shows the seconds, where many rows are of the same minute. */
  readonly isPrecise?: boolean
}

export const TimeText = ({ at, isPrecise = false }: TimeTextProps): View =>
  h("time", { dateTime: at, title: exactTime(at) }, isPrecise ? preciseTime(at) : localTime(at))
