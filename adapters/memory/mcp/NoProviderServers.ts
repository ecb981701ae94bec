/**
 * ProviderServers of a program that has no connection to MCP servers, because its tools are called in another way.
 */
import { Effect, Layer } from "effect"
import { ProviderServers, ServerFailed } from "../../../domain/upstream/ProviderServers.ts"

export const layer: Layer.Layer<ProviderServers> = Layer.sync(ProviderServers, () => {
  const unreachable = Effect.fail(
    new ServerFailed({
      problem: { kind: "connection", message: "This service does not connect to MCP servers of providers" },
      sessionLost: false
    })
  )
  return {
    profile: () => unreachable,
    tools: () => unreachable,
    initialize: () => unreachable,
    ask: () => unreachable,
    tell: () => unreachable,
    listen: () => unreachable,
    end: () => Effect.void
  }
})
