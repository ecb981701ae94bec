/**
 * Specification, changelog, documentation and the 404 page in a browser.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { Browser } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { isReadable, NARROW_AND_DARK, WIDE_AND_LIGHT } from "../../support/checks/Readability.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const PAGES = [
  ["spec", "/spec", "Specification"],
  ["changelog", "/changelog", "Changelog"],
  ["docs", "/docs", "Documentation"],
  ["docs-quickstart", "/docs/quickstart", "Quickstart"],
  ["docs-budgets", "/docs/budgets", "Budgets, keys and runs"],
  ["docs-mcp", "/docs/mcp", "MCP"],
  ["docs-settings", "/docs/settings", "Settings and commands"],
  ["docs-glossary", "/docs/glossary", "Glossary"],
  ["docs-terms", "/docs/terms", "Terms"],
  ["docs-conventions", "/docs/api", "API conventions"],
  ["docs-endpoint", "/docs/api/calls/proxy", "Call a tool"],
  ["docs-errors", "/docs/errors", "Errors"],
  ["nothing", "/no/such/page", "Not found"]
] as const

/** One service and one browser for all tests; each test has its own browser context. */
class Site extends Context.Service<Site, { readonly url: string; readonly opened: Browser }>()(
  "agent-tool-billing/test/browser/documents/Site"
) {
  static readonly layer = Layer.effect(
    Site,
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", RATE_LIMIT_IP_RPM: "0" })
      return { url, opened: yield* browser }
    })
  )
}

it.layer(Site.layer, { timeout: "180 seconds", excludeTestServices: true })("documents", (it) => {
  for (const [name, path, title] of PAGES) {
    it.effect.skipIf(!hasBrowser)(
      `${path} is accessible in light and dark, on desktop and phone`,
      () =>
        Effect.gen(function* () {
          const { opened, url } = yield* Site
          const { asked, complaints, page } = yield* open(opened, `${url}${path}`)
          assert.strictEqual(yield* Effect.promise(() => page.innerText("h1")), title)
          assert.strictEqual(yield* Effect.promise(() => page.locator("header.site nav a").count()), 6)
          assert.isTrue(asked.every((one) => one.startsWith(url) || one.startsWith("data:")))
          // Chromium logs the 404 of the page itself.
          assert.deepStrictEqual(
            complaints.filter((one) => !(name === "nothing" && one.includes("404"))),
            []
          )
          // Scanning a long page takes many seconds.
          yield* name.startsWith("docs-")
            ? isReadable(page, name, [WIDE_AND_LIGHT, NARROW_AND_DARK])
            : isReadable(page, name)
        }),
      { timeout: 400_000 }
    )
  }

  it.effect.skipIf(!hasBrowser)(
    "the specification is navigable by keyboard and works without scripts",
    () =>
      Effect.gen(function* () {
        const { opened, url } = yield* Site
        const { page } = yield* open(opened, `${url}/spec`)
        yield* Effect.promise(async () => {
          await page.focus('nav[aria-label="On this page"] a[href="#disputes"]')
          await page.keyboard.press("Enter")
          await page.waitForFunction("location.hash === '#disputes'")
        })
        const top = yield* Effect.promise(() =>
          page.evaluate<number>("document.querySelector('#disputes').getBoundingClientRect().top")
        )
        assert.isBelow(Math.abs(top), 400)
        const context = yield* Effect.acquireRelease(
          Effect.promise(() => opened.newContext({ javaScriptEnabled: false })),
          (made) => Effect.promise(() => made.close())
        )
        const plain = yield* Effect.promise(() => context.newPage())
        for (const path of ["/spec", "/changelog"]) {
          yield* Effect.promise(() => plain.goto(`${url}${path}`))
          assert.isAbove((yield* Effect.promise(() => plain.innerText("main"))).length, 500, path)
        }
      }),
    { timeout: 180_000 }
  )

  it.effect.skipIf(!hasBrowser)(
    "every link of the 404 page works",
    () =>
      Effect.gen(function* () {
        const { opened, url } = yield* Site
        const { page } = yield* open(opened, `${url}/<script>alert(1)</script>`)
        const links = yield* Effect.promise(() =>
          page.evaluate<ReadonlyArray<string>>("[...document.querySelectorAll('a[href^=\"/\"]')].map((a) => a.href)")
        )
        assert.isAbove(links.length, 10)
        for (const link of new Set(links)) {
          const { status } = yield* Effect.promise(() => fetch(link))
          assert.strictEqual(status, 200, link)
        }
      }),
    { timeout: 180_000 }
  )
})
