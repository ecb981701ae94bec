/**
 * Shows the page's times in the reader's time zone.
 */
import { localTime } from "./Format.browser.ts"

export const showLocalTimes = (): void => {
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
    time.title = time.dateTime
    time.textContent = localTime(time.dateTime)
  }
}
