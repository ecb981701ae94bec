/**
 * What ProviderServers promises of any server that speaks MCP, in either era.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { McpEra } from "../../domain/mcp/Protocol.ts"
import type { PassedRequest, ProviderServers, ServerAddress } from "../../domain/mcp/ProviderServers.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"

/** A server with a tool `echo`. */
export interface ServerKind {
  readonly name: string
  readonly era: McpEra
  readonly url: Effect.Effect<string, never, Scope.Scope>
}

export const serverAt = (endpointUrl: string): ServerAddress => ({
  providerId: ProviderId.make("a0000000-0000-4000-8000-000000000001"),
  endpointUrl
})

export const CONSUMER = ConsumerId.make("c0000000-0000-4000-8000-000000000001")

/** A request as a modern client without capabilities sends it. */
export const passed = (method: string, over: Partial<PassedRequest> = {}): PassedRequest => ({
  method,
  params: undefined,
  era: "modern",
  capabilities: undefined,
  clientInfo: undefined,
  session: undefined,
  requestId: '"of the client"',
  progressToken: undefined,
  consumerId: CONSUMER,
  timeoutMs: 10_000,
  onMessage: () => {},
  ...over
})

export const INITIALIZE = JSON.stringify({
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {}, sampling: {}, roots: {} },
  clientInfo: { name: "a client", version: "1.2.3" }
})

export const providerServersContract = (
  kind: ServerKind,
  port: Effect.Effect<ProviderServers["Service"], never, Scope.Scope>
) =>
  describe(`ProviderServers over ${kind.name}`, () => {
    const arrange = Effect.gen(function* () {
      return { server: serverAt(yield* kind.url), servers: yield* port }
    })

    it.live(
      "tells the era, the capabilities and the name of the server, as it wrote them",
      () =>
        Effect.gen(function* () {
          const { server, servers } = yield* arrange
          const profiles = yield* Effect.all([servers.profile(server), servers.profile(server)], { concurrency: 2 })
          for (const profile of profiles) {
            assert.strictEqual(profile.era, kind.era)
            assert.strictEqual(profile.version >= "2026", kind.era === "modern")
            assert.property(JSON.parse(profile.capabilities), "tools")
            if (profile.serverInfo !== undefined) assert.property(JSON.parse(profile.serverInfo), "name")
            if (profile.instructions !== undefined) assert.isString(JSON.parse(profile.instructions))
          }
        }),
      60_000
    )

    it.live(
      "lists the tools, each as the server wrote it",
      () =>
        Effect.gen(function* () {
          const { server, servers } = yield* arrange
          const { tools, truncated } = yield* servers.tools(server, 60_000)
          assert.isFalse(truncated)
          assert.include(
            tools.map(({ name }) => name),
            "echo"
          )
          for (const { definition, name, text } of tools) {
            assert.deepStrictEqual(JSON.parse(text), definition)
            assert.strictEqual(definition["name"], name)
          }
        }),
      60_000
    )

    it.live(
      "passes a request, and returns the result or the error of the server",
      () =>
        Effect.gen(function* () {
          const { server, servers } = yield* arrange
          const listed = yield* servers.ask(server, passed("tools/list"))
          if (listed._tag !== "Result") return assert.fail(listed.error)
          const { tools } = JSON.parse(listed.result) as { readonly tools: ReadonlyArray<{ readonly name: string }> }
          assert.include(
            tools.map(({ name }) => name),
            "echo"
          )
          const unknown = yield* servers.ask(server, passed("no/such-method"))
          if (unknown._tag !== "RpcError") return assert.fail(unknown.result)
          assert.strictEqual((JSON.parse(unknown.error) as { readonly code: number }).code, -32601)
        }),
      60_000
    )

    it.live("never passes a call of a tool, which is billed", () =>
      Effect.gen(function* () {
        const { server, servers } = yield* arrange
        const refused = yield* servers.ask(server, passed("tools/call", { params: '{"name":"echo","arguments":{}}' }))
        assert.strictEqual(refused._tag, "RpcError")
      })
    )

    if (kind.era === "legacy") {
      it.live(
        "opens a session of the client's own, and ends it",
        () =>
          Effect.gen(function* () {
            const { server, servers } = yield* arrange
            const { result, session } = yield* servers.initialize(server, INITIALIZE, CONSUMER)
            assert.strictEqual(
              (JSON.parse(result) as { readonly protocolVersion: string }).protocolVersion,
              session.version
            )
            const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })
            yield* servers.tell(server, session, initialized, CONSUMER)
            const pong = yield* servers.ask(server, passed("ping", { era: "legacy", session, requestId: "77" }))
            assert.deepStrictEqual(pong, { _tag: "Result", result: "{}" })
            yield* servers.end(server, session)
            if (session.sessionId === undefined) return
            const gone = yield* Effect.flip(servers.ask(server, passed("ping", { era: "legacy", session })))
            assert.isTrue(gone.sessionLost)
            assert.strictEqual(gone.problem.kind, "session_lost")
          }),
        60_000
      )
    }
  })
