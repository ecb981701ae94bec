/**
 * Payouts in a browser, with a double of the payment processor: onboarding, requirements, payout.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser } from "../../support/market/Browser.ts"
import { agree, entered, openTab, press, says, seen, settled } from "../../support/market/ProviderPage.ts"
import { bought, got } from "../../support/market/HttpMarket.ts"
import { paidMarket } from "../../support/market/PaidMarket.ts"

it.live.skipIf(!hasBrowser)(
  "a provider sets up payouts at the processor and is paid once",
  () =>
    Effect.gen(function* () {
      const { developer, double, seller, url } = yield* paidMarket
      yield* bought(url, developer, "search", 2)

      const { complaints, page } = yield* entered(yield* browser, url, seller.key)
      yield* openTab(page, "Earnings and payouts")
      assert.include(yield* seen(page, "#payouts"), "You need $2.80 more for a payout.")
      assert.include(yield* seen(page, "#payouts"), "Not set up")
      yield* bought(url, developer, "search", 1)
      yield* Effect.promise(() => page.reload())
      yield* settled(page)

      // Not before the account is complete.
      yield* press(page, "#payouts", "Pay out $10.80")
      yield* agree(page, "Pay out")
      yield* says(page, ".announcements", "Complete your account first")

      const visit = Effect.fnUntraced(function* (label: string, choice: string) {
        yield* press(page, "#payouts", label)
        yield* Effect.promise(async () => {
          await page.waitForURL(`${double.url}/onboard/**`)
          await page.click(`button[value=${choice}]`)
          await page.waitForURL(`${url}/provider/earnings`)
        })
        yield* settled(page)
      })
      yield* visit("Set up payouts", "leave")
      assert.match(yield* seen(page, "#payouts"), /Required now External account/u)
      yield* visit("Update payout account", "complete")
      assert.match(yield* seen(page, "#payouts"), /Complete Payouts are enabled\./u)

      yield* press(page, "#payouts", "Pay out $10.80")
      yield* agree(page, "Pay out")
      yield* says(page, ".announcements", "$10.80 was sent to your account.")
      yield* settled(page)
      assert.match(yield* seen(page, "#payouts table"), /\$10\.80 Paid .* tr_/u)
      assert.include(yield* seen(page, "#payouts"), "You need $10.00 more for a payout.")
      assert.strictEqual((yield* got(`${url}/api/market/payouts`, seller.key))["pending_cents"], 0)
      assert.strictEqual(double.requests.filter((one) => one === "POST /v1/transfers").length, 1)
      // The key was never part of a URL.
      assert.isFalse(double.requests.some((one) => one.includes("atb_p_")))
      assert.deepStrictEqual(
        complaints.filter((one) => !/status of 4\d\d|favicon/u.test(one)),
        []
      )
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)
