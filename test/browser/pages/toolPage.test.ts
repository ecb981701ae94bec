/**
 * A tool's page in a browser: charts, accessibility, escaping.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { catalogShop } from "../../support/market/CatalogShop.ts"
import { json, result, text } from "../../../testing/mcp/ScriptedServer.ts"
import { providing } from "../../support/metering/Provider.ts"
import { json as fetched, post, ready } from "../../support/servers/ServiceProcess.ts"
import { enter, fillIn, press, promise, shown, SLOW } from "../../support/market/ToolPage.ts"

it.live.skipIf(!hasBrowser)(
  "a tool's page shows its service levels and is accessible in light and dark, on desktop and phone",
  () =>
    Effect.gen(function* () {
      const { key, routeId, url } = yield* catalogShop
      for (let n = 0; n < 4; n++) {
        yield* post(`${url}/api/market/proxy`, { tool_id: routeId, input: { to: "Rome", by: "car" } }, key)
      }
      const sla = `${url}/api/v1/market/tools/${routeId}/sla`
      // The sequencer counts receipts asynchronously.
      yield* fetched(sla).pipe(
        Effect.repeat({ until: ({ body }) => body["total_calls_30d"] === 4, schedule: Schedule.spaced("500 millis") })
      )
      const { asked: addresses, complaints, page } = yield* open(yield* browser, `${url}/catalog/${routeId}`)
      yield* shown(page, "#sla .figure", /^Calls\s*4/u)
      yield* promise(() => page.locator("#sla canvas").nth(2).waitFor())
      assert.strictEqual(addresses.filter((one) => one.startsWith(sla)).length, 1)
      // Charts have tables for screen readers.
      yield* promise(() => page.getByText("Calls by day as a table").click())
      assert.include(yield* shown(page, "#sla details[open] table", /4/u), "4")
      assert.deepStrictEqual(complaints, [])
      yield* isReadable(page, "tool")
      yield* enter(page, key)
      yield* fillIn(page, "to", "Rome")
      yield* press(page, /^Call tool for/u)
      yield* shown(page, "#outcome .notice.good", /Succeeded in/u)
      yield* press(page, "Edit as JSON")
      yield* isReadable(page, "tool called")
      // The scan violates the page's policy.
      assert.deepStrictEqual(
        complaints.filter((one) => !one.includes("Content Security Policy")),
        []
      )
    }).pipe(Effect.scoped),
  SLOW
)

const HURT = `"'><img src=x onerror="window.hurt=1"><script>window.hurt=1</script></textarea></title></pre>`

it.live.skipIf(!hasBrowser)(
  "provider texts and tool results never become markup",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error" })
      const server = yield* providing((seen, response) =>
        json(response, result(seen, { ...text(HURT), structuredContent: { [HURT]: HURT } }))
      )
      const schema = {
        type: "object",
        properties: {
          [HURT]: { type: "string", description: HURT, default: HURT },
          __proto__x: { enum: [HURT, { [HURT]: 1 }] },
          constructor: {},
          "#a0": { type: "array", description: HURT, default: [HURT] }
        },
        required: ["constructor", HURT],
        description: HURT
      }
      const made = yield* post(`${url}/api/market/register-provider`, {
        name: HURT.slice(0, 100),
        email: "hurt@example.org",
        endpoint_url: server.url,
        tools: [{ tool_name: "a", display_name: HURT, description: HURT, input_schema: schema, output_schema: schema }]
      })
      assert.strictEqual(made.status, 201)
      const buyer = yield* post(`${url}/api/market/register-consumer`, {
        name: HURT.slice(0, 100),
        email: "a@example.org"
      })
      const id = (made.body["tools"] as ReadonlyArray<{ readonly id: string }>)[0]!.id
      const { complaints, page } = yield* open(yield* browser, `${url}/catalog/${id}`)
      yield* enter(page, String(buyer.body["api_key"]))
      yield* shown(page, "#account", /Billed to/u)
      assert.strictEqual(yield* promise(() => page.locator("#arguments-a0").inputValue()), HURT)
      yield* promise(() => page.fill("#arguments-a2", JSON.stringify(HURT)))
      yield* promise(() => page.selectOption("#arguments-a1", { index: 1 }))
      yield* press(page, /^Call tool/u)
      yield* shown(page, "#outcome .notice.good", /Succeeded in/u)
      assert.include(yield* promise(() => page.innerText("#outcome .result")), HURT)
      const sent = server.of("tools/call")[0]!.params["arguments"] as Readonly<Record<string, unknown>>
      assert.deepStrictEqual(sent, { [HURT]: HURT, __proto__x: HURT, constructor: HURT, "#a0": [HURT] })
      assert.strictEqual(yield* promise(() => page.locator("main img, main script, main style").count()), 0)
      assert.strictEqual(yield* promise(() => page.evaluate("window.hurt ?? 0")), 0)
      assert.deepStrictEqual(
        complaints.filter((one) => !one.includes("Content Security Policy")),
        []
      )
    }).pipe(Effect.scoped),
  SLOW
)
