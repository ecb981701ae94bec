/**
 * Requests of a modern MCP client to a door, as plain HTTP.
 */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { MODERN_VERSION, VERSION_META, CLIENT_CAPABILITIES_META } from "../../../domain/upstream/Protocol.ts"
import { valueAt } from "../market/Market.ts"
import { type Call, send } from "../market/ServiceUnderTest.ts"

type Fields = Readonly<Record<string, unknown>>

export interface Asking {
  readonly path?: string
  readonly key: string | undefined
  readonly method: string
  readonly params?: Fields
  readonly meta?: Fields
  readonly capabilities?: Fields
}

export const modernCall = ({ capabilities = {}, key, meta = {}, method, params = {}, path = "/mcp" }: Asking): Call => {
  const name = params["name"] ?? params["uri"]
  return {
    path,
    key,
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": MODERN_VERSION,
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {})
    },
    json: {
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...params,
        _meta: { ...meta, [VERSION_META]: MODERN_VERSION, [CLIENT_CAPABILITIES_META]: capabilities }
      }
    }
  }
}

/** The result of a request that succeeds. */
export const asked = (asking: Asking) =>
  Effect.map(send(modernCall(asking)), ({ json, status, text }) => {
    assert.strictEqual(status, 200, text)
    const result = valueAt(json, "result")
    assert.isDefined(result, text)
    return result as Schema.JsonObject
  })

export const toolCalled = (key: string, name: string, args: Fields = {}, meta: Fields = {}, path = "/mcp") =>
  asked({ path, key, method: "tools/call", params: { name, arguments: args }, meta })
