/**
 * Signing in to the dashboards with valid and invalid keys.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { post, ready } from "../../support/servers/ServiceProcess.ts"

const OPERATOR_KEY = "the-operator-of-this-service-0123456789"

/** Enters a key and waits for the error. */
const refused = (page: Page, key: string, why: RegExp) =>
  Effect.promise(async () => {
    await page.fill("#key", key)
    await page.click("button[type=submit]")
    await page.locator(".notice", { hasText: why }).waitFor()
  })

it.live.skipIf(!hasBrowser)(
  "a dashboard opens only with a key of its role, and explains why another key is rejected",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", OPERATOR_KEY })
      const consumer = yield* post(`${url}/api/market/register-consumer`, { name: "Ada", email: "ada@example.org" })
      const provider = yield* post(`${url}/api/market/register-provider`, {
        name: "Bob",
        email: "bob@example.org",
        endpoint_url: "http://127.0.0.1:9/mcp"
      })
      const [developerKey, providerKey] = [String(consumer.body["api_key"]), String(provider.body["api_key"])]
      const opened = yield* browser
      for (const [place, own, other, elsewhere, tab] of [
        ["developers", developerKey, providerKey, "/provider", "Keys"],
        ["providers", providerKey, developerKey, "/developer", "Settings"]
      ] as const) {
        const { page } = yield* open(opened, `${url}/${place}/dashboard`)
        const link = () => page.getAttribute(".notice a", "href")
        yield* refused(page, "a—key", /not an API key/u)
        yield* refused(page, `${own.slice(0, -1)}${own.endsWith("0") ? "1" : "0"}`, /Invalid API key/u)
        yield* refused(page, OPERATOR_KEY, /operator key/u)
        yield* refused(page, other, /Use it on the/u)
        assert.strictEqual(yield* Effect.promise(link), elsewhere)
        assert.strictEqual(yield* Effect.promise(() => page.evaluate("sessionStorage.length")), 0)
        yield* Effect.promise(async () => {
          await page.fill("#key", ` ${own} `)
          await page.keyboard.press("Enter")
          await page.locator(".console-tabs").getByText(tab, { exact: true }).click()
          await page.waitForSelector("#keys table")
          await page.reload()
          await page.waitForSelector("#keys table")
          assert.notInclude(page.url(), "atb_")
          await page.click("text=Sign out")
          await page.waitForSelector("#key")
        })
        assert.strictEqual(yield* Effect.promise(() => page.evaluate("sessionStorage.length + localStorage.length")), 0)
      }
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)
