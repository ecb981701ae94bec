/**
 * The developer's pages in a browser: registration, funds, calls, disputes, budgets, grants and keys.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { catalogShop } from "../../support/market/CatalogShop.ts"
import { post } from "../../support/servers/ServiceProcess.ts"

const EVIL = `<img src=x onerror="document.title='owned'">'"&`

const text = (page: Page, selector: string) => page.innerText(selector)
const openTab = (page: Page, title: string) => page.locator(".console-tabs").getByText(title, { exact: true }).click()
const waitsFor = (page: Page, selector: string, words: string) =>
  page.locator(selector).filter({ hasText: words }).first().waitFor()

const TABS = ["Overview", "Calls", "Keys", "Budgets", "Funds", "Invoices", "Disputes", "Connect a client", "Settings"]

/** Browsers log rejected requests. */
const unexpected = (complaints: ReadonlyArray<string>) =>
  complaints.filter((one) => !/status of 4\d\d/u.test(one) && !one.includes("Content Security Policy"))

it.live.skipIf(!hasBrowser)(
  "a developer registers, adds funds, disputes a call, sets limits and rotates the key",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const { complaints, page } = yield* open(yield* browser, `${shop.url}/developers/register`)
      const key = yield* Effect.promise(async () => {
        await page.fill("#developer-name", EVIL)
        await page.click("button[type=submit]")
        assert.include(await text(page, "#developer-email-fault"), "Email is required")
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
        await page.click("text=Open dashboard")
        await waitsFor(page, "#wallet", "Your balance is empty")
        assert.notInclude(page.url(), "atb_")
        assert.include(await text(page, "#dashboard"), `Signed in as ${EVIL}`)
        for (const [title, words] of [
          ["Overview", "No calls in this period"],
          ["Calls", "No calls in the last 30 days"],
          ["Budgets", "No budgets"],
          ["Budgets", "No grants"],
          ["Disputes", "No disputes"],
          ["Invoices", "No invoices yet"]
        ] as const) {
          await openTab(page, title)
          await waitsFor(page, "#dashboard", words)
          assert.include(await page.title(), title)
        }
        await openTab(page, "Funds")
        assert.strictEqual(new URL(page.url()).pathname, "/developer/funds")
        // Invalid amounts are rejected beside the field.
        await page.fill("#load-amount_cents", "five")
        await page.click("#load button")
        await waitsFor(page, "#load-amount_cents-fault", "Enter dollars and cents")
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
        // The tab survives a reload.
        await page.reload()
        await waitsFor(page, "#tab-funds #wallet .figures", "$4.99875")
        await openTab(page, "Overview")
        await waitsFor(page, "#wallet .figures", "$4.99875")
        await waitsFor(page, "#spending", "$0.00125")
        await waitsFor(page, "#free-calls", "No free calls used this month")
        await page.waitForSelector("#spending canvas")
        await openTab(page, "Calls")
        await waitsFor(page, "#calls", "jam")
        await page.click("#calls tbody tr:has-text('maps/route') a")
        await waitsFor(page, "#tab-calls", "Valid: signed by this service")
        assert.match(page.url(), /\/developer\/calls\/rcpt_[0-9a-f]+$/u)
        await waitsFor(page, "#tab-calls", "The list price at that time was $0.00125")
        await waitsFor(page, "#tab-calls", "Hold: price reserved")
        assert.match(await text(page, "#tab-calls .facts"), /Request ID\s+[0-9a-f-]{36}/u)
        await page.click("text=All fields")
        assert.include(await text(page, ".receipt-fields"), "1250")
        // The proof is loaded and verified with one click.
        await page.click("text=Verify receipt")
        await waitsFor(page, ".check-result", "Valid: entry")
        assert.strictEqual(await page.locator(".checks li").count(), 5)
        await page.fill("#new-dispute-description", EVIL)
        await page.click("text=File dispute")
        await waitsFor(page, "#dispute", "Waiting for provider")
        // The form is gone; the focus is not.
        await page.waitForSelector("#dispute h2:focus")
        // The call keeps its address, and the back button returns to the list.
        await page.reload()
        await waitsFor(page, "#dispute", "Waiting for provider")
        await page.goBack()
        await waitsFor(page, "#calls", "jam")
        await openTab(page, "Disputes")
        await waitsFor(page, "#disputes", "Waiting for provider")
        await page.click("#disputes tbody a")
        await waitsFor(page, "#tab-disputes", EVIL)
        await waitsFor(page, "#tab-disputes .facts", "maps/route (rcpt_")
        // An address with a wrong ID has no advice about the API, and nothing to retry.
        await page.goto(`${shop.url}/developer/calls/rcpt_1`)
        await waitsFor(page, "#tab-calls .notice", "Not found")
        assert.strictEqual(await page.getByRole("button", { name: "Try again" }).count(), 0)

        await openTab(page, "Budgets")
        await page.click("#budgets summary")
        await page.fill("#budget-cap_microcents", "2.50")
        await page.click("#budget button")
        await waitsFor(page, "#budgets table", "$2.50 per day")
        await waitsFor(page, "#budgets", "Budget created: $2.50 per day.")
        await page.click("#budgets table >> text=Delete")
        await page.click("dialog button >> text=Delete budget")
        await waitsFor(page, "#budgets", "No budgets")
        await page.fill("#budget-tool_id", shop.routeId)
        await page.fill("#budget-provider_id", shop.adaId)
        await page.selectOption("#budget-period", "month")
        const [request] = await Promise.all([
          page.waitForRequest((one) => one.method() === "POST" && one.url().endsWith("/market/budgets")),
          page.click("#budget button")
        ])
        assert.deepStrictEqual(request.postDataJSON(), {
          cap_microcents: 5_000_000,
          period: "month",
          tool_id: shop.routeId,
          provider_id: shop.adaId
        })
        await waitsFor(page, "#budgets table", "ada-sohne/maps/route")
        // By its name, which people know, the same tool has the same budget.
        await page.fill("#budget-tool_id", "ada-sohne/maps/route")
        const [byName] = await Promise.all([
          page.waitForRequest((one) => one.method() === "POST" && one.url().endsWith("/market/budgets")),
          page.click("#budget button")
        ])
        assert.strictEqual((byName.postDataJSON() as { readonly tool_id: string }).tool_id, shop.routeId)

        await page.click("#grants summary")
        await page.fill("#grant-provider_id", shop.adaId)
        await page.click("#grant button")
        await waitsFor(page, "#grants table", "$5.00 per month")
        await waitsFor(page, "#grants table", "Ada & Söhne, all tools")
        await page.click("#grants table >> text=Revoke")
        await page.click("dialog button >> text=Revoke grant")
        await waitsFor(page, "#grants table", "Revoked")

        await openTab(page, "Keys")
        await page.click("#keys table >> text=Rotate")
        await page.click("dialog button >> text=Rotate key")
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
  "after a checkout, the page waits for the credit and says whether it is pending, received or canceled",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const { complaints, page } = yield* open(yield* browser, `${shop.url}/developers/dashboard?load=canceled`)
      yield* Effect.promise(async () => {
        await page.fill("#key", shop.key)
        await page.click("button[type=submit]")
        assert.strictEqual(new URL(page.url()).pathname, "/developer/funds")
        await waitsFor(page, "#wallet", "Payment canceled. Nothing was charged.")
        // As the form does before the browser leaves for the checkout.
        await page.evaluate(
          `sessionStorage.setItem("agent-tool-billing.checkout", JSON.stringify({ funds: 1_000_000 }))`
        )
        await page.goto(`${shop.url}/developers/dashboard?load=success`)
        await waitsFor(page, "#wallet", "Payment pending.")
        await waitsFor(page, "#wallet .figures", "$1.00")
      })
      yield* post(`${shop.url}/api/market/balance/load`, { amount_cents: 500 }, shop.key)
      yield* Effect.promise(async () => {
        await waitsFor(page, "#wallet", "Payment received. Your available balance is $6.00.")
        await page.click("text=Sign out")
        await page.waitForSelector("#key")
        assert.strictEqual(await page.evaluate("sessionStorage.length + localStorage.length"), 0)
      })
      assert.deepStrictEqual(unexpected(complaints), [])
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)

it.live.skipIf(!hasBrowser)(
  "the dashboard opens only with a developer key",
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
        await enter(`atb_c_${"0".repeat(72)}`, "Invalid API key")
        await enter("nonsense", "Invalid API key")
        await enter(shop.adaKey, "This is a provider key")
        assert.strictEqual(await page.evaluate("sessionStorage.length"), 0)
        await enter(shop.key, "Signed in as Curious agent")
        // The key is kept in the tab, unless it is no longer valid.
        await page.reload()
        await waitsFor(page, "#dashboard", "Signed in as Curious agent")
        await page.evaluate(`sessionStorage.setItem("agent-tool-billing.consumer", "atb_c_${"1".repeat(72)}")`)
        await page.reload()
        await waitsFor(page, "#dashboard", "Invalid API key")
        // A key that is rejected while the console is open says so as well.
        await enter(shop.key, "Signed in as Curious agent")
        await page.route("**/api/v1/market/invoices*", (route) =>
          route.fulfill({ status: 401, json: { code: "UNAUTHORIZED", detail: "The API key has expired." } })
        )
        await openTab(page, "Invoices")
        await waitsFor(page, "#dashboard .notice", "You were signed out. The API key has expired.")
      })
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)

it.live.skipIf(!hasBrowser)(
  "home, registration and dashboard are accessible in light and dark, on desktop and phone",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const call = { tool_id: shop.routeId, input: { to: "Ulm", by: "car" } }
      for (let n = 0; n < 12; n++) yield* post(`${shop.url}/api/market/proxy`, call, shop.key)
      const opened = yield* browser
      for (const path of ["/", "/developers/register", "/providers/register"]) {
        const { complaints, page } = yield* open(opened, `${shop.url}${path}`)
        assert.deepStrictEqual(complaints, [], path)
        yield* isReadable(page, path.slice(1).replaceAll("/", "-") || "home")
      }
      const { complaints, page } = yield* open(opened, `${shop.url}/developers/dashboard`)
      yield* isReadable(page, "developer-signed-out")
      yield* Effect.promise(async () => {
        await page.fill("#key", shop.key)
        await page.click("button[type=submit]")
        await page.waitForSelector("#spending canvas")
      })
      for (const title of TABS) {
        yield* Effect.promise(async () => {
          await openTab(page, title)
          await page.locator("h1", { hasText: title }).waitFor()
          await page.waitForSelector(".loaded[aria-busy=true]", { state: "detached" })
        })
        yield* isReadable(page, `developer-${title}`)
      }
      yield* Effect.promise(async () => {
        await openTab(page, "Calls")
        await page.click("#calls tbody a >> nth=0")
        await page.click("text=Verify receipt")
        await waitsFor(page, ".check-result", "Valid: entry")
      })
      yield* isReadable(page, "developer-call")
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)
