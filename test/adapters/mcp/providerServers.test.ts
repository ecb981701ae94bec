/**
 * The ProviderServers adapter over MCP servers as providers run them.
 */
import { Effect, Layer } from "effect"
import { ProviderServers } from "../../../domain/upstream/ProviderServers.ts"
import {
  type EchoServer,
  providerServersContract
} from "../../../testing/contracts/upstream/ProviderServersContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { makeClient } from "../../support/mcp/McpClient.ts"
import { everythingServer, sdk1Server, sdk2Server } from "../../support/mcp/servers/RealServers.ts"

const urlOf = <E, R>(server: Effect.Effect<{ readonly url: string }, E, R>) => Effect.map(server, ({ url }) => url)

const kinds: ReadonlyArray<EchoServer & { readonly name: string }> = [
  { name: "SDK 2.x, 2026-07-28", era: "modern", url: urlOf(sdk2Server()) },
  { name: "SDK 2.x, 2026-07-28 only", era: "modern", url: urlOf(sdk2Server({ legacy: "reject" })) },
  { name: "SDK 2.x, 2026-07-28, streams", era: "modern", url: urlOf(sdk2Server({ mode: "sse" })) },
  { name: "SDK 1.x with sessions, streams", era: "legacy", url: urlOf(sdk1Server({ stateful: true })) },
  { name: "SDK 1.x with sessions, JSON", era: "legacy", url: urlOf(sdk1Server({ stateful: true, json: true })) },
  { name: "SDK 1.x without sessions", era: "legacy", url: urlOf(sdk1Server({ stateful: false })) },
  { name: "server-everything", era: "legacy", url: urlOf(everythingServer) }
]

for (const kind of kinds) {
  contractOver(
    `ProviderServers over ${kind.name}`,
    providerServersContract(kind),
    // Its own for each server: they may get the same port one after the other.
    Layer.effect(
      ProviderServers,
      Effect.map(makeClient(), ({ servers }) => servers)
    )
  )
}
