/**
 * Sessions of MCP clients with a fake server of a provider.
 */
import { Effect, Layer } from "effect"
import { McpSessions } from "../../../../domain/mcp/McpSessions.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../../../domain/metering/CallTerms.ts"
import { Entropy } from "../../../../domain/shared/Cryptography.ts"
import { ConsumerId, ProviderId } from "../../../../domain/shared/Ids.ts"
import { MODERN_VERSION, type UpstreamSession } from "../../../../domain/upstream/Protocol.ts"
import { ProviderServers, type ServerAddress, ServerFailed } from "../../../../domain/upstream/ProviderServers.ts"

export const PARAMS = `{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"a","version":"1"}}`

/** Two attempts of the longest time-out, the time to settle, the waits for the caller, and what a cache may be behind. */
export const LONGEST_MS = 5 * 60_000 + 30_000 + 10 * 60_000 + 30_000

export const PROFILE = Effect.succeed({
  capabilities: `{"tools":{}}`,
  serverInfo: `{"name":"own","version":"1"}`,
  instructions: `"Say \\"please\\""`
})

const NO_SUCH_METHOD = new ServerFailed({
  problem: {
    kind: "json_rpc_error",
    message: "No such method",
    rpcError: { code: -32_601, message: "No such method" }
  },
  sessionLost: false
})

/** A provider's server, and what it was asked. */
class FakeServer {
  era: "legacy" | "modern" = "legacy"
  version = "2025-06-18"
  servesBothEras = false
  readonly initialized: Array<string> = []
  readonly told: Array<string> = []
  readonly ended: Array<UpstreamSession> = []

  readonly layer = Layer.mock(ProviderServers, {
    profile: () =>
      Effect.sync(() => ({
        sessions: this.era === "legacy",
        version: this.era === "modern" ? MODERN_VERSION : this.version,
        capabilities: `{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},"extensions":{}}`,
        serverInfo: `{"name":"fake","version":"1.0"}`,
        instructions: `"Say \\"please\\""`
      })),
    initialize: (_server, params) =>
      Effect.suspend(() => {
        this.initialized.push(params)
        if (this.era === "modern" && !this.servesBothEras) return Effect.fail(NO_SUCH_METHOD)
        const session = { version: this.version, sessionId: `upstream-${this.initialized.length}` }
        return Effect.succeed({ session, result: `{"protocolVersion":"${this.version}", "unknown": 1.0}` })
      }),
    tell: (_server, _session, message) => Effect.sync(() => void this.told.push(message)),
    end: (_server, session) => Effect.sync(() => void this.ended.push(session))
  })
}

export const given = Effect.gen(function* () {
  const entropy = yield* Entropy
  const fake = new FakeServer()
  const build = Layer.build(
    Layer.fresh(McpSessions.layer).pipe(Layer.provide([fake.layer, Layer.succeed(UpstreamLimits, UPSTREAM_LIMITS)]))
  )
  const node = Effect.map(build, (context) => context.mapUnsafe.get(McpSessions.key) as McpSessions["Service"])
  const consumerId = ConsumerId.make(yield* entropy.uuid)
  const server: ServerAddress = {
    providerId: ProviderId.make(yield* entropy.uuid),
    endpointUrl: "https://example.com/mcp"
  }
  const sessions = yield* node
  const request = { consumerId, server, params: PARAMS, requested: "2025-06-18" }
  return { fake, sessions, consumerId, server, request, open: sessions.open(request, PROFILE), node }
})
