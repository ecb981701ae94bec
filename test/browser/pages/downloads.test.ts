/**
 * What leaves the consoles: lists as CSV, an account's data as JSON, and unspent funds.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import type { Page } from "playwright-core"
import { browser, hasBrowser } from "../../support/market/Browser.ts"
import { catalogShop } from "../../support/market/CatalogShop.ts"
import { entered, openTab, press, says, seen, settled } from "../../support/market/ProviderPage.ts"
import { post } from "../../support/servers/ServiceProcess.ts"

const SUCCESSES = 21
const FAILURES = 2

/** The file that a button of the page saves. */
const saved = (page: Page, label: string) =>
  Effect.promise(async () => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".console-main").getByRole("button", { name: label, exact: true }).click()
    ])
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") }
  })

const linesOf = (csv: string) => csv.split("\r\n").filter((line) => line !== "")

/** A developer with more calls than a page of the list. */
const calling = Effect.gen(function* () {
  const shop = yield* catalogShop
  yield* post(`${shop.url}/api/market/balance/load`, { amount_cents: 500 }, shop.key)
  const call = (tool_id: string, input: object) => post(`${shop.url}/api/market/proxy`, { tool_id, input }, shop.key)
  for (let n = 0; n < SUCCESSES; n++) yield* call(shop.routeId, { to: "Ulm", by: "car" })
  for (let n = 0; n < FAILURES; n++) yield* call(shop.jamId, {})
  return shop
})

it.live.skipIf(!hasBrowser)(
  "a developer exports all pages of a list as CSV, with its filters, and all data as JSON",
  () =>
    Effect.gen(function* () {
      const shop = yield* calling
      const { complaints, page } = yield* entered(yield* browser, shop.url, shop.key, "/developer")
      yield* openTab(page, "Calls")
      // The list shows one page of the calls.
      yield* says(page, "#calls", "20 rows, more available")
      const all = yield* saved(page, "Export CSV")
      assert.strictEqual(all.name, "calls.csv")
      const [header, ...rows] = linesOf(all.text)
      assert.strictEqual(header, "Time,Tool,Outcome,Cost,Duration,Receipt,Dispute")
      assert.strictEqual(rows.length, SUCCESSES + FAILURES)
      assert.strictEqual(rows.filter((row) => row.includes(",maps/route,success,$0.00125,")).length, SUCCESSES)
      assert.strictEqual(new Set(rows.map((row) => /rcpt_[0-9a-f]+/u.exec(row)![0])).size, rows.length)
      yield* says(page, ".announcements", "Exported 23 rows.")
      yield* Effect.promise(() => page.selectOption("#calls-status", "error"))
      yield* says(page, "#calls", "2 rows")
      const failed = yield* saved(page, "Export CSV")
      assert.deepStrictEqual(
        linesOf(failed.text).map((line) => line.split(",")[2]),
        ["Outcome", "error", "error"]
      )

      yield* openTab(page, "Settings")
      const exported = yield* saved(page, "Export data")
      yield* says(page, ".announcements", "Data exported.")
      assert.match(exported.name, /^agent-tool-billing-[0-9a-f]{8}\.json$/u)
      const data = JSON.parse(exported.text) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
      assert.strictEqual(data["account"]!["name"], "Curious agent")
      assert.strictEqual(data["receipts"]!["is_complete"], true)
      assert.strictEqual((data["receipts"]!["items"] as ReadonlyArray<unknown>).length, SUCCESSES + FAILURES)
      for (const name of ["balance", "withdrawals", "keys", "grants", "toolbox", "invoices", "disputes"]) {
        assert.isObject(data[name], name)
      }
      assert.notInclude(exported.text, shop.key)
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)

it.live.skipIf(!hasBrowser)(
  "a provider exports its tools as CSV and all data as JSON",
  () =>
    Effect.gen(function* () {
      const shop = yield* calling
      const { complaints, page } = yield* entered(yield* browser, shop.url, shop.adaKey)
      yield* openTab(page, "Tools")
      const tools = yield* saved(page, "Export CSV")
      assert.deepStrictEqual(
        linesOf(tools.text).map((line) => line.split(",").slice(0, 2).join()),
        ["Tool,State", "jam,listed", "maps/route,listed"]
      )
      yield* openTab(page, "Settings")
      const exported = yield* saved(page, "Export data")
      const data = JSON.parse(exported.text) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
      assert.strictEqual(data["account"]!["id"], shop.adaId)
      assert.strictEqual(data["profile"]!["provider_id"], shop.adaId)
      assert.strictEqual((data["tools"]!["items"] as ReadonlyArray<unknown>).length, 2)
      assert.strictEqual((data["receipts"]!["items"] as ReadonlyArray<unknown>).length, SUCCESSES + FAILURES)
      assert.notInclude(exported.text, shop.adaKey)
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)

it.live.skipIf(!hasBrowser)(
  "a developer withdraws unspent funds",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const { complaints, page } = yield* entered(yield* browser, shop.url, shop.key, "/developer")
      yield* openTab(page, "Settings")
      yield* says(page, "#withdrawals", "from $1.00 to $1.00.")
      yield* post(`${shop.url}/api/market/balance/load`, { amount_cents: 500 }, shop.key)
      yield* openTab(page, "Overview")
      yield* openTab(page, "Settings")
      yield* says(page, "#withdrawals", "Any amount from $1.00 to $6.00.")
      for (const [amount, fault] of [
        ["six", "Enter dollars and cents"],
        ["0.50", "Enter an amount from $1.00 to $6.00."],
        ["6.01", "Enter an amount from $1.00 to $6.00."]
      ] as const) {
        yield* Effect.promise(() => page.fill("#withdraw-amount_cents", amount))
        yield* press(page, "#withdraw", "Withdraw funds")
        yield* says(page, "#withdraw .fault", fault)
      }
      yield* Effect.promise(() => page.fill("#withdraw-amount_cents", "2.50"))
      yield* press(page, "#withdraw", "Withdraw funds")
      yield* says(page, "#withdrawals table", "$2.50")
      assert.match(yield* seen(page, "#withdrawals tbody"), /Paid \$2\.50 \$0\.00 \$2\.50/u)
      yield* says(page, "#withdrawals", "from $1.00 to $3.50.")
      yield* openTab(page, "Funds")
      yield* settled(page)
      assert.match(yield* seen(page, "#wallet dl"), /Available balance \$3\.50/u)
      // Rejected amounts are logged by the browser.
      assert.deepStrictEqual(
        complaints.filter((one) => !/status of 4\d\d/u.test(one)),
        []
      )
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)
