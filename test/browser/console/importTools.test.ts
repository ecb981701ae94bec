/**
 * The import of tools on the provider dashboard: preview, import, drafts, history.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser, overflows, pictured, seriousFindings } from "../../support/market/Browser.ts"
import { agree, entered, follow, openTab, press, says, seen, settled } from "../../support/market/ProviderPage.ts"
import { sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { posted } from "../../support/market/HttpMarket.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object" as const },
  ...more
})

it.live.skipIf(!hasBrowser)(
  "a provider previews an import, imports drafts, lists one, and reads the history",
  () =>
    Effect.gen(function* () {
      const tools = [tool("search", { title: "Paper search" }), tool("fetch"), tool("bad name")]
      const server = yield* sdk2Server({ list: () => ({ tools }) })
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error" })
      const made = yield* posted(`${url}/api/market/register-provider`, {
        name: "Ada Tools",
        email: "ada@example.org",
        endpoint_url: server.url,
        default_price_microcents: 1_500
      })
      const { complaints, page } = yield* entered(yield* browser, url, String(made["api_key"]))
      yield* openTab(page, "Tools")
      yield* follow(page, ".console-main", "Import tools")
      yield* says(page, "#import-history", "No imports yet")
      const price = page.locator("#import-tools-default_price_microcents")
      assert.strictEqual(yield* Effect.promise(() => price.inputValue()), "0.0015")
      yield* Effect.promise(() => price.fill("0.002"))
      yield* press(page, "#import-tools", "Preview import")
      yield* says(page, "#import-tools", "2 stored as drafts")
      const preview = yield* seen(page, "#import-tools")
      assert.include(preview, "Paper search")
      assert.include(preview, "$0.002")
      assert.include(preview, "Not imported (1)")
      for (const scheme of ["light", "dark"] as const) {
        yield* Effect.promise(() => page.emulateMedia({ colorScheme: scheme }))
        assert.deepStrictEqual(yield* seriousFindings(page), [])
        yield* pictured(page, `import-${scheme}`)
      }
      yield* Effect.promise(() => page.setViewportSize({ width: 390, height: 844 }))
      assert.isFalse(yield* overflows(page))
      yield* pictured(page, "import-phone")
      yield* Effect.promise(() => page.setViewportSize({ width: 1_280, height: 900 }))

      yield* press(page, "#import-tools", "Import tools")
      yield* says(page, ".announcements", "Imported: 2 stored as drafts")
      yield* settled(page)
      assert.include(yield* seen(page, "#tools table"), "Draft")
      yield* press(page, "#tools table", "List search")
      yield* says(page, "dialog", "at $0.002 per call")
      yield* agree(page, "List tool")
      yield* says(page, ".announcements", "search is listed.")
      yield* says(page, "#tools table", "Listed")
      yield* press(page, "#tools table", "Dismiss fetch")
      yield* says(page, ".announcements", "The draft fetch is dismissed.")
      yield* settled(page)
      yield* follow(page, ".console-main", "Import tools")
      yield* says(page, "#import-history", "Drafts: search, fetch")
      yield* pictured(page, "import-history")
      yield* press(page, "#sync", "Turn off sync")
      yield* says(page, ".announcements", "Sync is off.")
      yield* says(page, "#sync", "Your tools do not follow your MCP server.")
      yield* openTab(page, "Settings")
      yield* says(page, "#mcp", `${url}/mcp/ada-tools`)
      yield* press(page, "#mcp", "Turn off prompts")
      yield* says(page, ".announcements", "Prompts are turned off.")
      yield* settled(page)
      yield* press(page, "#mcp", "Turn on prompts")
      yield* says(page, ".announcements", "Prompts are turned on.")
      assert.deepStrictEqual(complaints, [])
    }),
  120_000
)
