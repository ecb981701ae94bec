/**
 * A provider's page over HTTP: all of its tools with their prices, in pages, and how to connect to its server.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aConsumer, aProvider, expecting, listAt, putTools, unasked, valueAt } from "../../support/market/Market.ts"
import { ServiceUnderTest, LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const page = (path: string) => Effect.map(expecting(200, { path: unasked(path) }), ({ text }) => text)
const namesIn = (text: string) =>
  [...text.matchAll(/<h2><a href="\/catalog\/[0-9a-f-]{36}">([^<]*)<\/a><\/h2>/gu)].map(([, name]) => name)

it.layer(ServiceUnderTest.memory(), LIVE)("provider pages", (it) => {
  it.effect("list all tools with their prices, in pages", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ name: "Ada <b>Tools</b>", handle: "ada-pages", description: "Maps & more" })
      const names = Array.from({ length: 23 }, (_, n) => `tool.${String(n).padStart(2, "0")}`)
      const told = yield* putTools(
        provider,
        ...names.map((tool_name, n) => ({ tool_name, price_microcents: 100 * n, free_tier_calls: n }))
      )
      const other = yield* aProvider({ handle: "not-ada" })
      yield* putTools(other, { tool_name: "elsewhere" })
      const first = yield* page("/catalog/providers/ada-pages")
      const second = yield* page("/catalog/providers/ada-pages?page=2")
      assert.deepStrictEqual([...namesIn(first), ...namesIn(second)], names)
      assert.include(first, "23 tools")
      assert.include(first, provider.id)
      assert.include(first, "$0.0019")
      assert.include(first, "Ada &lt;b&gt;Tools&lt;/b&gt;")
      assert.include(first, "Maps &amp; more")
      assert.include(first, 'href="/catalog/providers/ada-pages?page=2"')
      assert.notInclude(first, "owner@example.org")
      assert.notInclude(first, "127.0.0.1")
      assert.deepStrictEqual(namesIn(yield* page("/catalog/providers/ada-pages?page=0")), names.slice(0, 20))
      // Tool pages link to it.
      const id = String(valueAt(listAt(told, "tools")[0], "id"))
      assert.include(yield* page(`/catalog/${id}`), 'href="/catalog/providers/ada-pages"')
      assert.include(yield* page(`/catalog?provider_id=${provider.id}`), 'href="/catalog/providers/ada-pages"')
    })
  )

  it.effect("exist for providers without tools, and for no other handle", () =>
    Effect.gen(function* () {
      yield* aProvider({ name: "Empty", handle: "no-tools-yet" })
      const text = yield* page("/catalog/providers/no-tools-yet")
      assert.include(text, "No tools are listed.")
      for (const handle of ["nobody-here", "%00", "%2e%2e", "A", "a".repeat(80), "' OR 1=1"]) {
        const answer = yield* send({ path: `/catalog/providers/${encodeURIComponent(handle)}` })
        assert.strictEqual(answer.status, 404, handle)
        assert.include(answer.text, "This provider does not exist.")
      }
    })
  )

  it.effect("show the configuration of every client with a placeholder, also to a caller with a key", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ handle: "connect-me" })
      const told = yield* putTools(provider, { tool_name: "connected" })
      const { key } = yield* aConsumer()
      const id = String(valueAt(listAt(told, "tools")[0], "id"))
      for (const path of ["/catalog/providers/connect-me", `/catalog/${id}`]) {
        const { text } = yield* expecting(200, { path: unasked(path), key })
        for (const part of ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "mcp-remote", "YOUR_API_KEY"]) {
          assert.include(text, part, path)
        }
        assert.include(text, "https://market.example/mcp/connect-me")
        assert.notInclude(text, key)
      }
      assert.notInclude((yield* send({ path: "/developers/dashboard", key })).text, key)
    })
  )
})
