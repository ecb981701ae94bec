/**
 * Which ProviderServers a composition has: the MCP client beside its ToolUpstream, or one that says why it answers nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { hmacOf } from "../../adapters/crypto/Hmac.ts"
import { Dispatcher } from "../../adapters/http/pipeline/Dispatcher.ts"
import { publicAndLoopback } from "../../adapters/mcp/egress/AddressGuard.ts"
import * as McpUpstream from "../../adapters/mcp/McpUpstream.ts"
import { ProviderServers } from "../../domain/upstream/ProviderServers.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { Fatal } from "../../src/layers/Process.ts"
import { memoryPorts } from "../../src/layers/MemoryPorts.ts"
import { serviceOf } from "../../src/layers/Service.ts"
import { CONSUMER, INITIALIZE, passed, serverAt } from "../contracts/providerServers.ts"
import { sdk2Server } from "../support/mcp/servers/RealServers.ts"
import { memoryConfig } from "../support/market/ServiceConfig.ts"

const session = { version: "2025-11-25", sessionId: "s" }

describe("the servers of providers", () => {
  it.live("are not reached by a program that calls its tools in another way, which says so", () =>
    Effect.gen(function* () {
      const servers = yield* ProviderServers
      const at = serverAt("https://example.com/mcp")
      const operations: ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>> = [
        servers.profile(at),
        servers.tools(at, 0),
        servers.initialize(at, INITIALIZE, CONSUMER),
        servers.ask(at, passed("ping")),
        servers.tell(at, session, "{}", CONSUMER),
        servers.listen(at, session, undefined, CONSUMER, () => {})
      ]
      for (const operation of operations) {
        const { message } = yield* Effect.flip(operation)
        assert.strictEqual(message, "This service does not connect to MCP servers of providers")
      }
      yield* servers.end(at, session)
    }).pipe(Effect.provide(memoryPorts))
  )

  it.live("are reached where the MCP client calls the tools", () =>
    Effect.gen(function* () {
      const { url } = yield* sdk2Server()
      const mcp = McpUpstream.layer({ policy: publicAndLoopback, signerOf: () => hmacOf(Buffer.from("a secret")) })
      const { tools } = yield* Effect.flatMap(ProviderServers, (servers) => servers.tools(serverAt(url), 0)).pipe(
        Effect.provide(Layer.provideMerge(mcp, memoryPorts))
      )
      assert.isAbove(tools.length, 0)
    })
  )

  it.live("are replaced alone or with the tools' upstream", () =>
    Effect.gen(function* () {
      const own = Layer.mock(ProviderServers, {})
      for (const ports of [own, Layer.merge(own, Layer.mock(ToolUpstream, {}))]) {
        const market = serviceOf(memoryConfig(), ports).pipe(
          Layer.provide([Fatal.layer, Logger.layer([])]),
          Layer.orDie
        )
        assert.isDefined(Context.get(yield* Layer.build(market), Dispatcher))
      }
    })
  )
})
