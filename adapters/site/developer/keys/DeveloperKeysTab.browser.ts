/**
 * API keys of the developer.
 */
import { KeyList } from "../../console/KeyList.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

export const tab = (): View => h(KeyList, null)
