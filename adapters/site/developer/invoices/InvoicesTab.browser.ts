/**
 * Invoices and credit notes of the developer.
 */
import { DocumentList } from "../../console/DocumentList.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

export const tab = (): View => h(DocumentList, { title: "Invoices" })
