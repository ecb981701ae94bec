/**
 * Limits of the developer's spending: budgets, and grants that let providers bill.
 */
import { Fragment } from "preact"
import { BudgetList } from "./BudgetList.browser.ts"
import { GrantList } from "./GrantList.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

export const tab = (): View => h(Fragment, null, h(BudgetList, null), h(GrantList, null))
