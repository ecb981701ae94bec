/**
 * Shows the times of pages from the server in the reader's time zone.
 */
import { exactTime, localTime } from "./Format.browser.ts"

for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
  time.title = exactTime(time.dateTime)
  time.textContent = localTime(time.dateTime)
}
