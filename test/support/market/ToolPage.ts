/**
 * Actions and visible texts of a page in the browser, by their visible names.
 */
import { Effect } from "effect"
import type { Page } from "playwright-core"

export const promise = Effect.promise
export const SLOW = { timeout: 180_000 }

export const shown = (page: Page, selector: string, pattern: RegExp) =>
  promise(async () => {
    const found = page.locator(selector).filter({ hasText: pattern })
    await found.first().waitFor({ timeout: 120_000 })
    return found.first().innerText()
  })
export const press = (page: Page, name: string | RegExp) => promise(() => page.getByRole("button", { name }).click())
export const fillIn = (page: Page, label: string | RegExp, value: string) =>
  promise(() => page.getByLabel(label, { exact: true }).fill(value))

export const enter = Effect.fnUntraced(function* (page: Page, key: string) {
  yield* fillIn(page, "Your developer key", key)
  yield* press(page, "Use this key")
})
