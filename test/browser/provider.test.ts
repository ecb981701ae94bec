/**
 * The provider dashboard, from registration to the first payout.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser, open } from "../support/Browser.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { agree, press, says, seen, settled, unexpected } from "../support/ProviderPage.ts"
import { aDeveloper, bought, disputed, got, loaded } from "../support/HttpMarket.ts"
import { ready } from "../support/ServiceProcess.ts"
import { mailServer } from "../support/trust/MailServer.ts"

it.live.skipIf(!hasBrowser)(
  "a provider registers, lists a tool, is verified, earns, answers disputes and is paid",
  () =>
    Effect.gen(function* () {
      const mail = yield* mailServer
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", SMTP_URL: mail.url })
      const upstream = yield* providing(fine)
      const { asked, complaints, page } = yield* open(yield* browser, `${url}/providers/register`)
      const reload = Effect.andThen(
        Effect.promise(() => page.reload()),
        settled(page)
      )

      // The key is kept in the tab, never in a URL.
      yield* Effect.promise(async () => {
        await page.fill("[name=name]", "Ada Tools")
        await page.fill("[name=email]", "ada@example.org")
        await page.fill("[name=endpoint_url]", upstream.url)
        await page.click("form button[type=submit]")
        await page.click("text=Open dashboard")
      })
      yield* settled(page)
      assert.strictEqual(page.url(), `${url}/providers/dashboard`)
      assert.include(yield* seen(page, "#dashboard"), "Signed in as Ada Tools.")

      // Only onboarding is shown.
      assert.match(yield* seen(page, "#start"), /List a tool .* Receive the first call .* Verify your identity/u)
      assert.notInclude(yield* seen(page, "main"), "$0.00")
      assert.isFalse(yield* Effect.promise(() => page.isVisible("#earnings")))
      assert.isFalse(yield* Effect.promise(() => page.isVisible("nav [href='#earnings']")))

      // Errors of the API are shown beside the field.
      yield* press(page, "#tools", "List tool")
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
      yield* says(page, "#tools", "search is listed.")
      yield* settled(page)
      assert.match(yield* seen(page, "#tools table"), /search search \$2\.00 0 0/u)
      assert.include(yield* seen(page, "#start"), "List a tool Done")

      // Another price is another version.
      yield* press(page, "#tools table", "Edit search")
      yield* Effect.promise(async () => {
        assert.strictEqual(await page.inputValue("#edit-tool-price_microcents"), "2.00")
        await page.fill("#edit-tool-description", "Full text of papers")
        await page.click("#edit-tool button[type=submit]")
      })
      yield* says(page, "#tools", "The price is unchanged.")
      yield* press(page, "#tools table", "Edit search")
      yield* Effect.promise(async () => {
        await page.fill("#edit-tool-price_microcents", "2.50")
        await page.click("#edit-tool button[type=submit]")
      })
      yield* says(page, "#tools", "Price version 2: $2.50 per call")

      // Withdraw and list again.
      yield* press(page, "#tools table", "Withdraw search")
      yield* agree(page, "Withdraw tool")
      yield* says(page, "#tools", "search is withdrawn.")
      yield* settled(page)
      assert.match(yield* seen(page, "#tools table"), /search ?withdrawn search/iu)
      yield* press(page, "#tools table", "List search again")
      yield* says(page, "#tools", "search is listed again.")
      yield* settled(page)
      assert.notMatch(yield* seen(page, "#tools table"), /withdrawn/iu)

      // A verified email address is worth 10 points.
      yield* press(page, "#trust", "Send token")
      yield* says(page, "#trust", "A token was mailed to ada@example.org.")
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
      yield* reload
      assert.isFalse(yield* Effect.promise(() => page.isVisible("#start")))
      assert.match(
        yield* seen(page, "#earnings dl"),
        /Net earnings \$15\.75 .* Gross revenue \$17\.50 Platform fee \$1\.75 Calls 7/u
      )
      assert.match(yield* seen(page, "#earnings"), /search 7 \$17\.50 \$1\.75 \$15\.75/u)
      assert.match(yield* seen(page, "#calls dl"), /Calls 7 Success rate 100\.0%/u)
      yield* Effect.promise(() => page.selectOption("#earnings-period", "7d"))
      yield* settled(page)
      assert.include(yield* seen(page, "#earnings dl"), "$15.75")

      // Receipt of a call.
      yield* press(page, "#calls table", "Receipt")
      yield* says(page, "dialog", "Valid: signed by this service.")
      yield* agree(page, "Close")

      // One dispute is accepted, the other contested.
      const dispute = yield* disputed(url, developer, first!, { description: "About another paper" })
      const contested = yield* disputed(url, developer, second!, { reason: "overcharge" })
      yield* reload
      assert.match(yield* seen(page, "#disputes"), /Response required .*Poor result.*About another paper/u)
      assert.match(yield* seen(page, "#disputes .card >> nth=0"), /Respond by .*\(in [67] days\)/u)
      yield* press(page, "#disputes .card >> nth=0", "Refund $2.50")
      yield* agree(page, "Cancel")
      const stateOf = (id: unknown) =>
        Effect.map(got(`${url}/api/v1/market/disputes/${id}`, developer), (one) => one["status"])
      assert.strictEqual(yield* stateOf(dispute["dispute_id"]), "filed")
      yield* press(page, "#disputes .card >> nth=0", "Refund $2.50")
      yield* agree(page, "Refund")
      yield* says(page, "#disputes", "Dispute accepted: $2.50 refunded to the developer.")
      assert.strictEqual(yield* stateOf(dispute["dispute_id"]), "resolved_refund")
      yield* settled(page)
      yield* Effect.promise(async () => {
        await page.click("#disputes .card summary")
        await page.fill("#disputes .card textarea", "It is the price that the catalog shows")
        await page.click("#disputes .card form button")
      })
      yield* says(page, "#disputes", "The operator decides within 30 days.")
      assert.strictEqual(yield* stateOf(contested["dispute_id"]), "under_review")
      yield* settled(page)

      // The payout is a dry run.
      assert.include(yield* seen(page, "#payouts dl"), "$11.25")
      yield* press(page, "#payouts", "Pay out $11.25")
      yield* agree(page, "Pay out")
      yield* says(page, "#payouts", "Dry run: $11.25 would be paid out. Nothing was paid.")
      yield* press(page, "#payouts", "Set up payouts")
      yield* says(page, "#payouts", "No payment processor is configured")
      yield* Effect.promise(() => page.check("#automatic"))
      yield* says(page, "#payouts", "Automatic payouts are on")
      yield* reload
      assert.isTrue(yield* Effect.promise(() => page.isChecked("#automatic")))
      assert.deepStrictEqual(unexpected(complaints, 422, 503), [])
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
