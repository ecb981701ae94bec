/**
 * Shows the page's times in the reader's time zone.
 */
import { dateTime } from "./Format.browser.ts"

for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
  time.replaceWith(dateTime(time.dateTime))
}
