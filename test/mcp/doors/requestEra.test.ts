/**
 * The era of a request at a door, by its message and its headers.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { parseMessages } from "../../../adapters/http/mcp/RpcMessages.ts"
import { isModern } from "../../../adapters/http/mcp/legacy/LegacyDialect.ts"

const VERSION = "io.modelcontextprotocol/protocolVersion"

const request = (headers: Readonly<Record<string, string>>) => ({
  method: "POST",
  path: "/mcp/any",
  query: "",
  headers,
  remoteAddress: "192.0.2.1",
  body: () => Effect.succeed(new Uint8Array())
})

const message = (method: string, version?: string) =>
  parseMessages(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: version === undefined ? {} : { _meta: { [VERSION]: version } }
    })
  )

it.effect.each([
  ["a version in the message", "tools/list", "2026-07-28", {}, true],
  ["a legacy version in the message", "tools/list", "2025-11-25", { "mcp-method": "tools/list" }, false],
  ["no version", "tools/list", undefined, {}, false],
  ["a legacy version in the header", "tools/list", undefined, { "mcp-protocol-version": "2025-06-18" }, false],
  ["only the modern header", "tools/list", undefined, { "mcp-method": "tools/list" }, true],
  // As @modelcontextprotocol/client 2 and mcp-remote send it.
  ["the handshake with the modern header", "initialize", undefined, { "mcp-method": "initialize" }, false]
] as const)("is known from %s", ([, method, version, headers, modern]) =>
  Effect.gen(function* () {
    assert.strictEqual(isModern(request(headers), yield* message(method, version)), modern)
  })
)
