/**
 * A developer's way through the pages in a real browser: joining, paying in, looking at calls, disputing one, capping
 * what agents spend, another key; and who is not let in.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../support/Browser.ts"
import { isReadable } from "../support/Looks.ts"
import { catalogShop } from "../support/CatalogShop.ts"
import { post } from "../support/ServiceProcess.ts"

const EVIL = `<img src=x onerror="document.title='owned'">'"&`

const text = (page: Page, selector: string) => page.innerText(selector)
const waitsFor = (page: Page, selector: string, words: string) =>
  page.locator(selector).filter({ hasText: words }).first().waitFor()

/** Refusals are answers that a browser reports as well. */
const unexpected = (complaints: ReadonlyArray<string>) =>
  complaints.filter((one) => !/status of 4\d\d/u.test(one) && !one.includes("Content Security Policy"))

it.live.skipIf(!hasBrowser)(
  "a developer joins, pays in, sees a call, disputes it, sets limits and changes the key",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const { complaints, page } = yield* open(yield* browser, `${shop.url}/developers/register`)
      const key = yield* Effect.promise(async () => {
        await page.fill("#developer-name", EVIL)
        await page.click("button[type=submit]")
        assert.include(await text(page, "#developer-email-fault"), "E-mail is needed")
        await page.fill("#developer-email", "no address")
        await page.click("button[type=submit]")
        await page.waitForSelector("#developer-email[aria-invalid]")
        await page.fill("#developer-email", "dev@example.org")
        await page.click("button[type=submit]")
        await page.waitForSelector("#new-key")
        return text(page, "#new-key")
      })
      assert.match(key, /^atb_c_[0-9a-f]{72}$/u)
      yield* Effect.promise(async () => {
        await page.click("text=Open your dashboard >> nth=0")
        await waitsFor(page, "#wallet", "nothing to spend yet")
        assert.notInclude(page.url(), "atb_")
        assert.include(await text(page, "#dashboard"), `Signed in as ${EVIL}`)
        for (const words of ["No calls in this time", "No budgets", "No grants", "No disputes", "No invoices yet"]) {
          await waitsFor(page, "#dashboard", words)
        }
        // What is no amount and what is too little is refused beside the field.
        await page.fill("#load-amount_cents", "five")
        await page.click("#load button")
        await waitsFor(page, "#load-amount_cents-fault", "Write dollars and cents")
        await page.fill("#load-amount_cents", "0.50")
        await page.click("#load button")
        await waitsFor(page, "#load-amount_cents-fault", "From $1.00")
        await page.fill("#load-amount_cents", "5.00")
        await page.click("#load button")
        await waitsFor(page, "#wallet .figures", "$5.00")
      })
      yield* post(`${shop.url}/api/market/proxy`, { tool_id: shop.routeId, input: { to: "Ulm", by: "car" } }, key)
      yield* post(`${shop.url}/api/market/proxy`, { tool_id: shop.jamId, input: {} }, key)
      yield* Effect.promise(async () => {
        await page.reload()
        await waitsFor(page, "#wallet .figures", "$4.99875")
        await waitsFor(page, "#spending", "$0.00125")
        await waitsFor(page, "#free-calls", "No free calls used this month")
        await waitsFor(page, "#calls", "jam")
        await page.waitForSelector("#spending canvas")
        await page.click("#calls tbody tr:has-text('maps/route') >> text=Receipt")
        await waitsFor(page, "dialog", "Valid: the signature")
        assert.include(await text(page, "dialog"), "1250")
        await page.keyboard.press("Escape")
        await page.click("#calls tbody tr:has-text('maps/route') >> text=Dispute")
        await page.fill("#dispute-description", EVIL)
        await page.click("text=File the dispute")
        await waitsFor(page, "#disputes", "waits for the provider")
        await waitsFor(page, "#calls table", "Disputed")

        await page.click("text=Set a budget")
        await page.fill("#budget-cap_microcents", "2.50")
        await page.click("text=Set it")
        await waitsFor(page, "#budgets table", "$2.50 a day")
        await waitsFor(page, "#budgets", "Set: at most $2.50 a day.")
        await page.click("#budgets table >> text=Remove")
        await page.click("dialog >> text=Remove it")
        await waitsFor(page, "#budgets", "No budgets")

        await page.click("text=Let a provider bill you")
        await page.fill("#grant-provider_id", shop.adaId)
        await page.click("text=Give the grant")
        await waitsFor(page, "#grants table", "$5.00 a month")
        await page.click("#grants table >> text=Take back")
        await page.click("dialog >> text=Take it back")
        await waitsFor(page, "#grants table", "Taken back")

        await page.click("#keys >> text=Replace")
        await page.click("dialog >> text=Replace it")
        await page.waitForSelector("#keys #new-key")
        const next = await text(page, "#keys #new-key")
        assert.match(next, /^atb_c_/u)
        assert.notStrictEqual(next, key)
        assert.strictEqual(await page.evaluate("sessionStorage.getItem('agent-tool-billing.consumer')"), next)
        assert.notStrictEqual(await page.title(), "owned")
        await page.click("text=Sign out")
        await page.waitForSelector("#key")
        assert.strictEqual(await page.evaluate("sessionStorage.length + localStorage.length"), 0)
      })
      assert.deepStrictEqual(unexpected(complaints), [])
    }).pipe(Effect.scoped),
  { timeout: 300_000 }
)

it.live.skipIf(!hasBrowser)(
  "the dashboard opens for a developer's key alone, and says why not",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const { page } = yield* open(yield* browser, `${shop.url}/developers/dashboard`)
      yield* Effect.promise(async () => {
        const enter = async (key: string, words: string) => {
          await page.fill("#key", key)
          await page.click("button[type=submit]")
          await waitsFor(page, "#dashboard", words)
        }
        await page.waitForSelector("#key")
        await enter(`atb_c_${"0".repeat(72)}`, "The service does not know this key")
        await enter("nonsense", "The service does not know this key")
        await enter(shop.adaKey, "This is a provider's key")
        assert.strictEqual(await page.evaluate("sessionStorage.length"), 0)
        await enter(shop.key, "Signed in as Curious agent")
        // The next page of the same tab is open at once; a key that has ended in the meantime is not.
        await page.reload()
        await waitsFor(page, "#dashboard", "Signed in as Curious agent")
        await page.evaluate(`sessionStorage.setItem("agent-tool-billing.consumer", "atb_c_${"1".repeat(72)}")`)
        await page.reload()
        await waitsFor(page, "#dashboard", "The service does not know this key")
      })
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)

it.live.skipIf(!hasBrowser)(
  "the first page, the ways in and the dashboard are readable in light and dark, wide and on a phone",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const call = { tool_id: shop.routeId, input: { to: "Ulm", by: "car" } }
      for (let n = 0; n < 12; n++) yield* post(`${shop.url}/api/market/proxy`, call, shop.key)
      const opened = yield* browser
      for (const path of ["/", "/developers/register", "/providers/register", "/developers/dashboard"]) {
        const { complaints, page } = yield* open(opened, `${shop.url}${path}`)
        if (path === "/developers/dashboard") {
          yield* Effect.promise(async () => {
            await page.fill("#key", shop.key)
            await page.click("button[type=submit]")
            await page.locator(".panel[aria-busy=false]").nth(8).waitFor()
            await page.waitForSelector("#spending canvas")
          })
        }
        assert.deepStrictEqual(complaints, [], path)
        yield* isReadable(page, path.slice(1).replaceAll("/", "-") || "home")
      }
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)
