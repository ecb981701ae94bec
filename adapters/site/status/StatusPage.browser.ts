/**
 * The script of the status page.
 */
import { showLocalTimes } from "../kit/LocalTimes.browser.ts"

showLocalTimes()
