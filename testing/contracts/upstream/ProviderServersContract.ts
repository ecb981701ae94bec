/**
 * What ProviderServers must do with any server that speaks MCP.
 */
import assert from "node:assert/strict"
import { Effect, type Scope } from "effect"
import { ProviderServers } from "../../../domain/upstream/ProviderServers.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { CONSUMER, INITIALIZE, passed, serverAt } from "../shared/ServerSamples.ts"

/** A server that you run for the contract, with a tool `echo`: the era it speaks and, while its scope lives, its URL. */
export interface EchoServer {
  readonly era: "legacy" | "modern"
  readonly url: Effect.Effect<string, never, Scope.Scope>
}

/** What a ProviderServers must do. Servers of the legacy era have one rule more: the session of a client. */
export const providerServersContract = (kind: EchoServer): Contract<ProviderServers> => {
  const arrange = Effect.gen(function* () {
    return { server: serverAt(yield* kind.url), servers: yield* ProviderServers }
  })
  const serverRule = <E>(title: string, check: Effect.Effect<void, E, ProviderServers | Scope.Scope>) =>
    rule(title, Effect.scoped(check))

  const ofAnyEra = [
    serverRule(
      "tells the era, the capabilities and the name of the server, as it wrote them",
      Effect.gen(function* () {
        const { server, servers } = yield* arrange
        const profiles = yield* Effect.all([servers.profile(server), servers.profile(server)], { concurrency: 2 })
        for (const profile of profiles) {
          assert.equal(profile.sessions, kind.era === "legacy")
          assert.equal(profile.version >= "2026", kind.era === "modern")
          assert.ok("tools" in JSON.parse(profile.capabilities))
          if (profile.serverInfo !== undefined) assert.ok("name" in JSON.parse(profile.serverInfo))
          if (profile.instructions !== undefined) assert.equal(typeof JSON.parse(profile.instructions), "string")
        }
      })
    ),

    serverRule(
      "lists the tools, each as the server wrote it",
      Effect.gen(function* () {
        const { server, servers } = yield* arrange
        const { tools, truncated } = yield* servers.tools(server, 60_000)
        assert.equal(truncated, false)
        assert.ok(tools.map(({ name }) => name).includes("echo"))
        for (const { definition, name, text } of tools) {
          assert.deepEqual(JSON.parse(text), definition)
          assert.equal(definition["name"], name)
        }
      })
    ),

    serverRule(
      "passes a request, and returns the result or the error of the server",
      Effect.gen(function* () {
        const { server, servers } = yield* arrange
        const listed = yield* servers.ask(server, passed("tools/list"))
        if (listed._tag !== "Result") return assert.fail(listed.error)
        const { tools } = JSON.parse(listed.result) as { readonly tools: ReadonlyArray<{ readonly name: string }> }
        assert.ok(tools.map(({ name }) => name).includes("echo"))
        const unknown = yield* servers.ask(server, passed("no/such-method"))
        if (unknown._tag !== "RpcError") return assert.fail(unknown.result)
        assert.equal((JSON.parse(unknown.error) as { readonly code: number }).code, -32601)
      })
    ),

    serverRule(
      "never passes a call of a tool, which is billed",
      Effect.gen(function* () {
        const { server, servers } = yield* arrange
        const refused = yield* servers.ask(server, passed("tools/call", { params: '{"name":"echo","arguments":{}}' }))
        assert.equal(refused._tag, "RpcError")
      })
    )
  ]

  const ofSessions = [
    serverRule(
      "opens a session of the client's own, and ends it",
      Effect.gen(function* () {
        const { server, servers } = yield* arrange
        const { result, session } = yield* servers.initialize(server, INITIALIZE, CONSUMER)
        assert.equal((JSON.parse(result) as { readonly protocolVersion: string }).protocolVersion, session.version)
        const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })
        yield* servers.tell(server, session, initialized, CONSUMER)
        const pong = yield* servers.ask(server, passed("ping", { inSession: true, session, requestId: "77" }))
        assert.deepEqual(pong, { _tag: "Result", result: "{}" })
        yield* servers.end(server, session)
        if (session.sessionId === undefined) return
        const gone = yield* Effect.flip(servers.ask(server, passed("ping", { inSession: true, session })))
        assert.equal(gone.sessionLost, true)
        assert.equal(gone.problem.kind, "session_lost")
      })
    )
  ]

  return kind.era === "legacy" ? [...ofAnyEra, ...ofSessions] : ofAnyEra
}
