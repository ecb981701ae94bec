/**
 * A time in the reader's time zone.
 */
import { localTime } from "../kit/Format.browser.ts"
import { h, type View } from "./View.browser.ts"

/** `at`: in ISO 8601. */
export const TimeText = ({ at }: { readonly at: string }): View => h("time", { dateTime: at, title: at }, localTime(at))
