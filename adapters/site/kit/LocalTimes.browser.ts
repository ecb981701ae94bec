/**
 * Times that came with the page, in the reader's zone.
 */
import { moment } from "./Figures.browser.ts"

for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
  time.replaceWith(moment(time.dateTime))
}
