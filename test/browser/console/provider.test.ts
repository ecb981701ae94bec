/**
 * The provider dashboard, from registration to the first payout.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { agree, follow, openTab, press, says, seen, settled, unexpected } from "../../support/market/ProviderPage.ts"
import { aDeveloper, bought, disputed, got, loaded } from "../../support/market/HttpMarket.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"
import { mailServer } from "../../support/trust/MailServer.ts"

it.live.skipIf(!hasBrowser)(
  "a provider registers, lists a tool, is verified, earns, answers disputes and is paid",
  () =>
    Effect.gen(function* () {
      const mail = yield* mailServer
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", SMTP_URL: mail.url })
      const upstream = yield* providing(fine)
      const { asked, complaints, page } = yield* open(yield* browser, `${url}/providers/register`)
      // The key is kept in the tab, never in a URL.
      yield* Effect.promise(async () => {
        await page.fill("[name=name]", "Ada Tools")
        await page.fill("[name=email]", "ada@example.org")
        await page.fill("[name=endpoint_url]", upstream.url)
        await page.click("form button[type=submit]")
        await page.click("text=Open dashboard")
      })
      yield* settled(page)
      assert.strictEqual(page.url(), `${url}/provider`)
      assert.include(yield* seen(page, "#dashboard"), "Signed in as Ada Tools.")

      // Only onboarding is shown.
      assert.match(yield* seen(page, "#start"), /List a tool .* Receive the first call .* Verify your identity/u)
      assert.notInclude(yield* seen(page, "main"), "$0.00")
      for (const [title, words] of [
        ["Tools", "No tools yet"],
        ["Calls", "No calls in the last 30 days"],
        ["Earnings and payouts", "No calls in this period"],
        ["Earnings and payouts", "No earnings yet"],
        ["Earnings and payouts", "No statements yet"],
        ["Disputes", "No disputes"]
      ] as const) {
        yield* openTab(page, title)
        yield* says(page, ".console-main", words)
      }

      // Errors of the API are shown beside the field.
      yield* openTab(page, "Tools")
      yield* follow(page, ".console-main", "List tool")
      yield* Effect.promise(async () => {
        await page.fill("#new-tool-tool_name", "search")
        await page.fill("#new-tool-category", "Search!")
        await page.fill("#new-tool-price_microcents", "two")
        await page.click("#new-tool button[type=submit]")
      })
      yield* says(page, "#new-tool-price_microcents-fault", "Enter an amount in dollars")
      yield* Effect.promise(async () => {
        await page.fill("#new-tool-price_microcents", "2")
        await page.fill("#new-tool-free_tier_calls", "0")
        await page.click("#new-tool button[type=submit]")
      })
      yield* says(page, "#new-tool-category-fault", "lowercase letters")
      assert.isTrue(
        yield* Effect.promise(() =>
          page.locator("#new-tool-category").evaluate((one) => one === document.activeElement)
        )
      )
      yield* Effect.promise(async () => {
        await page.fill("#new-tool-category", "search")
        await page.click("#new-tool button[type=submit]")
      })
      yield* says(page, ".announcements", "search is listed.")
      yield* settled(page)
      // The form is gone, so the heading has the focus.
      assert.strictEqual(
        yield* Effect.promise(() => page.evaluate<string>("document.activeElement.textContent")),
        "Tools"
      )
      assert.match(yield* seen(page, "#tools table"), /search Listed search \$2\.00 0 0/u)
      yield* openTab(page, "Overview")
      assert.include(yield* seen(page, "#start"), "List a tool Done")

      // Another price is another version.
      const edit = Effect.andThen(openTab(page, "Tools"), follow(page, "#tools table", "search"))
      yield* edit
      assert.match(page.url(), /\/provider\/tools\/[\da-f-]{36}$/u)
      yield* Effect.promise(async () => {
        assert.strictEqual(await page.inputValue("#edit-tool-price_microcents"), "2.00")
        await page.fill("#edit-tool-description", "Full text of papers")
        await page.click("#edit-tool button[type=submit]")
      })
      yield* says(page, ".announcements", "The price is unchanged.")
      yield* edit
      yield* Effect.promise(async () => {
        await page.fill("#edit-tool-price_microcents", "2.50")
        await page.click("#edit-tool button[type=submit]")
      })
      yield* says(page, ".announcements", "Price version 2: $2.50 per call")

      // Withdraw and list again.
      yield* settled(page)
      yield* press(page, "#tools table", "Withdraw search")
      yield* agree(page, "Withdraw tool")
      yield* says(page, ".announcements", "search is withdrawn.")
      yield* says(page, "#tools table", "Withdrawn")
      yield* press(page, "#tools table", "List search again")
      yield* says(page, ".announcements", "search is listed again.")
      yield* says(page, "#tools table", "Listed")
      yield* Effect.promise(() => page.selectOption("#tools-state", "withdrawn"))
      yield* says(page, "#tools", "No matches.")

      // A verified email address is worth 10 points.
      yield* openTab(page, "Trust")
      yield* press(page, "#verification", "Send token")
      yield* says(page, "#verification", "A token was mailed to ada@example.org.")
      const token = /"token": "([0-9a-f]{64})"/u.exec(mail.letters[0]!.text)![1]!
      yield* Effect.promise(async () => {
        await page.fill("#verify-email-token", "0".repeat(64))
        await page.click("#verify-email button[type=submit]")
      })
      yield* says(page, "#verify-email", "This token is wrong")
      yield* Effect.promise(async () => {
        await page.fill("#verify-email-token", token)
        await page.click("#verify-email button[type=submit]")
      })
      yield* says(page, "#verify-email", "ada@example.org is verified.")
      yield* says(page, "#trust", "Verify your endpoint's domain (20), or your source repository (25)")

      // First calls.
      const developer = yield* aDeveloper(url)
      yield* loaded(url, developer, 10_000)
      const [first, second] = yield* bought(url, developer, "search", 7)
      yield* openTab(page, "Overview")
      assert.isFalse(yield* Effect.promise(() => page.isVisible("#start")))
      yield* says(page, "#overview dl", "Trust score")
      assert.match(
        yield* seen(page, "#overview dl"),
        /Net earnings \$15\.75 .* Calls 7 .* Success rate 100% Available for payout/u
      )
      yield* openTab(page, "Earnings and payouts")
      assert.match(
        yield* seen(page, "#earnings dl"),
        /Net earnings \$15\.75 .* Gross revenue \$17\.50 Platform fee \$1\.75 Calls 7/u
      )
      assert.match(yield* seen(page, "#earnings"), /search 7 \$17\.50 \$1\.75 \$15\.75/u)
      yield* Effect.promise(() => page.selectOption("#earnings-period", "7d"))
      yield* says(page, "#earnings dl", "$15.75")
      assert.match(page.url(), /\/provider\/earnings\?period=7d$/u)

      // Receipt of a call.
      yield* openTab(page, "Calls")
      assert.match(yield* seen(page, "#call-totals dl"), /Calls 7 Success rate 100%/u)
      yield* Effect.promise(() => page.locator("#calls tbody a").first().click())
      yield* says(page, "#tab-calls", "Valid: signed by this service.")
      assert.match(page.url(), /\/provider\/calls\/rcpt_/u)

      // One dispute is accepted, the other contested.
      const dispute = yield* disputed(url, developer, first!, { description: "About another paper" })
      const contested = yield* disputed(url, developer, second!, { reason: "overcharge" })
      yield* openTab(page, "Overview")
      yield* says(page, ".notice", "2 disputes need your response")
      yield* openTab(page, "Disputes")
      yield* says(page, ".notice", "2 disputes need your response")
      yield* says(page, "#disputes table", "Response required")
      yield* Effect.promise(() =>
        page.locator("#disputes tbody tr").filter({ hasText: "About another paper" }).locator("a").first().click()
      )
      yield* says(page, ".facts", "Poor result")
      yield* says(page, "blockquote", "About another paper")
      assert.match(yield* seen(page, ".facts"), /Respond by .*\(in [67] days\)/u)
      yield* press(page, "#answer", "Refund $2.50")
      yield* agree(page, "Cancel")
      const stateOf = (id: unknown) =>
        Effect.map(got(`${url}/api/v1/market/disputes/${id}`, developer), (one) => one["status"])
      assert.strictEqual(yield* stateOf(dispute["dispute_id"]), "filed")
      yield* press(page, "#answer", "Refund $2.50")
      yield* agree(page, "Refund")
      yield* says(page, ".announcements", "Dispute accepted: $2.50 refunded to the developer.")
      assert.strictEqual(yield* stateOf(dispute["dispute_id"]), "resolved_refund")
      yield* says(page, ".facts", "Refunded")
      yield* Effect.promise(async () => {
        await page.goto(`${url}/provider/disputes/${String(contested["dispute_id"])}`)
        await page.fill("#contest-message", "It is the price that the catalog shows")
        await page.click("#contest button")
      })
      yield* says(page, ".announcements", "The operator decides within 30 days.")
      assert.strictEqual(yield* stateOf(contested["dispute_id"]), "under_review")
      yield* says(page, ".facts", "It is the price that the catalog shows")

      // A dry run simulates the payout.
      yield* openTab(page, "Earnings and payouts")
      assert.include(yield* seen(page, "#payouts dl"), "$11.25")
      assert.include(yield* seen(page, "#payout-account"), "payouts are simulated, so you need no payout account")
      yield* press(page, "#payouts", "Simulate a payout of $11.25")
      yield* says(page, "dialog", "A payout of $11.25 succeeds")
      yield* says(page, "dialog", "nothing was paid, and your balance is unchanged")
      yield* agree(page, "Close")
      yield* Effect.promise(() => page.check("#automatic"))
      yield* says(page, ".announcements", "Automatic payouts are on")
      yield* Effect.promise(() => page.reload())
      yield* settled(page)
      assert.isTrue(yield* Effect.promise(() => page.isChecked("#automatic")))
      assert.deepStrictEqual(unexpected(complaints, 422), [])
      const key = yield* Effect.promise(() => page.evaluate<string>("sessionStorage['agent-tool-billing.provider']"))
      assert.match(key, /^atb_p_[0-9a-f]{72}$/u)
      assert.notInclude(yield* Effect.promise(() => page.content()), key)
      assert.deepStrictEqual(
        asked.filter((one) => one.includes("atb_p_") || !one.startsWith(url)),
        []
      )
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)
