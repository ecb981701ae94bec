/**
 * Shows the page's times in the reader's time zone.
 */
import { exactTime, localTime } from "./Format.browser.ts"

export const showLocalTimes = (): void => {
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
    time.title = exactTime(time.dateTime)
    time.textContent = localTime(time.dateTime)
  }
}
