/**
 * A tool's page in a browser: details, quote, call, curl command.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { catalogShop, ROUTE } from "../../support/market/CatalogShop.ts"
import { forwarded } from "../../support/metering/Provider.ts"
import { json, post } from "../../support/servers/ServiceProcess.ts"
import { enter, fillIn, press, promise, shown, SLOW } from "../../support/market/ToolPage.ts"

const command = (page: Page) => promise(() => page.innerText("#call .copyable code"))
const faultOf = (page: Page, name: string) =>
  promise(() =>
    page
      .locator(".field")
      .filter({ has: page.getByLabel(name, { exact: true }) })
      .locator(".fault")
      .innerText()
  )
const balanceOf = (url: string, key: string) =>
  Effect.map(
    json(`${url}/api/v1/market/balance`, { headers: { authorization: `Bearer ${key}` } }),
    ({ body }) => body["balance_microcents"]
  )

it.live.skipIf(!hasBrowser)(
  "a tool is quoted and called from its page at the displayed price, with a receipt",
  () =>
    Effect.gen(function* () {
      const { adaKey, key, routeId, server, url } = yield* catalogShop
      const { asked: addresses, complaints, page } = yield* open(yield* browser, `${url}/catalog?q=route`)
      yield* promise(() => page.getByRole("link", { name: "Route planner" }).click())
      yield* shown(page, "h1", /Route planner/u)

      // Price history, terms and provider.
      assert.deepStrictEqual(yield* promise(() => page.locator("tbody td:nth-child(2)").allInnerTexts()), [
        "$0.00125",
        "$0.0009"
      ])
      const said = yield* promise(() => page.innerText("main"))
      for (const part of [
        "Ada & Söhne",
        "Not rated",
        "Not verified",
        "On success.",
        "0 calls per developer and month",
        "Knows closed roads."
      ]) {
        assert.include(said, part)
      }
      yield* shown(page, "#sla .empty", /No calls in the last 30 days/u)

      // Without a key there is a curl command, which follows the input.
      yield* shown(page, "#call label", /^to$/u)
      assert.include(yield* command(page), '"to": "…"')
      yield* fillIn(page, "to", `Rome's "centre"`)
      yield* fillIn(page, "limit (optional)", "3")
      assert.include(yield* command(page), `"to": "Rome'\\''s \\"centre\\"",`)
      assert.isFalse(yield* promise(() => page.getByRole("button", { name: "Get quote" }).isVisible()))
      const ran = yield* promise(async () =>
        promisify(execFile)("bash", ["-c", `${await page.innerText("#call .copyable code")} -s`], {
          env: { ...process.env, CONSUMER_KEY: key }
        })
      )
      assert.strictEqual((JSON.parse(ran.stdout) as { meta: { cost: string } }).meta.cost, "$0.00125")
      assert.deepStrictEqual(server.of("tools/call")[0]!.params["arguments"], {
        to: `Rome's "centre"`,
        by: "bike",
        limit: 3
      })

      // Invalid keys.
      yield* enter(page, `atb_c_${"0".repeat(32)}`)
      yield* shown(page, "#account [role=alert]", /Invalid API key/u)
      yield* enter(page, adaKey)
      yield* shown(page, "#account [role=alert]", /This is a provider key/u)
      yield* enter(page, key)
      yield* shown(page, "#account", /Billed to Curious agent/u)
      assert.strictEqual(yield* promise(() => page.getByLabel("to", { exact: true }).inputValue()), `Rome's "centre"`)

      // Enter gets a quote: the provider is not called.
      yield* promise(() => page.getByLabel("to", { exact: true }).press("Enter"))
      const quote = yield* shown(page, "#outcome .notice.good", /costs/u)
      assert.strictEqual(quote, "This call costs $0.00125. Balance after the call: $0.9975.")
      assert.strictEqual(forwarded(server), 1)

      // Errors are shown beside the field.
      yield* fillIn(page, "limit (optional)", "many")
      yield* fillIn(page, "stops (optional)", "[")
      yield* press(page, "Get quote")
      yield* shown(page, ".fault", /whole number/u)
      assert.strictEqual(yield* faultOf(page, "limit (optional)"), "Enter a whole number.")
      assert.strictEqual(yield* faultOf(page, "stops (optional)"), "Invalid JSON.")
      yield* fillIn(page, "limit (optional)", "11")
      yield* fillIn(page, "stops (optional)", '["Bern", 7]')
      yield* press(page, /^Call tool for/u)
      yield* shown(page, ".fault", /10/u)
      assert.match(yield* faultOf(page, "limit (optional)"), /10/u)
      assert.match(yield* faultOf(page, "stops (optional)"), /^1: /u)
      assert.strictEqual(forwarded(server), 1)

      // The call has typed arguments.
      yield* fillIn(page, "limit (optional)", "2")
      yield* fillIn(page, "stops (optional)", '["Bern"]')
      yield* fillIn(page, "speed (optional)", "12.5")
      yield* promise(() => page.getByLabel("by", { exact: true }).selectOption("foot"))
      yield* promise(() => page.getByLabel("scenic (optional)", { exact: true }).selectOption({ label: "No" }))
      yield* fillIn(page, "options (optional)", '{"tolls": false}')
      yield* press(page, "Call tool for $0.00125")
      const done = yield* shown(page, "#outcome .notice.good", /Succeeded in/u)
      assert.match(done, /Succeeded in \d+ ms\. Cost: \$0\.00125\. Balance: \$0\.9975\./u)
      assert.include(yield* promise(() => page.innerText("#outcome .result")), `It is 12 km to Rome's "centre"`)
      assert.deepStrictEqual(server.of("tools/call")[1]!.params["arguments"], {
        to: `Rome's "centre"`,
        by: "foot",
        stops: ["Bern"],
        limit: 2,
        speed: 12.5,
        scenic: false,
        options: { tolls: false }
      })
      yield* press(page, "Receipt")
      yield* shown(page, "dialog .notice.good", /Valid/u)
      assert.include(yield* promise(() => page.innerText("dialog")), routeId)
      yield* promise(() => page.keyboard.press("Escape"))
      assert.strictEqual(yield* balanceOf(url, key), 997_500)

      // JSON input keeps the values of the fields.
      yield* press(page, "Edit as JSON")
      const written = yield* promise(() => page.getByLabel("Arguments (JSON)").inputValue())
      assert.deepStrictEqual((JSON.parse(written) as { stops: unknown }).stops, ["Bern"])
      yield* fillIn(page, "Arguments (JSON)", '{"to": " two\\nlines ", "by": "car", "extra": null}')
      assert.include(yield* command(page), '"extra": null')
      yield* press(page, /^Call tool for/u)
      yield* shown(page, "#outcome .result", /two/u)
      assert.deepStrictEqual(server.of("tools/call")[2]!.params["arguments"], {
        to: " two\nlines ",
        by: "car",
        extra: null
      })
      yield* press(page, "Edit as fields")
      assert.lengthOf(
        complaints.filter((one) => !one.includes("401") && !one.includes("422")),
        0,
        complaints.join("; ")
      )
      assert.isTrue(addresses.every((one) => one.startsWith(url) || one.startsWith("data:")))
      assert.isFalse(addresses.some((one) => one.includes("atb_")))
    }).pipe(Effect.scoped),
  SLOW
)

it.live.skipIf(!hasBrowser)(
  "errors are shown, and a call is never charged twice or above the displayed price",
  () =>
    Effect.gen(function* () {
      const { adaKey, jamId, key, routeId, server, url } = yield* catalogShop
      const opened = yield* browser
      const { page } = yield* open(opened, `${url}/catalog/${jamId}`)
      yield* enter(page, key)
      yield* shown(page, "#account", /Billed to/u)

      // A free call with a tool error has a result and a receipt.
      yield* press(page, /^Call tool/u)
      const failure = yield* shown(page, "#outcome .notice.bad", /returned an error/u)
      assert.include(failure, "Cost: $0.00.")
      assert.include(yield* promise(() => page.innerText("#outcome .result")), "The road is <b>closed</b>")
      yield* press(page, "Receipt")
      yield* shown(page, "dialog", /error/u)
      yield* promise(() => page.keyboard.press("Escape"))

      // The provider raised its price after the page was loaded.
      yield* promise(() => page.goto(`${url}/catalog/${routeId}`))
      yield* shown(page, "#account", /Billed to/u)
      yield* post(`${url}/api/market/tools`, { tools: [{ ...ROUTE, price_microcents: 500_000 }] }, adaKey)
      yield* fillIn(page, "to", "Rome")
      const before = forwarded(server)
      yield* press(page, "Call tool for $0.00125")
      yield* shown(page, "#arguments [role=alert]", /version 3 is in effect/u)
      assert.strictEqual(forwarded(server), before)
      assert.strictEqual(yield* balanceOf(url, key), 1_000_000)

      // A lost response: the retry is the same call, and is charged once.
      yield* promise(() => page.reload())
      yield* shown(page, "#account", /Billed to/u)
      yield* fillIn(page, "to", "Rome")
      const keys: Array<string | undefined> = []
      let lost = true
      yield* promise(() =>
        page.route("**/api/market/proxy", async (route) => {
          keys.push(route.request().headers()["idempotency-key"])
          if (!lost) return route.continue()
          lost = false
          await route.fetch()
          return route.abort()
        })
      )
      yield* press(page, "Call tool for $0.50")
      yield* shown(page, "#arguments [role=alert]", /did not respond/u)
      yield* press(page, "Call tool for $0.50")
      yield* shown(page, "#outcome .notice.good", /Succeeded in/u)
      assert.strictEqual(keys.length, 2)
      assert.isDefined(keys[0])
      assert.strictEqual(keys[0], keys[1])
      assert.strictEqual(forwarded(server), before + 1)
      assert.strictEqual(yield* balanceOf(url, key), 500_000)
      // Calling again is another call.
      yield* press(page, "Call tool for $0.50")
      yield* shown(page, "#outcome .notice.good", /Balance: \$0\.00/u)
      assert.notStrictEqual(keys[2], keys[1])

      // Insufficient balance.
      yield* press(page, "Get quote")
      yield* shown(page, "#outcome .notice.bad", /Insufficient balance/u)
      yield* press(page, "Call tool for $0.50")
      yield* shown(page, "#arguments [role=alert]", /balance/u)

      // Signed out.
      yield* press(page, "Sign out")
      yield* shown(page, "#account label", /Your developer key/u)
    }).pipe(Effect.scoped),
  SLOW
)

it.live.skipIf(!hasBrowser)(
  "the button says that a call is free while the developer has free calls left",
  () =>
    Effect.gen(function* () {
      const { jamId, key, url } = yield* catalogShop
      const { page } = yield* open(yield* browser, `${url}/catalog/${jamId}`)
      yield* enter(page, key)
      yield* shown(page, "#arguments .actions", /Call tool for free/u)
    }).pipe(Effect.scoped),
  SLOW
)
