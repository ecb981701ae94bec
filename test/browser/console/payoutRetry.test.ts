/**
 * A failed payout in a browser, with a double of the payment processor: the provider reads why, the operator retries it,
 * and it is paid once, however often the retry is sent.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { bought, got, OPERATOR_KEY } from "../../support/market/HttpMarket.ts"
import { onboarded, paidMarket } from "../../support/market/PaidMarket.ts"
import { agree, entered, openTab, press, says, seen, settled, unexpected } from "../../support/market/ProviderPage.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { post } from "../../support/servers/ServiceProcess.ts"

const REASON = "The provider has completed its account."
const OPERATOR = "/api/v1/operator"

const asOperator = Effect.fnUntraced(function* (page: Page) {
  yield* Effect.promise(async () => {
    await page.fill("#name", "Ada Lovelace")
    await page.fill("#key", OPERATOR_KEY)
    await page.click("button[type=submit]")
  })
  yield* settled(page)
})

/** Opens the retry of the failed payout, and gives its reason. */
const retrying = Effect.fnUntraced(function* (page: Page) {
  yield* press(page, "#payouts tbody tr:has-text('Failed')", "Retry")
  yield* Effect.promise(() => page.fill("#retry-payout-reason", REASON))
})

it.live.skipIf(!hasBrowser)(
  "a payout that failed is retried by the operator and paid once",
  () =>
    Effect.gen(function* () {
      const { developer, double, seller, url } = yield* paidMarket
      yield* bought(url, developer, "search", 3)
      const account = yield* onboarded(double, seller)
      const opened = yield* browser
      const provider = yield* entered(opened, url, seller.key)
      yield* openTab(provider.page, "Earnings and payouts")

      // The processor restricts the account after the page was loaded.
      account.complete = false
      yield* press(provider.page, "#payouts", "Pay out $10.80")
      yield* agree(provider.page, "Pay out")
      yield* says(provider.page, ".announcements", "$10.80 was returned to your balance.")
      yield* settled(provider.page)
      const told = yield* seen(provider.page, "#payout-failed")
      assert.match(told, /Your payout of \$10\.80 failed on .* and the money is in your balance again/u)
      assert.include(told, "the stripe_transfers capability enabled.")
      assert.include(told, "Update your payout account")
      yield* isReadable(provider.page, "provider-failed-payout")
      assert.strictEqual(double.state.transfers.size, 0)

      const { complaints, page } = yield* open(opened, `${url}/operator`)
      yield* asOperator(page)
      assert.match(yield* seen(page, "#waiting"), /Failed payouts 1/u)
      yield* Effect.promise(() => page.locator("#waiting a", { hasText: "1" }).last().click())
      yield* says(page, "#payouts tbody tr", "the stripe_transfers capability enabled.")
      yield* says(page, "#payouts tbody tr", "Ada Tools")
      yield* isReadable(page, "operator-failed-payout")

      // Not before its cause is gone, and not without a reason.
      yield* press(page, "#payouts tbody tr", "Retry")
      yield* press(page, "dialog", "Retry payout")
      yield* says(page, "dialog", "Reason is required.")
      yield* Effect.promise(() => page.fill("#retry-payout-reason", REASON))
      yield* press(page, "dialog", "Retry payout")
      yield* says(page, "dialog .notice", "its payout account is not complete")
      yield* isReadable(page, "operator-retry-rejected")
      assert.strictEqual(double.state.transfers.size, 0)

      account.complete = true
      account.due = []
      yield* got(`${url}/api/market/connect`, seller.key)
      yield* Effect.promise(() => page.locator("dialog").getByRole("button", { name: "Retry payout" }).dblclick())
      yield* says(page, ".announcements", "A new payout of $10.80 was made.")
      yield* isReadable(page, "operator-retried-payout")
      const transfers = [...double.state.transfers.values()].map(({ amount, destination }) => [amount, destination])
      assert.deepStrictEqual(transfers, [[1_080, account.id]])

      // The provider has earned the same again. A retry that is sent again, after a reload and by several clients at once,
      // leaves it where it is.
      yield* bought(url, developer, "search", 3)
      yield* Effect.promise(() => page.reload())
      yield* settled(page)
      yield* retrying(page)
      yield* press(page, "dialog", "Retry payout")
      yield* says(page, ".announcements", "This payout was retried before. Nothing more was paid.")
      const failed = (yield* got(`${url}${OPERATOR}/payouts?state=failed`, OPERATOR_KEY))["payouts"] as ReadonlyArray<{
        readonly payout_id: string
      }>
      assert.strictEqual(failed.length, 1)
      const path = `${url}${OPERATOR}/payouts/${failed[0]!.payout_id}/retry`
      const again = yield* Effect.forEach(
        Array.from({ length: 4 }),
        () => post(path, { reason: REASON }, OPERATOR_KEY),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(
        again.map(({ body, status }) => [status, body["repeated"]]),
        again.map(() => [200, true])
      )
      assert.strictEqual(double.state.transfers.size, 1)
      assert.strictEqual(double.requests.filter((one) => one === "POST /v1/transfers").length, 2)

      // The books: $10.80 of $21.60 were paid out.
      const books = yield* got(`${url}/api/v1/market/ledger/trial-balance`, OPERATOR_KEY)
      assert.deepStrictEqual(
        [books["balanced"], books["unbacked_microcents"], books["shortfall_microcents"]],
        [true, 0, 0]
      )
      const solvency = yield* got(`${url}${OPERATOR}/solvency`, OPERATOR_KEY)
      assert.strictEqual(solvency["sent_microcents"], 10_800_000)
      const money = yield* got(`${url}/api/market/payouts`, seller.key)
      assert.deepStrictEqual([money["pending_cents"], money["available_cents"]], [1_080, 1_080])

      yield* openTab(page, "Audit trail")
      const trail = (yield* seen(page, "#audit tbody")).split("Retried a payout").slice(1)
      assert.isNotEmpty(trail)
      for (const entry of trail) {
        assert.include(entry, REASON)
        assert.include(entry, failed[0]!.payout_id)
      }
      assert.include(trail.at(-1), "Ada Lovelace")

      yield* Effect.promise(() => provider.page.reload())
      yield* settled(provider.page)
      assert.match(yield* seen(provider.page, "#payouts table"), /\$10\.80 Paid .* tr_.*\$10\.80 Failed/u)
      assert.strictEqual(yield* Effect.promise(() => provider.page.locator("#payout-failed").count()), 0)
      yield* isReadable(provider.page, "provider-retried-payout")
      assert.deepStrictEqual(unexpected([...complaints, ...provider.complaints], 401, 422), [])
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)
