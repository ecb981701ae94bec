/**
 * The catalog page in a browser: search and filters without scripts, accessibility, and escaping.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open, seriousFindings } from "../../support/market/Browser.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { catalogShop, MANY } from "../../support/market/CatalogShop.ts"
import { post, ready } from "../../support/servers/ServiceProcess.ts"
import { promise, SLOW } from "../../support/market/ToolPage.ts"

const namesOn = (page: Page) => promise(() => page.locator(".tools h2").allInnerTexts())
const textOf = (page: Page, selector: string) => promise(() => page.innerText(selector))
const follow = (page: Page, name: string) =>
  promise(() => page.getByRole("link", { name, exact: true }).first().click())

interface Asked {
  readonly q?: string
  readonly category?: string
  readonly max_price?: string
  readonly sort?: string
}

const search = (page: Page, { category, max_price, q, sort }: Asked) =>
  promise(async () => {
    if (q !== undefined) await page.fill("#q", q)
    if (max_price !== undefined) await page.fill("#max_price", max_price)
    if (category !== undefined) await page.selectOption("#category", category)
    if (sort !== undefined) await page.selectOption("#sort", sort)
    await page.getByRole("button", { name: "Search" }).click()
  })

it.live.skipIf(!hasBrowser)(
  "the catalog can be searched, filtered, sorted and paged without scripts",
  () =>
    Effect.gen(function* () {
      const { routeId, url } = yield* catalogShop
      const { asked, complaints, page } = yield* open(yield* browser, `${url}/catalog`, { scripts: false })

      // Paging.
      assert.lengthOf(yield* namesOn(page), 20)
      assert.include(yield* textOf(page, ".found"), `${MANY + 2} tools`)
      yield* follow(page, "Next")
      assert.lengthOf(yield* namesOn(page), MANY + 2 - 20)
      assert.include(yield* textOf(page, ".turn"), "Page 2 of 2")
      yield* follow(page, "Previous")
      assert.strictEqual(page.url(), `${url}/catalog`)

      // Search and maximum price.
      yield* search(page, { q: "road clos" })
      assert.deepStrictEqual(yield* namesOn(page), ["jam", "Route planner"])
      yield* search(page, { max_price: "$0.01" })
      assert.deepStrictEqual(yield* namesOn(page), ["Route planner"])
      assert.strictEqual(yield* textOf(page, ".found"), "1 tool")
      assert.strictEqual(yield* textOf(page, ".terms .price"), "$0.00125")
      assert.strictEqual(yield* promise(() => page.inputValue("#q")), "road clos")
      yield* search(page, { max_price: "cheap" })
      assert.include(yield* textOf(page, "#max_price-fault"), "Enter dollars with up to 6 decimal places")
      assert.strictEqual(yield* promise(() => page.inputValue("#max_price")), "cheap")
      assert.lengthOf(yield* namesOn(page), 2)

      // Category and sort order.
      yield* search(page, { q: "", max_price: "", category: "maps", sort: "price_desc" })
      assert.deepStrictEqual(yield* namesOn(page), ["jam", "Route planner"])
      yield* search(page, { sort: "price" })
      assert.deepStrictEqual(yield* namesOn(page), ["Route planner", "jam"])
      assert.strictEqual(yield* promise(() => page.inputValue("#category")), "maps")

      // Provider filter.
      yield* follow(page, "Ada & Söhne")
      assert.include(yield* textOf(page, ".chip"), "Provider: Ada & Söhne")
      yield* search(page, { q: "words" })
      assert.lengthOf(yield* namesOn(page), 0)
      yield* follow(page, "Show all providers")
      assert.lengthOf(yield* namesOn(page), 20)

      // Empty states.
      yield* search(page, { q: "quux" })
      assert.include(yield* textOf(page, ".empty"), "No tools found.")
      yield* follow(page, "Show all tools")
      assert.lengthOf(yield* namesOn(page), 20)
      yield* promise(() => page.goto(`${url}/catalog?page=9`))
      assert.include(yield* textOf(page, ".empty"), "Page 9 does not exist")
      yield* follow(page, "Go to the last page")
      assert.include(yield* textOf(page, ".turn"), "Page 2 of 2")

      // Keyboard only.
      yield* promise(async () => {
        await page.focus("#q")
        await page.keyboard.type("route")
        await page.keyboard.press("Enter")
        await page.getByRole("link", { name: "Route planner" }).focus()
        await page.keyboard.press("Enter")
        await page.waitForURL(`**/catalog/${routeId}`)
      })
      // The tool's page works without scripts.
      assert.include(yield* textOf(page, "#call"), '/maps/route"')
      assert.include(yield* textOf(page, "main"), "$0.0009")
      assert.deepStrictEqual(complaints, [])
      assert.isTrue(asked.every((one) => one.startsWith(url) || one.startsWith("data:")))
    }).pipe(Effect.scoped),
  SLOW
)

it.live.skipIf(!hasBrowser)(
  "the catalog is accessible in light and dark, on desktop and phone",
  () =>
    Effect.gen(function* () {
      const { adaId, url } = yield* catalogShop
      const opened = yield* browser
      for (const [name, query] of [
        ["all", ""],
        ["few", `?provider_id=${adaId}&max_price=cheap`],
        ["none", "?q=quux"]
      ] as const) {
        const { complaints, page } = yield* open(opened, `${url}/catalog${query}`)
        assert.deepStrictEqual(complaints, [])
        yield* isReadable(page, `catalog ${name}`)
      }
    }).pipe(Effect.scoped),
  SLOW
)

it.live.skipIf(!hasBrowser)(
  "an empty catalog and an unknown tool have their own pages",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error" })
      const opened = yield* browser
      const { page } = yield* open(opened, `${url}/catalog`)
      assert.include(yield* textOf(page, ".empty"), "No tools yet.")
      yield* follow(page, "Register as a provider")
      assert.strictEqual(page.url(), `${url}/providers/register`)
      for (const id of ["nope", "00000000-0000-4000-8000-000000000000", "%3Cscript%3E"]) {
        const answer = yield* promise(() => page.goto(`${url}/catalog/${id}`))
        assert.strictEqual(answer?.status(), 404)
        assert.include(yield* textOf(page, "main"), "This tool does not exist.")
      }
      assert.deepStrictEqual(yield* seriousFindings(page), [])
      yield* follow(page, "Browse the catalog")
      assert.strictEqual(page.url(), `${url}/catalog`)
    }).pipe(Effect.scoped),
  SLOW
)

const HURT = `"'><img src=x onerror="window.hurt=1"><script>window.hurt=1</script>\${1}</textarea></title></pre>`

it.live.skipIf(!hasBrowser)(
  "provider texts and URL parameters never become markup",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error" })
      const made = yield* post(`${url}/api/market/register-provider`, {
        name: HURT.slice(0, 100),
        email: "hurt@example.org",
        endpoint_url: "http://127.0.0.1:1/mcp",
        tools: [{ tool_name: "a", display_name: HURT, description: HURT }]
      })
      assert.strictEqual(made.status, 201)
      const opened = yield* browser
      for (const query of [
        "",
        `?q=${encodeURIComponent(HURT)}`,
        `?max_price=${encodeURIComponent(HURT)}&category=${encodeURIComponent(HURT)}&sort=${encodeURIComponent(HURT)}`,
        `?provider_id=${String(made.body["provider_id"])}&page=${encodeURIComponent(HURT)}`,
        `?provider_id=${encodeURIComponent(HURT)}`
      ]) {
        const { complaints, page } = yield* open(opened, `${url}/catalog${query}`)
        assert.strictEqual(yield* promise(() => page.locator("main img, main script, main style").count()), 0, query)
        assert.strictEqual(yield* promise(() => page.evaluate("window.hurt ?? 0")), 0, query)
        assert.deepStrictEqual(complaints, [], query)
        if (!query.includes("q=")) assert.strictEqual((yield* namesOn(page))[0], HURT)
      }
    }).pipe(Effect.scoped),
  SLOW
)
