/**
 * Configurations of MCP clients in a browser: in tabs, with the key of the tab's session, which appears nowhere else.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { catalogShop } from "../../support/market/CatalogShop.ts"
import { post, ready } from "../../support/servers/ServiceProcess.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { enter, fillIn, press, promise, shown, SLOW } from "../../support/market/ToolPage.ts"

const tab = (page: Page, name: string) => promise(() => page.getByRole("tab", { name, exact: true }).click())
const panelText = (page: Page) => promise(() => page.locator("[role=tabpanel]:visible").innerText())
const CLIENTS = ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "JSON"]

it.live.skipIf(!hasBrowser)(
  "a tool's page shows them for both doors, with the key once there is one",
  () =>
    Effect.gen(function* () {
      const { key, routeId, url } = yield* catalogShop
      const { asked, complaints, page } = yield* open(yield* browser, `${url}/catalog/${routeId}`)
      yield* shown(page, "#connect", /YOUR_API_KEY/u)
      assert.deepStrictEqual(yield* promise(() => page.getByRole("tab").allInnerTexts()), CLIENTS)
      for (const name of CLIENTS) {
        yield* tab(page, name)
        const text = yield* panelText(page)
        assert.include(text, `${url}/mcp/ada-sohne`, name)
        assert.notInclude(text, key, name)
      }
      yield* isReadable(page, "connect without a key")

      yield* enter(page, key)
      yield* shown(page, "#connect", /Includes the API key/u)
      // The tab stays, and so does the door.
      assert.include(yield* panelText(page), `Bearer ${key}`)
      yield* promise(() => page.selectOption("#connect-door", { label: "Of all providers" }))
      for (const name of CLIENTS) {
        yield* tab(page, name)
        const text = yield* panelText(page)
        assert.include(text, `${url}/mcp`, name)
        assert.notInclude(text, `${url}/mcp/`, name)
        assert.include(text, name === "Claude Desktop" ? "AUTH_HEADER" : "Bearer", name)
        assert.include(text, key, name)
      }
      // By keyboard.
      yield* promise(async () => {
        await page.getByRole("tab", { name: "JSON" }).press("ArrowRight")
      })
      assert.include(yield* panelText(page), "claude mcp add --transport http market")

      // The key is in no link and in no URL that the page requested.
      const links = yield* promise(() =>
        page.locator("a").evaluateAll((all) => all.map((one) => one.getAttribute("href")))
      )
      assert.isFalse(
        [...links, ...asked].some((one) => one?.includes(key) === true || one?.includes("atb_c_") === true)
      )
      assert.isFalse([...links].some((one) => decodedIn(one ?? "").includes(key)))
      assert.deepStrictEqual(
        complaints.filter((one) => !one.includes("Content Security Policy")),
        []
      )
      yield* isReadable(page, "connect")
    }).pipe(Effect.scoped),
  SLOW
)

const decodedIn = (href: string): string => {
  const config = /config=([^&]*)/u.exec(href)?.[1]
  return config === undefined ? decodeURIComponent(href) : atob(decodeURIComponent(config))
}

it.live.skipIf(!hasBrowser)(
  "a provider's page and the developer dashboard show them too, and a page without scripts has them all",
  () =>
    Effect.gen(function* () {
      const { key, url } = yield* catalogShop
      const opened = yield* browser
      const plain = yield* open(opened, `${url}/catalog/providers/ada-sohne`, { scripts: false })
      assert.deepStrictEqual(yield* promise(() => plain.page.locator("#connect summary").allInnerTexts()), CLIENTS)
      assert.lengthOf(yield* promise(() => plain.page.locator(".tools h2").allInnerTexts()), 2)

      const { complaints, page } = yield* open(opened, `${url}/catalog/providers/ada-sohne`)
      yield* shown(page, "#connect", /YOUR_API_KEY/u)
      assert.deepStrictEqual(complaints, [])
      yield* isReadable(page, "provider page")

      const dashboard = yield* open(opened, `${url}/developers/dashboard`)
      yield* promise(async () => {
        await dashboard.page.fill("#key", key)
        await dashboard.page.click("form button[type=submit]")
        await dashboard.page.getByText("Connect a client", { exact: true }).click()
      })
      yield* shown(dashboard.page, "#connect", /claude mcp add/u)
      assert.include(yield* panelText(dashboard.page), `Bearer ${key}`)
      assert.include(yield* panelText(dashboard.page), `market ${url}/mcp `)
      assert.deepStrictEqual(dashboard.complaints, [])
      yield* isReadable(dashboard.page, "dashboard with connect")
    }).pipe(Effect.scoped),
  SLOW
)

/** A client of the official SDK with the configuration that the page shows, pasted as it is. */
const pasted = Effect.fnUntraced(function* (page: Page) {
  yield* tab(page, "JSON")
  const code = yield* promise(() =>
    page.locator("[role=tabpanel]:visible code, [role=tabpanel]:visible pre").first().innerText()
  )
  const { mcpServers } = JSON.parse(code) as {
    readonly mcpServers: Readonly<Record<string, { readonly url: string; readonly headers: Record<string, string> }>>
  }
  const [{ headers, url } = { headers: {}, url: "" }] = Object.values(mcpServers)
  return yield* Effect.acquireRelease(
    promise(async () => {
      const client = new Client({ name: "pasted", version: "1" })
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
      return client
    }),
    (client) => promise(() => client.close())
  )
})

const called = (client: Client, name: string, given: Readonly<Record<string, unknown>>) =>
  Effect.map(
    promise(() => client.callTool({ name, arguments: given })),
    ({ _meta, content, isError }) => ({
      isError: isError === true,
      text: (content as ReadonlyArray<{ readonly text: string }>)[0]!.text,
      cost: (_meta?.["agent-tool-billing/billing"] as { readonly cost_microcents?: number } | undefined)
        ?.cost_microcents
    })
  )

const WORDS = { tool: "demo/count_words", arguments: { text: "one two three" } }

it.live.skipIf(!hasBrowser)(
  "usage-priced tools work from a pasted configuration, after a registration by page or a cap set on the page",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", DEMO_PROVIDER: "on", LOG_LEVEL: "Error" })
      const opened = yield* browser
      const { complaints, page } = yield* open(opened, `${url}/developers/register`)
      yield* promise(async () => {
        assert.strictEqual(await page.getByLabel(/^Most that one call may cost/u).inputValue(), "0.10")
        await page.fill("#developer-name", "Ada")
        await page.fill("#developer-email", "ada@example.org")
        await page.click("button[type=submit]")
      })
      const key = yield* shown(page, "#new-key", /atb_c_/u)
      yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key.trim())
      yield* promise(() => page.goto(`${url}/developer/connect`))
      const client = yield* pasted(page)
      assert.deepInclude(yield* called(client, "call_tool", WORDS), { isError: false, cost: 30 })

      // The model acts on what it is told.
      yield* promise(() => page.getByLabel(/^Most that one call may cost/u).fill(""))
      yield* press(page, "Save cap")
      yield* shown(page, "#default-cap", /Your account has no default cap/u)
      const refused = yield* called(client, "call_tool", WORDS)
      assert.isTrue(refused.isError)
      const told = /Call `(?<tool>\w+)` with `tool`: "(?<named>[^"]+)".*`max_cost_microcents`: (?<cap>\d+)/u.exec(
        refused.text
      )!.groups!
      const capped = yield* called(client, told["tool"]!, {
        ...WORDS,
        tool: told["named"]!,
        max_cost_microcents: Number(told["cap"])
      })
      assert.deepInclude(capped, { isError: false, cost: 30 })

      // And so does its user.
      const [place] = /http\S+\/developer\/connect/u.exec(refused.text)!
      yield* promise(() => page.goto(place))
      yield* shown(page, "#default-cap", /Your account has no default cap/u)
      assert.strictEqual(yield* promise(() => page.getByLabel(/^Most that one call may cost/u).inputValue()), "0.10")
      yield* isReadable(page, "connect without a default cap")
      yield* fillIn(page, "Most that one call may cost, in dollars (optional)", "0,5")
      yield* press(page, "Save cap")
      yield* shown(page, "#default-cap", /Enter an amount in dollars/u)
      yield* fillIn(page, "Most that one call may cost, in dollars (optional)", "0.02")
      yield* press(page, "Save cap")
      yield* shown(page, "#default-cap", /cost at most \$0\.02/u)
      assert.deepInclude(yield* called(client, "call_tool", WORDS), { isError: false, cost: 30 })
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  SLOW
)
