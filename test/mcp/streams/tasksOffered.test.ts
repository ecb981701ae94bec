/**
 * What a door declares of tasks: the extension of the modern era, where the server does.
 */
import { assert, it } from "@effect/vitest"
import { offeredInSession } from "../../../adapters/http/mcp/legacy/LegacyDialect.ts"
import { offeredByModern } from "../../../adapters/http/mcp/ModernDoor.ts"
import type { ServerProfile } from "../../../domain/upstream/ProviderServers.ts"

const profile = (era: "legacy" | "modern"): ServerProfile => ({
  sessions: era === "legacy",
  version: "",
  capabilities: `{"tools":{"n":1.50},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}}`,
  serverInfo: "{}",
  instructions: undefined
})

it.each([
  ["modern", "modern", `{"tools":{"n":1.50},"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}}`],
  ["legacy", "legacy", `{"tools":{"n":1.50},"extensions":{"x":{}}}`],
  ["legacy", "modern", `{"tools":{}}`]
] as const)(
  "capabilities of a %s server are offered to a %s client with tasks of its era",
  (server, client, expected) => {
    const offered = client === "legacy" ? offeredInSession : offeredByModern
    assert.strictEqual(offered(profile(server)), expected)
  }
)
