/**
 * What scripts add to the documentation, and what works without them.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { Browser } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { json, ready } from "../../support/servers/ServiceProcess.ts"

class Site extends Context.Service<Site, { readonly url: string; readonly opened: Browser }>()(
  "agent-tool-billing/test/browser/docs/Site"
) {
  static readonly layer = Layer.effect(
    Site,
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", RATE_LIMIT_IP_RPM: "0" })
      return { url, opened: yield* browser }
    })
  )
}

const SLOW = { timeout: 180_000 }

it.layer(Site.layer, { timeout: "180 seconds", excludeTestServices: true })("the documentation", (it) => {
  it.effect.skipIf(!hasBrowser)(
    "is searched by keyboard, and loads its index when the search is first used",
    () =>
      Effect.gen(function* () {
        const { opened, url } = yield* Site
        const { asked, complaints, page } = yield* open(opened, `${url}/docs`)
        assert.isFalse(asked.some((one) => one.endsWith("/docs/search.json")))
        yield* Effect.promise(async () => {
          await page.keyboard.press("/")
          await page.keyboard.type("insufficient")
          await page.waitForSelector(".results a")
          await page.keyboard.press("ArrowDown")
          await page.keyboard.press("Enter")
          await page.waitForURL(/\/docs\/errors#error-INSUFFICIENT_/u)
        })
        assert.isTrue(asked.some((one) => one.endsWith("/docs/search.json")))
        yield* Effect.promise(async () => {
          await page.fill("#search", "xyzzy")
          await page.waitForFunction("document.querySelector('.results').textContent.includes('No results')")
          await page.press("#search", "Escape")
          await page.waitForSelector(".results", { state: "hidden" })
        })
        assert.deepStrictEqual(complaints, [])
      }),
    SLOW
  )

  it.effect.skipIf(!hasBrowser)(
    "shows examples in tabs, and keeps the chosen language on other pages",
    () =>
      Effect.gen(function* () {
        const { opened, url } = yield* Site
        const { complaints, page } = yield* open(opened, `${url}/docs/api/money/load`)
        const shown = () =>
          Effect.promise(() =>
            page.evaluate<string>("document.querySelector('[role=tabpanel]:not([hidden])').innerText")
          )
        assert.match(yield* shown(), /^curl http/u)
        yield* Effect.promise(async () => {
          await page.focus('[role=tab][aria-selected="true"]')
          await page.keyboard.press("ArrowRight")
        })
        assert.include(yield* shown(), "client.money.load({ payload: { amount_cents: 500 } })")
        yield* Effect.promise(() => page.goto(`${url}/docs/api/money/balance`))
        assert.include(yield* shown(), "client.money.balance()")
        assert.deepStrictEqual(complaints, [])
      }),
    SLOW
  )

  it.effect.skipIf(!hasBrowser)(
    "sends the request of an endpoint's page and shows the response",
    () =>
      Effect.gen(function* () {
        const { opened, url } = yield* Site
        const { page } = yield* open(opened, `${url}/docs/api/accounts/register-consumer`)
        const outcome = () =>
          Effect.promise(async () => {
            await page.click("form.try button[type=submit]")
            await page.waitForSelector(".outcome:not([hidden]) h3")
            return page.innerText(".outcome")
          })
        const registered = yield* outcome()
        assert.match(registered, /^201/u)
        const [key] = /atb_c_\w+/u.exec(registered)!
        yield* Effect.promise(() => page.goto(`${url}/docs/api/money/load`))
        yield* Effect.promise(() => page.fill("#try-key", key))
        assert.match(yield* outcome(), /^200[\s\S]*"new_balance_cents": 500/u)
        const { body } = yield* json(`${url}/api/v1/market/balance`, { headers: { authorization: `Bearer ${key}` } })
        assert.strictEqual(body["balance_cents"], 500)
        yield* Effect.promise(() => page.goto(`${url}/docs/api/catalog/tool`))
        yield* Effect.promise(() => page.fill("#try-id", "no/such tool"))
        assert.match(yield* outcome(), /^404[\s\S]*NOT_FOUND/u)
      }),
    SLOW
  )

  it.effect.skipIf(!hasBrowser)(
    "leads from the anchors of the former single page to their places",
    () =>
      Effect.gen(function* () {
        const { opened, url } = yield* Site
        const { page } = yield* open(opened, `${url}/docs#error-NOT_FOUND`)
        yield* Effect.promise(() => page.waitForURL(`${url}/docs/errors#error-NOT_FOUND`))
        yield* Effect.promise(() => page.goto(`${url}/docs#calls-proxy`))
        yield* Effect.promise(() => page.waitForURL(`${url}/docs/api/calls/proxy`))
      }),
    SLOW
  )

  it.effect.skipIf(!hasBrowser)(
    "is navigated on a phone, also without scripts",
    () =>
      Effect.gen(function* () {
        const { opened, url } = yield* Site
        for (const scripts of [true, false]) {
          const { page } = yield* open(opened, `${url}/docs/api/calls/proxy`, { scripts })
          yield* Effect.promise(async () => {
            await page.setViewportSize({ width: 390, height: 800 })
            assert.isFalse(await page.isVisible("nav.contents"))
            await page.click("a.menu")
            await page.waitForSelector("nav.contents", { state: "visible" })
            await page.click('nav.contents a[href="/docs/errors"]')
            await page.waitForURL(`${url}/docs/errors`)
            assert.strictEqual(await page.isVisible("form.search"), scripts)
          })
        }
        const { page } = yield* open(opened, `${url}/docs/api/money/load`, { scripts: false })
        const text = yield* Effect.promise(() => page.innerText("main"))
        assert.include(text, "curl http")
        assert.include(text, "client.money.load(")
        assert.notInclude(text, "Try it")
      }),
    SLOW
  )
})
