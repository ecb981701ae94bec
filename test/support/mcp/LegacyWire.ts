/**
 * Messages of a client of the legacy era on the wire.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../servers/ServiceProcess.ts"
import { eventsOf } from "./servers/GatedServer.ts"
import { type LegacyDoor, rpc } from "./LegacyClients.ts"
import { eventually } from "./McpClient.ts"

type Headers = Readonly<Record<string, string>>

/** Opens a session; returns the header that names it. */
export const aSession = (door: LegacyDoor, protocolVersion = "2025-11-25") =>
  Effect.promise(async () => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "wire", version: "1" } }
    const response = await rpc(door, { jsonrpc: "2.0", id: 0, method: "initialize", params })
    return { "mcp-session-id": String(response.headers.get("mcp-session-id")) }
  })

export const call = (name: string, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, _meta: { progressToken: "p" } }
})

export const canceled = (requestId: unknown) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId }
})

/** A call whose stream has begun: the first event, and the server's progress. */
export const aStream = Effect.fnUntraced(function* (
  door: LegacyDoor,
  headers: Headers,
  name = "wait",
  id: unknown = 1
) {
  const connection = new AbortController()
  const response = yield* Effect.promise(() => rpc(door, call(name, id), headers, connection.signal))
  assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
  const stream = eventsOf(response)
  yield* eventually(() => stream.events.length >= 2)
  return { stream, drop: () => connection.abort() }
})

export const resume = (door: LegacyDoor, headers: Headers, lastEventId: string) =>
  Effect.promise(() =>
    fetch(door.door, {
      headers: {
        authorization: `Bearer ${door.key}`,
        accept: "text/event-stream",
        "last-event-id": lastEventId,
        ...headers
      }
    })
  )

/** Waits for the settlement of so many calls of the account. */
export const settled = Effect.fnUntraced(function* (door: LegacyDoor, count: number) {
  for (;;) {
    const { body } = yield* json(`${door.url}/api/v1/market/receipts?limit=100`, {
      headers: { authorization: `Bearer ${door.key}` }
    })
    const found = body["receipts"] as ReadonlyArray<Readonly<Record<string, unknown>>>
    if (found.length >= count) {
      assert.lengthOf(found, count)
      return found
    }
    yield* Effect.sleep("20 millis")
  }
})
