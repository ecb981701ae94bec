/**
 * What a provider turns off at its door: not declared, rejected, and not sent by its server either.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { event, result, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { got, posted } from "../../support/market/HttpMarket.ts"
import { aDoor, SETTINGS } from "../../support/mcp/ADoor.ts"
import { at, errorCode } from "../../support/mcp/DoorClient.ts"
import { gatedServer } from "../../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, rpc } from "../../support/mcp/LegacyClients.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const FEATURES = "/api/v1/market/mcp-features"

const log = (data: string) =>
  event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } })
const progress = event({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: "t", progress: 1 }
})

it.layer(RawHttp.layer(SETTINGS), LIVE)("Features that a provider has turned off", (it) => {
  it.effect("are not declared to modern clients, and rejected however they are spelled", () =>
    Effect.gen(function* () {
      const { base, call, providerKey, send, server } = yield* aDoor((seen, response) => {
        stream(response)
        response.end(log("secret") + event(result(seen, text("fine"))))
      })
      const declared = Effect.map(send({ method: "server/discover" }), ({ body }) =>
        Object.keys(at(body, "result", "capabilities") as object)
      )
      assert.includeMembers([...(yield* declared)], ["tools", "prompts", "resources"])
      assert.strictEqual((yield* send({ method: "prompts/list" })).status, 200)
      const off = yield* posted(base + FEATURES, { features_off: ["logging", "resources", "resources"] }, providerKey)
      assert.deepStrictEqual(off["features_off"], ["resources", "logging"])
      assert.match(String(off["mcp_url"]), /\/mcp\/[a-z0-9-]+$/u)
      assert.notInclude(yield* declared, "resources")
      assert.include(yield* declared, "prompts")
      const before = server.seen.length
      for (const method of ["resources/read", "resources/list", "Resources/List", "./resources/templates/list"]) {
        const params = method === "resources/read" ? { uri: "a://b" } : {}
        assert.deepStrictEqual(errorCode(yield* send({ method, params })), [404, -32_601], method)
      }
      const completing = { ref: { type: "ref/resource", uri: "a://{b}" }, argument: { name: "b", value: "" } }
      assert.deepStrictEqual(
        errorCode(yield* send({ method: "completion/complete", params: completing })),
        [404, -32_601]
      )
      assert.strictEqual(server.seen.length, before)
      assert.strictEqual((yield* send({ method: "prompts/list" })).status, 200)
      assert.notInclude((yield* call()).text, "secret")
      yield* posted(base + FEATURES, { features_off: [] }, providerKey)
      assert.include(yield* declared, "resources")
      assert.deepStrictEqual((yield* got(base + FEATURES, providerKey))["features_off"], [])
      assert.include((yield* call()).text, "secret")
    })
  )

  it.effect("are not declared to legacy clients, and their notifications are dropped", () =>
    Effect.gen(function* () {
      const { port } = yield* RawHttp
      const base = `http://127.0.0.1:${port}`
      const gated = yield* gatedServer
      const door = yield* aLegacyDoor(base, gated.server.url, [aPricedTool("wait")])
      yield* posted(base + FEATURES, { features_off: ["logging"] }, door.providerKey)
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } }
      const opened = yield* Effect.promise(() => rpc(door, { jsonrpc: "2.0", id: 0, method: "initialize", params }))
      const headers = { "mcp-session-id": String(opened.headers.get("mcp-session-id")) }
      const answer = yield* Effect.promise(() => opened.json())
      assert.deepStrictEqual(at(answer, "result", "capabilities"), {
        tools: { listChanged: true },
        resources: { subscribe: true }
      })
      const send = (method: string, more: object) =>
        Effect.promise(() => rpc(door, { jsonrpc: "2.0", id: 1, method, params: more }, headers))
      const rejected = yield* Effect.flatMap(send("logging/setLevel", { level: "info" }), (response) =>
        Effect.promise(() => response.json())
      )
      assert.strictEqual(at(rejected, "error", "code"), -32_601)
      assert.strictEqual(gated.server.of("logging/setLevel").length, 0)
      const called = yield* send("tools/call", { name: "wait", arguments: {}, _meta: { progressToken: "t" } })
      const { response } = gated.open[0]!
      response.write(log("secret") + progress)
      gated.finish(0)
      const events = yield* Effect.promise(() => called.text())
      assert.include(events, "notifications/progress")
      assert.include(events, "done")
      assert.notInclude(events, "secret")
    })
  )
})
