/**
 * Forms: exact amounts, idempotent retries, focus.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { parseDollars, money } from "../../../adapters/site/kit/Format.browser.ts"
import { browser, browserWith, hasBrowser, open } from "../../support/market/Browser.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const memory = ready({ PROFILE: "memory", LOG_LEVEL: "Error" })

describe("dollar amounts", () => {
  it.each([
    ["0.001", 1_000],
    ["$12.34", 12_340_000],
    ["0", 0],
    ["0.000001", 1],
    ["1,234.5", 1_234_500_000],
    ["1,234,567", 1_234_567_000_000],
    ["0,5", undefined],
    ["0,001", undefined],
    ["1,5", undefined],
    ["12,34", undefined],
    ["1.2345678", undefined],
    ["-1", undefined],
    ["1e3", undefined],
    ["", undefined]
  ] as const)("%s", (typed, microcents) => {
    assert.strictEqual(parseDollars(typed), microcents)
  })

  it.each([0, 1, 500, 25_000, 12_340_000, 999_999_999_999, -5])(
    "are parsed as they are formatted: %d",
    (microcents) => {
      assert.strictEqual(parseDollars(money(Math.abs(microcents))), Math.abs(microcents))
      assert.strictEqual(money(microcents).startsWith("−"), microcents < 0)
    }
  )
})

const register = async (page: Page) => {
  await page.fill("#developer-name", "Ada")
  await page.fill("#developer-email", "ada@example.org")
  await page.click("button[type=submit]")
}

it.live.skipIf(!hasBrowser)(
  "a form reuses its idempotency key until the outcome is known",
  () =>
    Effect.gen(function* () {
      const { url } = yield* memory
      const { page } = yield* open(yield* browser, `${url}/developers/register`)
      const keys: Array<string | undefined> = []
      const answers = [503, 409, 500]
      yield* Effect.promise(async () => {
        await page.route("**/register-consumer", (route) => {
          keys.push(route.request().headers()["idempotency-key"])
          const status = answers[keys.length - 1]
          const wait = status === 500 ? {} : { retry_after_seconds: 1 }
          return status === undefined
            ? route.continue()
            : route.fulfill({ status, json: { detail: `Rejected with ${status}.`, ...wait } })
        })
        await register(page)
        for (const status of [503, 409, 500]) {
          await page.waitForSelector(`text=Rejected with ${status}.`)
          await page.click("button[type=submit]")
        }
        await page.waitForSelector("text=You are registered")
      })
      assert.lengthOf(keys, 4)
      assert.match(keys[0] ?? "", /^[0-9a-f]{32}$/u)
      assert.strictEqual(new Set(keys).size, 1)
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)

it.live.skipIf(!hasBrowser)(
  "a form works on a page loaded over plain HTTP",
  () =>
    Effect.gen(function* () {
      const { url } = yield* memory
      const opened = yield* browserWith(["--host-resolver-rules=MAP billing.example 127.0.0.1"])
      const { complaints, page } = yield* open(
        opened,
        `${url.replace("127.0.0.1", "billing.example")}/developers/register`
      )
      yield* Effect.promise(async () => {
        await register(page)
        await page.waitForSelector("text=You are registered")
        await page.click("text=Copy key")
        await page.waitForSelector("text=Selected")
      })
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)

it.live.skipIf(!hasBrowser)(
  "a rejected form keeps the focus",
  () =>
    Effect.gen(function* () {
      const { url } = yield* memory
      const { page } = yield* open(yield* browser, `${url}/developers/register`)
      const focused = yield* Effect.promise(async () => {
        await page.route("**/register-consumer", (route) =>
          route.fulfill({ status: 500, json: { detail: "Unavailable." } })
        )
        await page.fill("#developer-name", "Ada")
        await page.fill("#developer-email", "ada@example.org")
        await page.focus("button[type=submit]")
        await page.keyboard.press("Enter")
        await page.waitForSelector("text=Unavailable.")
        return page.evaluate<string>("document.activeElement.textContent")
      })
      assert.strictEqual(focused, "Register")
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)

it.live.skipIf(!hasBrowser)(
  "provider registration lists tools with their price and free calls",
  () =>
    Effect.gen(function* () {
      const { url } = yield* memory
      const { page } = yield* open(yield* browser, `${url}/providers/register`)
      const listed = yield* Effect.promise(async () => {
        await page.fill("#provider-name", "Ada Tools")
        await page.fill("#provider-email", "ada@example.org")
        await page.fill("#provider-endpoint_url", "http://127.0.0.1:9/mcp")
        await page.fill("#provider-price", "0.0025")
        await page.fill("#provider-free_tier_calls", "3")
        await page.fill("#provider-tools", "search, fetch")
        await page.click("button[type=submit]")
        await page.waitForSelector("text=You are registered")
        return (await (await fetch(`${url}/api/market/catalog`)).json()).tools as ReadonlyArray<{
          readonly tool_name: string
          readonly pricing: { readonly price_microcents: number; readonly free_tier_calls: number }
        }>
      })
      assert.sameDeepMembers(
        listed.map((tool) => [tool.tool_name, tool.pricing.price_microcents, tool.pricing.free_tier_calls]),
        [
          ["search", 2_500, 3],
          ["fetch", 2_500, 3]
        ]
      )
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)
