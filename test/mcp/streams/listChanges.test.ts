/**
 * A provider's endpoint tells the clients that listen there of changed tools and prices, whatever its server announces.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { event, json, result, stream } from "../../../testing/mcp/ScriptedServer.ts"
import { got, posted } from "../../support/market/HttpMarket.ts"
import { aDoor, fine, onOther, SETTINGS } from "../../support/mcp/ADoor.ts"
import { at, opened } from "../../support/mcp/DoorClient.ts"
import { eventsOf, gatedServer } from "../../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, rpc } from "../../support/mcp/LegacyClients.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { PRICE } from "../../support/load/LoadMarket.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const CHANGED = "notifications/tools/list_changed"
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

const methodsIn = (listening: { readonly events: ReadonlyArray<{ readonly data: string }> }) =>
  listening.events.filter(({ data }) => data !== "").map(({ data }) => at(JSON.parse(data), "method"))

const subscribed = (url: string, key: string, notifications: object) =>
  Effect.gen(function* () {
    const ending = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (one) => Effect.sync(() => one.abort())
    )
    const asked = {
      url,
      key,
      method: "subscriptions/listen",
      params: { notifications },
      id: "sub",
      signal: ending.signal
    }
    const listening = eventsOf(yield* opened(asked))
    yield* eventually(() => methodsIn(listening).includes(ACKNOWLEDGED))
    return listening
  })

it.layer(RawHttp.layer(SETTINGS), LIVE)("A provider's endpoint", (it) => {
  it.effect("announces a new price in a subscription of its own, where the server offers none", () =>
    Effect.gen(function* () {
      const { base, key, providerKey, send, server, url } = yield* aDoor(fine, {
        onOther: (seen, response) => {
          if (seen.method !== "server/discover") return onOther!(seen, response)
          const supported = { supportedVersions: ["2026-07-28"], capabilities: { tools: {}, prompts: {} } }
          json(response, result(seen, { resultType: "complete", ...supported }))
          return true
        }
      })
      const discovered = yield* send({ method: "server/discover" })
      assert.deepStrictEqual(at(discovered.body, "result", "capabilities"), {
        prompts: {},
        tools: { listChanged: true }
      })
      const listening = yield* subscribed(url, key, { toolsListChanged: true, promptsListChanged: true })
      const others = yield* subscribed(url, key, { promptsListChanged: true })
      assert.deepStrictEqual(at(JSON.parse(listening.events[0]!.data), "params", "notifications"), {
        toolsListChanged: true
      })
      yield* posted(
        `${base}/api/market/tools`,
        { tools: [{ tool_name: "echo", price_microcents: PRICE - 1 }] },
        providerKey
      )
      yield* eventually(() => methodsIn(listening).includes(CHANGED))
      assert.strictEqual(
        at(JSON.parse(listening.events[1]!.data), "params", "_meta", "io.modelcontextprotocol/subscriptionId"),
        "sub"
      )
      const [tool] = at((yield* send({ method: "tools/list" })).body, "result", "tools") as ReadonlyArray<unknown>
      assert.strictEqual(at(tool, "_meta", "agent-tool-billing/price", "price_microcents"), PRICE - 1)
      assert.deepStrictEqual(methodsIn(others), [ACKNOWLEDGED])
      assert.lengthOf(server.of("subscriptions/listen"), 0)
    })
  )

  it.effect("adds its own announcements to the server's subscription, and follows the server's soon", () =>
    Effect.gen(function* () {
      const notify = (method: string, params: object, id: unknown) =>
        event({
          jsonrpc: "2.0",
          method,
          params: { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": id } }
        })
      let say = () => {}
      const { base, key, providerKey, server, url } = yield* aDoor(fine, {
        onOther: (seen, response) => {
          if (seen.method === "server/discover") {
            const capabilities = { tools: {}, prompts: { listChanged: true } }
            json(response, result(seen, { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities }))
            return true
          }
          if (seen.method !== "subscriptions/listen") return onOther!(seen, response)
          stream(response).write(notify(ACKNOWLEDGED, { notifications: { promptsListChanged: true } }, seen.id))
          say = () => response.write(notify(CHANGED, {}, seen.id))
          return true
        }
      })
      const listening = yield* subscribed(url, key, { toolsListChanged: true, promptsListChanged: true })
      assert.deepStrictEqual(at(JSON.parse(listening.events[0]!.data), "params", "notifications"), {
        promptsListChanged: true,
        toolsListChanged: true
      })
      // The acknowledgement does not wait for the server.
      yield* eventually(() => server.of("subscriptions/listen").length === 1)
      yield* posted(
        `${base}/api/market/tools`,
        { tools: [{ tool_name: "echo", price_microcents: PRICE - 1 }] },
        providerKey
      )
      yield* eventually(() => methodsIn(listening).includes(CHANGED))

      yield* posted(
        `${base}/api/v1/market/tools/sync`,
        { enabled: true, listed: false, default_price_microcents: 5 },
        providerKey
      )
      const nextSync = Effect.map(got(`${base}/api/v1/market/tools/sync`, providerKey), ({ next_sync_at: next }) =>
        Date.parse(String(next))
      )
      const hour = yield* nextSync
      say()
      yield* eventually(() => methodsIn(listening).filter((method) => method === CHANGED).length > 1)
      yield* Effect.repeat(nextSync, { until: (next) => next < hour - 30 * 60_000 })
    })
  )

  it.effect("acknowledges a subscription and announces a new price while the server does not answer", () =>
    Effect.gen(function* () {
      const { base, key, providerKey, url } = yield* aDoor(fine, { onOther: () => true })
      const wanted = { toolsListChanged: true, resourceSubscriptions: ["a:b"], unknown: true }
      // Within a fraction of the time that the server has.
      const listening = yield* Effect.timeout(subscribed(url, key, wanted), "6 seconds")
      assert.deepStrictEqual(at(JSON.parse(listening.events[0]!.data), "params", "notifications"), {
        toolsListChanged: true,
        resourceSubscriptions: ["a:b"]
      })
      yield* posted(
        `${base}/api/market/tools`,
        { tools: [{ tool_name: "echo", price_microcents: PRICE - 1 }] },
        providerKey
      )
      yield* eventually(() => methodsIn(listening).includes(CHANGED))
    })
  )

  it.effect("keeps a subscription whose server ends its own, and announces what may have changed meanwhile", () =>
    Effect.gen(function* () {
      const { key, server, url } = yield* aDoor(fine, {
        onOther: (seen, response) => {
          if (seen.method === "server/discover") {
            const capabilities = { prompts: { listChanged: true }, resources: { subscribe: true } }
            json(response, result(seen, { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities }))
            return true
          }
          if (seen.method !== "subscriptions/listen") return onOther!(seen, response)
          stream(response).write(event({ jsonrpc: "2.0", method: ACKNOWLEDGED, params: { notifications: {} } }))
          if (server.of("subscriptions/listen").length === 1) response.end()
          if (server.of("subscriptions/listen").length === 2) response.end(event(result(seen, {})))
          return true
        }
      })
      const listening = yield* subscribed(url, key, { promptsListChanged: true, resourceSubscriptions: ["a:b"] })
      yield* eventually(() => server.of("subscriptions/listen").length === 3)
      const missed = ["notifications/prompts/list_changed", "notifications/resources/updated"]
      yield* eventually(() => methodsIn(listening).length === 5)
      assert.deepStrictEqual(methodsIn(listening), [ACKNOWLEDGED, ...missed, ...missed])
      assert.deepStrictEqual(at(JSON.parse(listening.events[2]!.data), "params"), {
        _meta: { "io.modelcontextprotocol/subscriptionId": "sub" },
        uri: "a:b"
      })
    })
  )

  it.effect("announces a new price on the stream of a legacy session, where the server has none", () =>
    Effect.gen(function* () {
      const { port } = yield* RawHttp
      const base = `http://127.0.0.1:${port}`
      const gated = yield* gatedServer
      const door = yield* aLegacyDoor(base, gated.server.url, [aPricedTool("wait")])
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } }
      const greeted = yield* Effect.promise(() => rpc(door, { jsonrpc: "2.0", id: 0, method: "initialize", params }))
      const session = String(greeted.headers.get("mcp-session-id"))
      const answer = yield* Effect.promise(() => greeted.json())
      assert.deepStrictEqual(at(answer, "result", "capabilities", "tools"), { listChanged: true })
      const ending = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (one) => Effect.sync(() => one.abort())
      )
      const headers = { authorization: `Bearer ${door.key}`, "mcp-session-id": session, accept: "text/event-stream" }
      const response = yield* Effect.promise(() => fetch(door.door, { headers, signal: ending.signal }))
      assert.strictEqual(response.status, 200)
      const listening = eventsOf(response)
      yield* Effect.sleep("200 millis")
      for (let price = 900; !methodsIn(listening).includes(CHANGED) && price > 0; price -= 100) {
        const tools = [{ tool_name: "wait", price_microcents: price }]
        yield* posted(`${base}/api/market/tools`, { tools }, door.providerKey)
        yield* Effect.sleep("2 seconds")
      }
      assert.include(methodsIn(listening), CHANGED)
    })
  )
})
