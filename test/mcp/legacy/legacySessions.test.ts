/**
 * Sessions of the legacy era on the wire: headers, statuses, batches, and who may use a session.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import type { Seen } from "../../../testing/mcp/ScriptedServer.ts"
import { aDeveloper } from "../../support/market/HttpMarket.ts"
import { gatedServer } from "../../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, type LegacyDoor, rpc } from "../../support/mcp/LegacyClients.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

type Gated = Effect.Success<typeof gatedServer>

class GatedDoor extends Context.Service<GatedDoor, LegacyDoor & { readonly gated: Gated }>()(
  "agent-tool-billing/test/mcp/GatedDoor"
) {
  static readonly layer = Layer.effect(
    GatedDoor,
    Effect.gen(function* () {
      const gated = yield* gatedServer
      const service = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Warn" })
      const door = yield* aLegacyDoor(service.url, gated.server.url, [aPricedTool("wait")])
      return { ...door, gated }
    })
  )
}

const initialize = (protocolVersion: string, id: unknown = 0) => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "wire", version: "1" } }
})

const request = (method: string, id: unknown = 1, params?: unknown) => ({ jsonrpc: "2.0", id, method, params })
const notice = (method: string, params?: unknown) => ({ jsonrpc: "2.0", method, params })

const aSession = (door: LegacyDoor, version = "2025-11-25") =>
  Effect.promise(async () => {
    const response = await rpc(door, initialize(version))
    assert.strictEqual(response.status, 200)
    return String(response.headers.get("mcp-session-id"))
  })

const answered = (response: Promise<Response>) =>
  Effect.promise(async () => {
    const { headers, status, ...rest } = await response.then(async (one) => ({
      headers: one.headers,
      status: one.status,
      text: await one.text()
    }))
    return { headers, status, text: rest.text, json: rest.text.startsWith("<") ? undefined : safely(rest.text) }
  })

const safely = (text: string) => (text === "" ? undefined : JSON.parse(text))

it.layer(GatedDoor.layer, { timeout: "60 seconds", excludeTestServices: true })("A legacy session", (it) => {
  it.effect("is opened by initialize, in the version that client and server share", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      for (const version of ["2025-11-25", "2025-06-18", "2025-03-26"]) {
        const opened = yield* answered(rpc(door, initialize(version, "first")))
        assert.strictEqual(opened.status, 200)
        assert.strictEqual(opened.json.id, "first")
        assert.strictEqual(opened.json.result.protocolVersion, version)
        assert.strictEqual(opened.json.result.serverInfo.name, "gated")
        assert.match(opened.headers.get("mcp-session-id") ?? "", /^[0-9a-f]{64}$/u)
      }
      const seen = door.gated.server.of("initialize").at(-1)!
      assert.deepStrictEqual(seen.params["clientInfo"], { name: "wire", version: "1" })
      const without = yield* answered(rpc(door, { ...initialize("x"), params: {} }))
      assert.deepStrictEqual([without.status, without.json.error.code], [400, -32602])
    })
  )

  it.effect("is required, must be known, and belongs to one account and one door", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      const id = yield* aSession(door)
      const ping = (headers: Record<string, string>, one: LegacyDoor = door) =>
        answered(rpc(one, request("ping", 7), headers))
      const known = yield* ping({ "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" })
      assert.deepStrictEqual([known.status, known.json], [200, { jsonrpc: "2.0", id: 7, result: {} }])
      assert.strictEqual((yield* ping({})).status, 400)
      assert.strictEqual((yield* ping({ "mcp-session-id": "f".repeat(64) })).status, 404)
      assert.strictEqual((yield* ping({ "mcp-session-id": "x".repeat(10_000) })).status, 404)
      const wrongVersion = yield* ping({ "mcp-session-id": id, "mcp-protocol-version": "1999-01-01" })
      assert.strictEqual(wrongVersion.status, 400)

      const thief = { ...door, key: yield* aDeveloper(door.url, "Mallory") }
      const stolen = yield* ping({ "mcp-session-id": id }, thief)
      const unknown = yield* ping({ "mcp-session-id": "f".repeat(64) }, thief)
      assert.deepStrictEqual([stolen.status, stolen.text], [404, unknown.text])
      assert.include(
        unknown.text,
        "or it has ended. Send initialize without an Mcp-Session-Id header to open another one."
      )
      const unauthenticated = yield* ping({ "mcp-session-id": id }, { ...door, key: "atb_c_none" })
      assert.strictEqual(unauthenticated.status, 401)
      for (const method of ["GET", "DELETE"]) {
        const headers = { authorization: `Bearer ${thief.key}`, "mcp-session-id": id, accept: "text/event-stream" }
        const response = yield* answered(fetch(door.door, { method, headers }))
        assert.strictEqual(response.status, 404, method)
      }
      assert.strictEqual((yield* ping({ "mcp-session-id": id })).status, 200)
    })
  )

  it.effect("ends with DELETE at once, and at the provider's server not before its calls, which are billed", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      const id = yield* aSession(door)
      const from = door.gated.open.length
      const headers = { authorization: `Bearer ${door.key}`, "mcp-session-id": id }
      const call = answered(rpc(door, request("tools/call", 5, { name: "wait", arguments: {} }), headers))
      const running = yield* Effect.forkChild(call, { startImmediately: true })
      yield* eventually(() => door.gated.open.length > from)
      const ended = yield* answered(fetch(door.door, { method: "DELETE", headers }))
      assert.deepStrictEqual([ended.status, ended.text], [204, ""])
      assert.strictEqual((yield* answered(rpc(door, request("ping"), headers))).status, 404)
      yield* Effect.sleep("300 millis")
      const session = door.gated.server.of("tools/call").at(-1)!.headers["mcp-session-id"]
      const isItsEnd = ({ headers: sent, http }: Seen) => http === "DELETE" && sent["mcp-session-id"] === session
      assert.isFalse(door.gated.server.seen.some(isItsEnd))
      door.gated.finish(from)
      assert.include((yield* Fiber.join(running)).text, '"cost_microcents":1000')
    })
  )

  it.effect("passes notifications and responses of the client on, and answers 202", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      const id = yield* aSession(door)
      const headers = { "mcp-session-id": id }
      for (const message of [
        notice("notifications/initialized"),
        notice("notifications/roots/list_changed"),
        { jsonrpc: "2.0", id: "server-1", result: { roots: [] } },
        { jsonrpc: "2.0", id: 2, error: { code: -1, message: "declined" } }
      ]) {
        const told = yield* answered(rpc(door, message, headers))
        assert.deepStrictEqual([told.status, told.text], [202, ""])
        assert.strictEqual(door.gated.server.seen.at(-1)!.text, JSON.stringify(message))
      }
    })
  )

  it.effect("passes requests through with the client's ids, and errors as responses with status 200", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      const headers = { "mcp-session-id": yield* aSession(door) }
      const passed = yield* answered(rpc(door, request("prompts/list", "a"), headers))
      assert.deepStrictEqual(passed.json, { jsonrpc: "2.0", id: "a", result: { answered: "prompts/list" } })
      for (const [method, code] of [
        ["initialize", -32600],
        ["server/discover", -32601],
        ["subscriptions/listen", -32601]
      ] as const) {
        const message = method === "initialize" ? [initialize("2025-11-25", 4)] : request(method, 4)
        const refused = yield* answered(rpc(door, message, headers))
        const error = Array.isArray(refused.json) ? refused.json[0] : refused.json
        assert.strictEqual(error.error.code, code, method)
      }
    })
  )

  it.effect("takes batches in version 2025-03-26 only, and bills each call in one", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      const batch = [
        request("ping", 1),
        notice("notifications/roots/list_changed"),
        request("prompts/list", 2),
        { jsonrpc: "1.0", id: 3, method: "ping" },
        request("tools/call", 4, { name: "wait", arguments: {} })
      ]
      const newer = yield* answered(rpc(door, batch, { "mcp-session-id": yield* aSession(door) }))
      assert.deepStrictEqual([newer.status, newer.json.error.code], [400, -32600])

      const headers = { "mcp-session-id": yield* aSession(door, "2025-03-26") }
      const from = door.gated.open.length
      const response = answered(rpc(door, batch, { ...headers, accept: "application/json" }))
      yield* Effect.forkChild(
        Effect.andThen(
          eventually(() => door.gated.open.length > from),
          Effect.sync(() => door.gated.finish(from))
        )
      )
      const older = yield* response
      assert.strictEqual(older.status, 200)
      assert.deepStrictEqual(
        older.json.map((one: { id: unknown; error?: { code: number } }) => [one.id, one.error?.code]),
        [
          [1, undefined],
          [2, undefined],
          [3, -32600],
          [4, undefined]
        ]
      )
      const billing = older.json[3].result._meta["agent-tool-billing/billing"]
      assert.strictEqual(billing.cost_microcents, 1_000)
      const only = yield* answered(rpc(door, [notice("notifications/roots/list_changed")], headers))
      assert.deepStrictEqual([only.status, only.text], [202, ""])
    })
  )

  it.effect("bills one call of a batch at most, and takes 10 messages at most", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      const headers = { "mcp-session-id": yield* aSession(door, "2025-03-26"), accept: "application/json" }
      const many = yield* answered(
        rpc(
          door,
          Array.from({ length: 11 }, (_, id) => request("ping", id)),
          headers
        )
      )
      assert.deepStrictEqual([many.status, many.json.error.code], [400, -32600])

      const from = door.gated.open.length
      const call = (id: number) => request("tools/call", id, { name: "wait", arguments: {} })
      const response = answered(rpc(door, [call(1), call(2), request("ping", 3)], headers))
      yield* eventually(() => door.gated.open.length > from)
      door.gated.finish(from)
      const { json } = yield* response
      assert.deepStrictEqual(
        json.map((one: { id: unknown; error?: { code: number } }) => [one.id, one.error?.code]),
        [
          [1, undefined],
          [2, -32600],
          [3, undefined]
        ]
      )
      assert.include(json[1].error.message, "Send calls of tools one at a time")
      assert.lengthOf(door.gated.open, from + 1)
    })
  )

  it.effect("answers a GET that it cannot serve with what is wrong", () =>
    Effect.gen(function* () {
      const door = yield* GatedDoor
      const id = yield* aSession(door)
      const get = (headers: Record<string, string>) =>
        answered(
          fetch(door.door, { headers: { authorization: `Bearer ${door.key}`, "mcp-session-id": id, ...headers } })
        )
      assert.strictEqual((yield* get({ accept: "application/json" })).status, 406)
      const accept = "text/event-stream"
      assert.strictEqual((yield* get({ accept, "last-event-id": "nonsense" })).status, 400)
      assert.strictEqual((yield* get({ accept, "last-event-id": "end" })).status, 405)
    })
  )
})
