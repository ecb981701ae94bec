/**
 * The provider dashboard: accessibility, earnings, statements, keys, access and escaping.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import {
  agree,
  DASHBOARD,
  follow,
  openTab,
  entered,
  press,
  says,
  seen,
  settled,
  signIn,
  unexpected
} from "../../support/market/ProviderPage.ts"
import {
  aDeveloper,
  aSeller,
  behind,
  bought,
  disputed,
  got,
  listed,
  loaded,
  OPERATOR_KEY,
  posted
} from "../../support/market/HttpMarket.ts"

const DAYS_BEHIND = 35
const DAY_MS = 86_400_000

const TABS = ["Overview", "Tools", "Calls", "Earnings and payouts", "Trust", "Disputes", "Settings"]

/** A provider with calls last month and today, and two disputes. */
const selling = Effect.gen(function* () {
  const month = new Date(Date.now() - DAYS_BEHIND * DAY_MS).toISOString().slice(0, 7)
  const service = yield* behind(DAYS_BEHIND)
  const { url } = service
  const { seller } = yield* aSeller(url)
  yield* listed(
    seller,
    { tool_name: "search", display_name: "Paper search", price_microcents: 2_000_000, free_tier_calls: 0 },
    { tool_name: "fetch", price_microcents: 12_345, free_tier_calls: 2 }
  )
  const developer = yield* aDeveloper(url)
  yield* loaded(url, developer, 10_000)
  yield* bought(url, developer, "search", 4)
  yield* service.today
  yield* posted(`${url}/api/v1/market/invoices/run`, { month }, OPERATOR_KEY)
  const [one, two] = yield* bought(url, developer, "search", 5)
  yield* bought(url, developer, "fetch", 6)
  yield* disputed(url, developer, one!, { description: "About another paper", evidence: { asked: "sea" } })
  yield* disputed(url, developer, two!, { reason: "overcharge" })
  return { url, seller, developer }
})

it.live.skipIf(!hasBrowser)(
  "the provider dashboard is accessible in light and dark, on desktop and phone",
  () =>
    Effect.gen(function* () {
      const { seller, url } = yield* selling
      const { seller: newcomer } = yield* aSeller(url, { name: "Newcomer", email: "new@example.org" })
      const opened = yield* browser
      for (const [name, key] of [
        ["provider", seller.key],
        ["newcomer", newcomer.key]
      ] as const) {
        const { complaints, page } = yield* entered(opened, url, key)
        for (const title of TABS) {
          yield* openTab(page, title)
          yield* Effect.promise(() =>
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
          )
          yield* isReadable(page, `${name}-${title}`)
        }
        yield* Effect.promise(() => page.setViewportSize({ width: 1_280, height: 900 }))
        if (name === "provider") {
          yield* openTab(page, "Tools")
          yield* follow(page, "#tools table", "Paper search")
          yield* isReadable(page, "provider-tool")
          for (const [title, where] of [
            ["Calls", "#calls"],
            ["Disputes", "#disputes"]
          ] as const) {
            yield* openTab(page, title)
            yield* Effect.promise(() => page.locator(`${where} tbody a`).first().click())
            yield* says(page, ".console-main", `← All ${title.toLowerCase()}`)
            yield* settled(page)
            yield* isReadable(page, `provider-${title}-detail`)
          }
        }
        assert.deepStrictEqual(complaints, [])
      }
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)

it.live.skipIf(!hasBrowser)(
  "the provider dashboard shows weekly earnings, statements and keys",
  () =>
    Effect.gen(function* () {
      const { seller, url } = yield* selling
      const { complaints, page } = yield* entered(yield* browser, url, seller.key)

      yield* openTab(page, "Earnings and payouts")
      // Four calls of five weeks ago are only in a longer period.
      assert.match(
        yield* seen(page, "#earnings dl"),
        /Net earnings \$9\.04444 .* Gross revenue \$10\.04938 Platform fee \$1\.00494 Calls 11/u
      )
      yield* Effect.promise(() => page.selectOption("#earnings-period", "all"))
      yield* says(page, "#earnings dl", "$16.24444")
      assert.match(yield* seen(page, "#earnings dl"), /Net earnings \$16\.24444 .* Calls 15/u)
      yield* Effect.promise(() => page.click("#earnings summary"))
      assert.match(yield* seen(page, "#earnings details"), /\$9\.04444 .*\$7\.20/u)

      // Statements are downloaded with the key in the header.
      assert.match(yield* seen(page, "#documents table"), /Statement ST-\d+-\d+ .* \$7\.20/u)
      for (const [label, form, begins] of [
        ["PDF", "pdf", "%PDF-"],
        ["HTML", "html", "<!doctype html>"]
      ] as const) {
        const file = yield* Effect.promise(async () => {
          const [download] = await Promise.all([
            page.waitForEvent("download"),
            page
              .locator("#documents table")
              .getByRole("button", { name: `as ${label}` })
              .click()
          ])
          return { name: download.suggestedFilename(), text: await readFile(await download.path(), "latin1") }
        })
        assert.match(file.name, new RegExp(`^ST-\\d+-\\d+\\.${form}$`, "u"))
        assert.isTrue(file.text.startsWith(begins), file.text.slice(0, 20))
      }

      yield* openTab(page, "Settings")
      // The signing secret is shown on request.
      yield* press(page, "#signing", "Show signing secret")
      const { secret } = yield* got(`${url}/api/v1/market/providers/signing-secret`, seller.key)
      yield* says(page, "#signing pre", String(secret))

      // Keys: create, rotate the current one, revoke the other.
      yield* Effect.promise(async () => {
        await page.fill("#new-key-form-label", "staging")
        await page.selectOption("#new-key-form-expires_at", "30")
        await page.click("#new-key-form button[type=submit]")
      })
      yield* says(page, "#keys #new-key", "atb_p_")
      const staging = yield* seen(page, "#new-key")
      assert.strictEqual((yield* got(`${url}/api/v1/market/whoami`, staging))["id"], seller.id)
      yield* settled(page)
      yield* Effect.promise(() =>
        page.locator("#keys tr", { hasText: "Current" }).getByRole("button", { name: "Rotate" }).click()
      )
      yield* Effect.promise(() => page.selectOption("#grace", "0"))
      yield* agree(page, "Rotate key")
      yield* says(page, ".announcements", "This tab now uses the new key.")
      yield* settled(page)
      const replaced = yield* seen(page, "#new-key")
      assert.notInclude([staging, seller.key], replaced)
      yield* Effect.promise(() =>
        page.locator("#keys tr", { hasText: "staging" }).getByRole("button", { name: "Revoke" }).click()
      )
      yield* agree(page, "Revoke key")
      yield* says(page, ".announcements", "Key revoked.")
      yield* settled(page)
      yield* Effect.promise(() => page.reload())
      yield* settled(page)
      assert.notInclude(yield* Effect.promise(() => page.content()), replaced)
      assert.match(yield* seen(page, "#keys table"), /Current Active/u)

      // Signing out clears the storage.
      yield* press(page, "#dashboard", "Sign out")
      yield* Effect.promise(() => page.waitForSelector("#key"))
      assert.strictEqual(
        yield* Effect.promise(() => page.evaluate<number>("sessionStorage.length + localStorage.length")),
        0
      )
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)

it.live.skipIf(!hasBrowser)(
  "the provider dashboard opens only with a provider key, and never shows texts as markup",
  () =>
    Effect.gen(function* () {
      const evil = `"><img src=x onerror="window.caught=1"><script>window.caught=1</script>{{7*7}}'`
      const { url } = yield* behind(0)
      const { seller } = yield* aSeller(url, { name: evil, description: evil })
      const tool = {
        tool_name: "search",
        display_name: evil,
        description: evil,
        price_microcents: 2_000_000,
        free_tier_calls: 0,
        input_schema: { type: "object", description: evil }
      }
      yield* listed(seller, tool)
      const developer = yield* aDeveloper(url, `Grace ${evil}`)
      yield* loaded(url, developer, 10_000)
      const [one, two] = yield* bought(url, developer, "search", 2)
      yield* disputed(url, developer, one!, { reason: "other", description: evil, evidence: { [evil]: evil } })
      const other = yield* disputed(url, developer, two!, { description: evil })
      const answer = { action: "contest", message: evil }
      yield* posted(`${url}/api/v1/market/disputes/${other["dispute_id"]}/respond`, answer, seller.key)
      yield* posted(`${url}/api/v1/market/keys`, { label: evil.slice(0, 100) }, seller.key)

      const opened = yield* browser
      const refused = yield* open(opened, `${url}${DASHBOARD}`)
      for (const [key, words] of [
        ["nonsense", "Invalid API key."],
        [`${seller.key.slice(0, -1)}x`, "Invalid API key."],
        [developer, "This is a developer key. Use it on the developer dashboard."],
        [OPERATOR_KEY, "This is an operator key."]
      ] as const) {
        yield* signIn(refused.page, key)
        yield* says(refused.page, "[role=alert]", words)
        assert.strictEqual(yield* Effect.promise(() => refused.page.evaluate<number>("sessionStorage.length")), 0)
        assert.strictEqual(yield* Effect.promise(() => refused.page.locator(".console-tabs").count()), 0)
      }
      assert.deepStrictEqual(unexpected(refused.complaints, 401, 403), [])

      const { complaints, page } = yield* entered(opened, url, seller.key)
      const showsEvil = (where: string, times: number) =>
        Effect.promise(async () => {
          const shown = await page.locator(where).first().textContent()
          assert.isAtLeast(shown!.split(evil).length - 1, times, where)
        })
      yield* showsEvil(".console-account", 1)
      yield* openTab(page, "Disputes")
      yield* showsEvil("#disputes table", 2)
      yield* Effect.promise(() =>
        page.locator("#disputes tbody tr").filter({ hasText: "Other" }).locator("a").first().click()
      )
      yield* says(page, "blockquote", evil)
      yield* Effect.promise(() => page.locator("summary").filter({ hasText: "Evidence" }).click())
      assert.include(yield* seen(page, ".console-main pre"), JSON.stringify(evil))
      yield* openTab(page, "Settings")
      assert.include(yield* seen(page, "#keys table"), "<script>")
      yield* openTab(page, "Tools")
      yield* showsEvil("#tools table", 1)
      yield* Effect.promise(() => page.locator("#tools tbody a").first().click())
      yield* says(page, ".console-main h2", evil)
      assert.strictEqual(yield* Effect.promise(() => page.inputValue("#edit-tool-description")), evil)
      assert.include(yield* Effect.promise(() => page.inputValue("#edit-tool-input_schema")), JSON.stringify(evil))
      // Saving without changes changes nothing.
      yield* Effect.promise(() => page.click("#edit-tool button[type=submit]"))
      yield* says(page, ".announcements", "The price is unchanged.")
      assert.strictEqual(yield* Effect.promise(() => page.locator("#dashboard img, #dashboard script").count()), 0)
      assert.isFalse(yield* Effect.promise(() => page.evaluate<boolean>("'caught' in window")))
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  { timeout: 400_000 }
)
