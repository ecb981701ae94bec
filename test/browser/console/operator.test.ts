/**
 * The operator's console in a browser: signs in, decides a dispute, freezes an account, and sees the audit trail.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { catalogShop, OPERATOR_KEY } from "../../support/market/CatalogShop.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { post } from "../../support/servers/ServiceProcess.ts"

const EVIL = `<img src=x onerror="document.title='owned'">'"&`

const openTab = (page: Page, title: string) => page.locator(".console-tabs").getByText(title, { exact: true }).click()
const waitsFor = (page: Page, selector: string, words: string) =>
  page.locator(selector).filter({ hasText: words }).first().waitFor()

const TABS = [
  "Overview",
  "Disputes",
  "Accounts",
  "Payouts",
  "Losses and claims",
  "Log and witness",
  "Jobs",
  "Audit trail"
]

/** Browsers log rejected requests. */
const unexpected = (complaints: ReadonlyArray<string>) =>
  complaints.filter((one) => !/status of 4\d\d/u.test(one) && !one.includes("Content Security Policy"))

it.live.skipIf(!hasBrowser)(
  "an operator signs in, sees solvency, decides a dispute, freezes an account and signs out",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const api = (path: string, body: object, key?: string) => post(`${shop.url}${path}`, body, key)
      const registered = yield* api("/api/market/register-consumer", { name: EVIL, email: "evil@example.org" })
      const key = String(registered.body["api_key"])
      yield* api("/api/market/balance/load", { amount_cents: 500 }, key)
      const call = { tool_id: shop.routeId, input: { to: "Ulm", by: "car" } }
      const called = yield* api("/api/market/proxy", call, key)
      const receipt = (called.body["meta"] as { readonly receipt_id: string }).receipt_id
      const filing = { receipt_id: receipt, reason: "quality", description: EVIL, evidence: { got: EVIL } }
      const filed = yield* api("/api/v1/market/disputes", filing, key)
      const id = String(filed.body["dispute_id"])
      yield* api(`/api/v1/market/disputes/${id}/respond`, { action: "contest", message: EVIL }, shop.adaKey)

      const { complaints, page } = yield* open(yield* browser, `${shop.url}/operator`)
      yield* Effect.promise(async () => {
        await page.fill("#name", "Ada Lovelace")
        await page.fill("#key", "a wrong key")
        await page.click("button[type=submit]")
        await waitsFor(page, ".notice", "not the operator's key")
        await page.fill("#key", OPERATOR_KEY)
        await page.click("button[type=submit]")
        await waitsFor(page, "#solvency", "All spendable money is backed")
        await waitsFor(page, "#waiting .figure", "Disputes to decide")
        // No script can read the session, and the key is nowhere.
        assert.strictEqual(await page.evaluate("document.cookie"), "")
        assert.strictEqual(await page.evaluate("sessionStorage.length + localStorage.length"), 0)
        assert.include(await page.innerText("#dashboard"), "Signed in as Ada Lovelace.")
      })
      yield* isReadable(page, "operator-overview")

      yield* Effect.promise(async () => {
        await openTab(page, "Disputes")
        await page.fill("#disputes input[type=search]", "Ada & S")
        await waitsFor(page, "#disputes tbody tr", "Ada & Söhne")
        await page.fill("#disputes input[type=search]", "a name that is on no dispute")
        await waitsFor(page, "#disputes .empty", "No matches")
        await page.fill("#disputes input[type=search]", "")
        await page.locator("#disputes tbody tr a").first().click()
        await waitsFor(page, ".facts", `${EVIL} (`)
        await waitsFor(page, ".facts", "Ada & Söhne (")
        await page.selectOption("#decision-resolution", "resolved_refund")
        await page.fill("#decision-note", "The receipt agrees.")
      })
      yield* isReadable(page, "operator-dispute")
      yield* Effect.promise(async () => {
        await page.click("#decision button[type=submit]")
        await page.locator("dialog").getByRole("button", { name: "Refund", exact: true }).click()
        await waitsFor(page, ".announcements", "Dispute decided.")
        await page.waitForSelector(".console-main h1:focus")
        await waitsFor(page, ".facts", "Refunded")

        await openTab(page, "Accounts")
        await page.fill("#accounts input[type=search]", "evil@")
        await page.keyboard.press("Enter")
        await page.locator("#accounts tbody tr").filter({ hasText: "evil@example.org" }).locator("a").first().click()
        await waitsFor(page, ".facts", "evil@example.org")
        await page.fill("#freeze-reason", "Fraud is suspected.")
        await page.click("#freeze button[type=submit]")
        await waitsFor(page, ".announcements", "The account is frozen.")
        await waitsFor(page, ".notice", "Fraud is suspected.")
      })
      const refused = yield* api("/api/market/proxy", call, key)
      assert.strictEqual(refused.status, 403)
      yield* isReadable(page, "operator-account")
      yield* Effect.promise(async () => {
        await page.fill("#unfreeze-reason", "The suspicion was unfounded.")
        await page.click("form#unfreeze button[type=submit]")
        await waitsFor(page, ".announcements", "The account is unfrozen.")
      })
      assert.strictEqual((yield* api("/api/market/proxy", call, key)).status, 200)

      yield* Effect.promise(async () => {
        await openTab(page, "Accounts")
        await page.selectOption("#accounts-kind", "providers")
        await page.locator("#accounts tbody tr").filter({ hasText: "Ada & Söhne" }).locator("a").first().click()
        await waitsFor(page, ".facts", "ada@example.org")
        await page.fill("#freeze-reason", EVIL)
        await page.click("#freeze button[type=submit]")
        await waitsFor(page, ".announcements", "The account is frozen.")
        await waitsFor(page, ".notice", EVIL)
      })
      yield* isReadable(page, "operator-frozen-provider")
      const provider = yield* open(yield* browser, `${shop.url}/provider`)
      yield* Effect.promise(async () => {
        await provider.page.fill("#key", shop.adaKey)
        await provider.page.click("button[type=submit]")
        for (const title of ["Tools", "Calls", "Earnings and payouts", "Trust", "Disputes", "Settings", "Overview"]) {
          await openTab(provider.page, title)
          await provider.page.waitForSelector(".loaded[aria-busy=false]")
          const notice = await provider.page.innerText("#frozen")
          for (const words of ["has been frozen since", EVIL, "not listed", "contact the operator"]) {
            assert.include(notice, words, title)
          }
        }
      })
      yield* isReadable(provider.page, "provider-frozen")
      yield* Effect.promise(async () => {
        await provider.page.goto(`${shop.url}/catalog/${shop.routeId}`)
        await waitsFor(provider.page, ".notice", "not for sale at present")
      })
      yield* isReadable(provider.page, "tool-frozen")
      yield* Effect.promise(async () => {
        await page.fill("#unfreeze-reason", "The suspicion was unfounded.")
        await page.click("form#unfreeze button[type=submit]")
        await waitsFor(page, ".announcements", "The account is unfrozen.")
        await provider.page.goto(`${shop.url}/provider`)
        await provider.page.waitForSelector(".loaded[aria-busy=false]")
        assert.strictEqual(await provider.page.locator("#frozen").count(), 0)
      })

      for (const title of TABS.slice(2)) {
        yield* Effect.promise(async () => {
          await openTab(page, title)
          await page.waitForSelector(".loaded[aria-busy=false]")
          assert.include(await page.title(), title)
        })
        yield* isReadable(page, `operator-${title.toLowerCase().replaceAll(" ", "-")}`)
      }
      yield* Effect.promise(async () => {
        await openTab(page, "Log and witness")
        await waitsFor(page, "#log", "does not know whether a witness follows the log")
        await openTab(page, "Audit trail")
        for (const words of ["Froze an account", "Decided a dispute", "Fraud is suspected.", "Ada Lovelace"]) {
          await waitsFor(page, "#audit tbody", words)
        }
        await page.reload()
        await waitsFor(page, "#audit tbody", "Unfroze an account")
        assert.notInclude(await page.title(), "owned")
        await page.click("text=Sign out")
        await page.waitForSelector("#key")
        await page.reload()
        await page.fill("#name", "Ada Lovelace")
        await page.fill("#key", OPERATOR_KEY)
        await page.click("button[type=submit]")
        await page.click("#end-sessions summary")
        await page.fill("#end-all-reason", "A laptop was stolen.")
        await page.click("#end-sessions button")
        await page.waitForSelector("#key")
        await page.reload()
        await page.waitForSelector("#key")
      })
      assert.deepStrictEqual(unexpected(complaints), [])
    }).pipe(Effect.scoped),
  { timeout: 300_000 }
)
