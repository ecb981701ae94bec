/**
 * Everything has a limit: sockets, requests in flight, endpoints cached, time over all attempts, consecutive
 * failures.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { CircuitBreaker } from "../../../adapters/mcp/client/ProviderEndpoint.ts"
import { retryAfterSecondsOf } from "../../../adapters/mcp/client/UpstreamOutcome.ts"
import { UPSTREAM_LIMITS, UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { json, result, scriptedServer, text } from "../../../testing/mcp/ScriptedServer.ts"
import { eventually, makeUpstream } from "../../support/mcp/McpClient.ts"
import { sdk1Server } from "../../support/mcp/servers/RealServers.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const all = <A>(count: number, effect: (n: number) => Effect.Effect<A>) =>
  Effect.all(
    Array.from({ length: count }, (_, n) => effect(n)),
    { concurrency: "unbounded" }
  )

describe("per provider", () => {
  it.live("sockets are limited and reused", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => void setTimeout(() => json(response, result(seen, text("ok"))), 5)
      })
      const upstream = yield* makeUpstream({ socketsMax: 3 })
      const answers = yield* all(40, () => upstream.call(upstreamCall(server.url)))
      assert.isTrue(answers.every(({ status }) => status === "success"))
      assert.isAtMost(new Set(server.seen.map(({ socket }) => socket)).size, 3)
    })
  )

  it.live("requests in flight beyond the limit are rejected immediately, and the places are freed", () =>
    Effect.gen(function* () {
      let hold = true
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => (hold ? undefined : json(response, result(seen, text("ok"))))
      })
      const upstream = yield* makeUpstream({ inFlightMax: 5, socketsMax: 2 })
      const held = yield* Effect.forkChild(all(5, () => upstream.call(upstreamCall(server.url, { timeoutMs: 3_000 }))))
      yield* eventually(() => server.of("tools/call").length === 2)
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.problem?.kind, answer.attempts], ["error", "overloaded", 0])
      yield* Fiber.join(held)
      hold = false
      const later = yield* upstream.call(upstreamCall(server.url))
      assert.strictEqual(later.status, "success")
    })
  )

  it.live("the least recently used endpoint is dropped for another one, and its session is ended", () =>
    Effect.gen(function* () {
      const first = yield* sdk1Server({ stateful: true })
      const second = yield* sdk1Server({ stateful: true })
      const upstream = yield* makeUpstream({ endpointsMax: 1 })
      yield* upstream.call(upstreamCall(first.url))
      yield* upstream.call(upstreamCall(second.url))
      yield* eventually(() => first.seen.methods.at(-1) === "DELETE")
      const again = yield* upstream.call(upstreamCall(first.url))
      assert.strictEqual(again.status, "success")
    })
  )

  it.live("two providers at one address share neither session nor signature", () =>
    Effect.gen(function* () {
      const server = yield* sdk1Server({ stateful: true })
      const upstream = yield* makeUpstream()
      yield* upstream.call(upstreamCall(server.url))
      const other = ProviderId.make("a0000000-0000-4000-8000-000000000002")
      yield* upstream.call(upstreamCall(server.url, { providerId: other }))
      assert.strictEqual(server.sessions(), 2)
    })
  )
})

describe("time", () => {
  it.live("all attempts together keep to the total deadline", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (_seen, response, n) => (n === 1 ? void response.writeHead(500).end() : undefined)
      })
      const upstream = yield* makeUpstream({ totalDeadlineMs: 2_000 })
      const answer = yield* upstream.call(upstreamCall(server.url, { timeoutMs: 50_000 }))
      assert.deepStrictEqual([answer.status, answer.attempts], ["timeout", 2])
      assert.isBelow(answer.latencyMs, 20_000)
    })
  )

  it.live("the total deadline is that of the limits of calls", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: () => {} })
      const upstream = yield* makeUpstream()
      const call = upstream.call(upstreamCall(server.url, { timeoutMs: 1_000, retriesMax: 100, idempotent: true }))
      const later = Effect.as(Effect.sleep(20_000), { status: "took longer" })
      assert.strictEqual((yield* Effect.raceFirst(call, later)).status, "timeout")
    }).pipe(Effect.provideService(UpstreamLimits, { ...UPSTREAM_LIMITS, timeoutMs: 1_000, totalMs: 2_000 }))
  )

  it.live("one attempt may take as long as its tool declares, even if the total is shorter", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (_seen, response) => void setTimeout(() => response.writeHead(400).end(), 500)
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url, { timeoutMs: 60_000, retriesMax: 0 }))
      assert.strictEqual(answer.status, "error")
    }).pipe(Effect.provideService(UpstreamLimits, { ...UPSTREAM_LIMITS, timeoutMs: 100, totalMs: 100 }))
  )

  it.live("an attempt ends after its own timeout, connection and handshake included", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({ era: "modern", onCall: () => {}, onOther: () => true })
      const upstream = yield* makeUpstream()
      // Twice its time would be one for the handshake and one for the call. Both timers are of one event loop:
      // however busy the machine is, the earlier one fires first.
      const twice = Effect.as(Effect.sleep(5_900), { status: "took twice its time" })
      const answer = yield* Effect.raceFirst(upstream.call(upstreamCall(server.url, { timeoutMs: 3_000 })), twice)
      assert.strictEqual(answer.status, "timeout")
    })
  )
})

it.live("a call in flight ends with the service", () =>
  Effect.gen(function* () {
    const server = yield* scriptedServer({ era: "stateful", onCall: () => {} })
    const scope = yield* Scope.make()
    const upstream = yield* Scope.provide(makeUpstream(), scope)
    const fiber = yield* Effect.forkChild(upstream.call(upstreamCall(server.url)))
    yield* eventually(() => server.of("tools/call").length === 1)
    yield* Scope.close(scope, Exit.void)
    const answer = yield* Fiber.join(fiber)
    assert.deepStrictEqual([answer.status, answer.problem?.kind], ["error", "connection"])
  })
)

it("Retry-After is read in both of its forms, and ignored in any other", () => {
  const epochMs = () => Date.UTC(2026, 10, 20, 12, 0, 0)
  assert.strictEqual(retryAfterSecondsOf("120", epochMs), 120)
  assert.strictEqual(retryAfterSecondsOf("Fri, 20 Nov 2026 12:00:30 GMT", epochMs), 30)
  assert.strictEqual(retryAfterSecondsOf("Fri, 20 Nov 2026 11:00:00 GMT", epochMs), 0)
  for (const bad of [undefined, "", "soon", "-5", "1e9"]) assert.isUndefined(retryAfterSecondsOf(bad, epochMs), bad)
})

describe("the circuit breaker", () => {
  it.live("opens after consecutive failures, rejects immediately, and closes when the provider recovers", () =>
    Effect.gen(function* () {
      let broken = true
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) =>
          broken ? void response.writeHead(500).end() : json(response, result(seen, text("ok")))
      })
      const upstream = yield* makeUpstream({ circuitFailures: 3, circuitOpenMs: 3_000 })
      const call = upstreamCall(server.url, { retriesMax: 0 })
      for (let n = 0; n < 3; n++) yield* upstream.call(call)
      const rejected = yield* upstream.call(call)
      assert.deepStrictEqual([rejected.status, rejected.problem?.kind, rejected.attempts], ["error", "circuit_open", 0])
      assert.include([1, 2, 3], rejected.problem?.retryAfterSeconds)
      assert.strictEqual(server.of("tools/call").length, 3)
      broken = false
      yield* Effect.sleep(3_050)
      const probe = yield* upstream.call(call)
      assert.strictEqual(probe.status, "success")
      const next = yield* upstream.call(call)
      assert.strictEqual(next.status, "success")
    })
  )

  it.live("is not opened by errors that the tools themselves report", () =>
    Effect.gen(function* () {
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response) => json(response, result(seen, { ...text("no"), isError: true }))
      })
      const upstream = yield* makeUpstream({ circuitFailures: 2 })
      const answers = yield* all(6, () => upstream.call(upstreamCall(server.url)))
      assert.isTrue(answers.every(({ attempts, result: got }) => attempts === 1 && got !== undefined))
    })
  )

  it("lets one probe through at a time, and doubles its wait after each that fails", () => {
    const circuit = new CircuitBreaker({ circuitFailures: 2, circuitOpenMs: 100, circuitOpenMsMax: 350 })
    circuit.failed(0)
    assert.strictEqual(circuit.waitMs(0), 0)
    circuit.failed(0)
    assert.strictEqual(circuit.waitMs(40), 60)
    // Failures of calls that were in flight when it opened do not count.
    circuit.failed(50)
    assert.strictEqual(circuit.waitMs(50), 50)
    assert.strictEqual(circuit.waitMs(100), 0)
    assert.strictEqual(circuit.waitMs(101), 99)
    circuit.failed(150)
    assert.strictEqual(circuit.waitMs(150), 200)
    assert.strictEqual(circuit.waitMs(350), 0)
    circuit.failed(360)
    assert.strictEqual(circuit.waitMs(360), 350)
    assert.strictEqual(circuit.waitMs(710), 0)
    circuit.succeeded()
    assert.strictEqual(circuit.waitMs(711), 0)
    circuit.failed(711)
    assert.strictEqual(circuit.waitMs(711), 0)
  })

  it("a probe whose caller disconnected does not hold it forever", () => {
    const circuit = new CircuitBreaker({ circuitFailures: 1, circuitOpenMs: 100, circuitOpenMsMax: 100 })
    circuit.failed(0)
    assert.strictEqual(circuit.waitMs(100), 0)
    assert.strictEqual(circuit.waitMs(150), 50)
    assert.strictEqual(circuit.waitMs(200), 0)
  })
})
