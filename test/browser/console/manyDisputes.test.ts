/**
 * Paging of disputes, and disputed calls.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { aDeveloper, aSeller, behind, bought, disputed, listed, loaded } from "../../support/market/HttpMarket.ts"

/** The daily limit. */
const A_DAY = 20

it.live.skipIf(!hasBrowser)(
  "a developer pages through disputes and sees all disputed calls marked",
  () =>
    Effect.gen(function* () {
      const { today, url } = yield* behind(2)
      const { seller } = yield* aSeller(url)
      yield* listed(seller, { tool_name: "search", price_microcents: 1_000, free_tier_calls: 0 })
      const key = yield* aDeveloper(url)
      yield* loaded(url, key, 1_000)
      for (const id of yield* bought(url, key, "search", A_DAY)) yield* disputed(url, key, id)
      yield* today
      const [newest] = yield* bought(url, key, "search", 1)
      yield* disputed(url, key, newest!)

      const { page } = yield* open(yield* browser, `${url}/developers/dashboard`)
      yield* Effect.promise(async () => {
        await page.fill("#key", key)
        await page.click("form button[type=submit]")
        const openTab = (title: string) => page.locator(".console-tabs").getByText(title, { exact: true }).click()
        await openTab("Disputes")
        const rows = page.locator("#disputes tbody tr")
        await rows.first().waitFor()
        assert.strictEqual(await rows.count(), A_DAY)
        await page.locator("#disputes").getByRole("button", { name: "Show more" }).click()
        await rows.nth(A_DAY).waitFor()
        assert.strictEqual(await page.locator("#disputes").getByRole("button", { name: "Show more" }).count(), 0)

        await openTab("Calls")
        const calls = page.locator("#calls tbody tr")
        await calls.nth(A_DAY - 1).waitFor()
        await page.locator("#calls").getByRole("button", { name: "Show more" }).click()
        await calls.nth(A_DAY).waitFor()
        assert.strictEqual(await calls.filter({ hasText: "Disputed" }).count(), A_DAY + 1)
      })
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)
