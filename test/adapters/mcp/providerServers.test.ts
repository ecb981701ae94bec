/**
 * The ProviderServers adapter over MCP servers as providers run them.
 */
import { Effect } from "effect"
import { providerServersContract, type ServerKind } from "../../contracts/providerServers.ts"
import { makeClient } from "../../support/mcp/McpClient.ts"
import { everythingServer, sdk1Server, sdk2Server } from "../../support/mcp/RealServers.ts"

const urlOf = <E, R>(server: Effect.Effect<{ readonly url: string }, E, R>) => Effect.map(server, ({ url }) => url)

const kinds: ReadonlyArray<ServerKind> = [
  { name: "SDK 2.x, 2026-07-28", era: "modern", url: urlOf(sdk2Server()) },
  { name: "SDK 2.x, 2026-07-28 only", era: "modern", url: urlOf(sdk2Server({ legacy: "reject" })) },
  { name: "SDK 2.x, 2026-07-28, streams", era: "modern", url: urlOf(sdk2Server({ mode: "sse" })) },
  { name: "SDK 1.x with sessions, streams", era: "legacy", url: urlOf(sdk1Server({ stateful: true })) },
  { name: "SDK 1.x with sessions, JSON", era: "legacy", url: urlOf(sdk1Server({ stateful: true, json: true })) },
  { name: "SDK 1.x without sessions", era: "legacy", url: urlOf(sdk1Server({ stateful: false })) },
  { name: "server-everything", era: "legacy", url: urlOf(everythingServer) }
]

for (const kind of kinds) {
  providerServersContract(
    kind,
    Effect.map(makeClient(), ({ servers }) => servers)
  )
}
