/**
 * A console in a browser, the provider's unless another is named: opens it with a key, and waits until it is loaded.
 */
import { Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { open } from "./Browser.ts"

export const DASHBOARD = "/provider"

/** Waits until the open tab is loaded. */
export const settled = (page: Page) =>
  Effect.promise(async () => {
    await page.waitForSelector(".console-main .loaded")
    await page.waitForSelector(".loaded[aria-busy=true]", { state: "detached" })
  })

export const openTab = Effect.fnUntraced(function* (page: Page, title: string) {
  yield* Effect.promise(async () => {
    await page.locator(".console-tabs").getByText(title, { exact: true }).click()
    await page.locator(".console-main h1", { hasText: title }).waitFor()
  })
  yield* settled(page)
})

/** Opens the row of this text, or a page of the tab. */
export const follow = Effect.fnUntraced(function* (page: Page, within: string, name: string) {
  yield* Effect.promise(() => page.locator(within).getByRole("link", { name, exact: true }).first().click())
  yield* settled(page)
})

export const entered = Effect.fnUntraced(function* (browser: Browser, url: string, key: string, path = DASHBOARD) {
  const opened = yield* open(browser, `${url}${path}`)
  yield* signIn(opened.page, key)
  yield* settled(opened.page)
  return opened
})

export const signIn = (page: Page, key: string) =>
  Effect.promise(async () => {
    await page.fill("#key", key)
    await page.click("form button[type=submit]")
  })

/** The visible text of one element, in one line. */
export const seen = (page: Page, selector: string) =>
  Effect.promise(async () => (await page.innerText(selector)).replaceAll(/\s+/gu, " "))

/** Waits until the element contains the text. */
export const says = (page: Page, selector: string, text: string) =>
  Effect.promise(() => page.locator(selector).filter({ hasText: text }).first().waitFor({ timeout: 120_000 }))

export const press = (page: Page, within: string, name: string) =>
  Effect.promise(() => page.locator(within).getByRole("button", { name, exact: true }).first().click())

/** Confirms a dialog of the page. */
export const agree = (page: Page, name: string) =>
  Effect.promise(async () => {
    await page.locator("dialog").getByRole("button", { name, exact: true }).click()
    await page.waitForSelector("dialog", { state: "detached" })
  })

/** Browsers log every rejected request, also an expected one. */
export const unexpected = (complaints: ReadonlyArray<string>, ...statuses: ReadonlyArray<number>) =>
  complaints.filter((one) => !statuses.some((status) => one.includes(`responded with a status of ${status} `)))
