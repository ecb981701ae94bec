/**
 * Sessions of MCP clients: opened with the provider's server, found by their account only, expired, replaced, renewed.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { SESSIONS_PER_ACCOUNT_MAX } from "../../../domain/mcp/McpSessions.ts"
import { McpSessionStore } from "../../../domain/mcp/McpStores.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { memoryPorts } from "../../contracts/ports.ts"
import { given, LONGEST_MS, PARAMS, PROFILE } from "../../support/mcp/servers/SessionsAtFake.ts"

it.layer(memoryPorts)("McpSessions", (it) => {
  it.effect("opens a session of its own at a server of the legacy era, and returns the server's own result", () =>
    Effect.gen(function* () {
      const { consumerId, fake, open, server, sessions } = yield* given
      const { result, session } = yield* open
      assert.strictEqual(result, `{"protocolVersion":"2025-06-18", "unknown": 1.0}`)
      assert.deepStrictEqual(fake.initialized, [PARAMS])
      assert.deepStrictEqual(session.upstream, { version: "2025-06-18", sessionId: "upstream-1" })
      assert.strictEqual(session.version, "2025-06-18")
      assert.match(session.id, /^[0-9a-f]{64}$/u)
      assert.deepStrictEqual(yield* sessions.find(session.id, consumerId, server), session)
    })
  )

  it.effect("answers for a server of the modern era with what the door offers of it", () =>
    Effect.gen(function* () {
      const { fake, open, request, sessions } = yield* given
      fake.era = "modern"
      const { result, session } = yield* open
      assert.isUndefined(session.upstream)
      assert.deepStrictEqual(JSON.parse(result), {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "own", version: "1" },
        instructions: `Say "please"`
      })
      const newest = yield* sessions.open({ ...request, requested: "2031-01-01" }, PROFILE)
      assert.strictEqual(newest.session.version, "2025-11-25")
    })
  )

  it.effect("opens a session of its own at a server of both eras, which may then ask the client", () =>
    Effect.gen(function* () {
      const { fake, open } = yield* given
      fake.era = "modern"
      fake.servesBothEras = true
      const { session } = yield* open
      assert.deepStrictEqual(session.upstream, { version: fake.version, sessionId: "upstream-1" })
    })
  )

  it.effect("opens a session with the market itself, which is not one of any provider", () =>
    Effect.gen(function* () {
      const { consumerId, fake, request, server, sessions } = yield* given
      const { result, session } = yield* sessions.open({ ...request, server: undefined }, PROFILE)
      assert.strictEqual(JSON.parse(result).serverInfo.name, "own")
      assert.deepStrictEqual(fake.initialized, [])
      assert.deepStrictEqual(yield* sessions.find(session.id, consumerId, undefined), session)
      const error = yield* Effect.flip(sessions.find(session.id, consumerId, server))
      assert.strictEqual(error._tag, "McpSessionNotFound")
    })
  )

  it.effect("rejects params that are too large, and a server without a common version", () =>
    Effect.gen(function* () {
      const { fake, open, request, sessions } = yield* given
      const large = yield* Effect.flip(
        sessions.open({ ...request, params: JSON.stringify("é".repeat(40_000)) }, PROFILE)
      )
      assert.deepStrictEqual([large._tag, fake.initialized], ["McpInitializeRejected", []])
      fake.version = "2019-01-01"
      assert.include((yield* Effect.flip(open)).message, "2025-11-25")
    })
  )

  it.effect("finds a session only with the account and the provider that it was opened with", () =>
    Effect.gen(function* () {
      const { consumerId, fake, open, server, sessions } = yield* given
      const { session } = yield* open
      const uuid = yield* (yield* Entropy).uuid
      for (const [id, account, address] of [
        ["0".repeat(64), consumerId, server],
        [session.id, ConsumerId.make(uuid), server],
        [session.id, consumerId, { ...server, providerId: ProviderId.make(uuid) }]
      ] as const) {
        const error = yield* Effect.flip(sessions.find(id, account, address))
        assert.deepStrictEqual([error._tag, "reason" in error && error.reason], ["McpSessionNotFound", "unknown"])
      }
      assert.deepStrictEqual(yield* sessions.find(session.id, consumerId, server), session)
      assert.deepStrictEqual(fake.ended, [])
    })
  )

  it.effect("ends a session whose provider moved its server", () =>
    Effect.gen(function* () {
      const { consumerId, open, server, sessions } = yield* given
      const { session } = yield* open
      const moved = { ...server, endpointUrl: "https://example.org/mcp" }
      const error = yield* Effect.flip(sessions.find(session.id, consumerId, moved))
      assert.include(error.message, "no longer knows")
      assert.strictEqual((yield* Effect.flip(sessions.find(session.id, consumerId, server)))._tag, "McpSessionNotFound")
    })
  )

  it.effect("ends a session on every node, and the one at the provider's server", () =>
    Effect.gen(function* () {
      const { consumerId, fake, node, open, server, sessions } = yield* given
      const other = yield* node
      const { session } = yield* open
      assert.deepStrictEqual(yield* other.find(session.id, consumerId, server), session)
      yield* sessions.end(session)
      for (const each of [sessions, other]) {
        let found = true
        while (found) {
          found = yield* Effect.match(each.find(session.id, consumerId, server), {
            onFailure: () => false,
            onSuccess: () => true
          })
          yield* Effect.yieldNow
        }
      }
      yield* TestClock.adjust(Duration.millis(LONGEST_MS))
      assert.deepStrictEqual(fake.ended, [session.upstream])
    })
  )

  it.effect("keeps the client's params in the store only", () =>
    Effect.gen(function* () {
      const { consumerId, open, server, sessions } = yield* given
      const { session } = yield* open
      assert.notProperty(yield* sessions.find(session.id, consumerId, server), "clientParams")
      const stored = yield* (yield* McpSessionStore).find(session.id)
      assert.strictEqual(Option.getOrThrow(stored).clientParams, PARAMS)
      assert.notProperty(yield* sessions.renew(session), "clientParams")
      assert.notProperty(yield* sessions.renew(session), "clientParams")
    })
  )

  it.effect("does not pass on that a client declares tasks, at the opening and at a renewal", () =>
    Effect.gen(function* () {
      const { fake, request, sessions } = yield* given
      const params = `{"capabilities":{"tasks":{"list":{}},"roots":{}},"protocolVersion":"2025-06-18"}`
      const { session } = yield* sessions.open({ ...request, params }, PROFILE)
      yield* sessions.renew(session)
      yield* sessions.open({ ...request, params: `{"capabilities":{"tasks":{}},"capabilities":{}}` }, PROFILE)
      const passed = `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}`
      assert.deepStrictEqual(fake.initialized, [passed, passed, `{"capabilities":{}}`])
    })
  )

  it.effect("expires a session that is not used for 24 hours, and any after 7 days", () =>
    Effect.gen(function* () {
      const { consumerId, open, server, sessions } = yield* given
      const [idle, used] = [(yield* open).session, (yield* open).session]
      let hours = 0
      for (; hours < 23; hours++) {
        yield* TestClock.adjust("1 hour")
        yield* sessions.find(used.id, consumerId, server)
      }
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* Effect.flip(sessions.find(idle.id, consumerId, server)))._tag, "McpSessionNotFound")
      let found = true
      for (; found; hours++) {
        found = yield* Effect.match(sessions.find(used.id, consumerId, server), {
          onFailure: () => false,
          onSuccess: () => true
        })
        yield* TestClock.adjust("1 hour")
      }
      assert.strictEqual(hours, 7 * 24)
    })
  )

  it.effect("writes at most once a minute that a session is used", () =>
    Effect.gen(function* () {
      const { consumerId, open, server, sessions } = yield* given
      const store = yield* McpSessionStore
      const { session } = yield* open
      const seenAt = Effect.map(store.find(session.id), (found) => Option.getOrThrow(found).lastSeenAt)
      yield* TestClock.adjust("59 seconds")
      yield* sessions.find(session.id, consumerId, server)
      assert.deepStrictEqual(yield* seenAt, session.lastSeenAt)
      yield* TestClock.adjust("1 second")
      yield* sessions.find(session.id, consumerId, server)
      assert.deepStrictEqual(yield* seenAt, DateTime.add(session.lastSeenAt, { minutes: 1 }))
    })
  )

  it.effect("ends the longest unused session of an account beyond the limit, here and at the provider's server", () =>
    Effect.gen(function* () {
      const { consumerId, fake, open, server, sessions } = yield* given
      const { session: first } = yield* open
      for (let n = 1; n < SESSIONS_PER_ACCOUNT_MAX; n++) {
        yield* TestClock.adjust("1 second")
        yield* open
      }
      yield* sessions.find(first.id, consumerId, server)
      yield* open
      assert.strictEqual(fake.ended.length, 0)
      yield* TestClock.adjust(Duration.millis(LONGEST_MS))
      assert.strictEqual(fake.ended.length, 1)
    })
  )

  it.effect("renews a lost upstream session with the client's own params, once for concurrent requests", () =>
    Effect.gen(function* () {
      const { consumerId, fake, node, open, server, sessions } = yield* given
      const { session } = yield* open
      const other = yield* node
      const renewed = yield* Effect.all([sessions.renew(session), other.renew(session), sessions.renew(session)], {
        concurrency: "unbounded"
      })
      assert.isTrue(fake.initialized.every((params) => params === PARAMS))
      const stored = yield* sessions.find(session.id, consumerId, server)
      assert.notDeepEqual(stored.upstream, session.upstream)
      for (const each of renewed) assert.deepStrictEqual(each.upstream, stored.upstream)
      assert.strictEqual(fake.told[0], `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
      const superfluous = fake.initialized.length - 2
      while (fake.ended.length < superfluous) yield* Effect.yieldNow
      assert.isFalse(fake.ended.some(({ sessionId }) => sessionId === stored.upstream?.sessionId))
    })
  )

  it.effect("ends a session instead of renewing it where its state or version would be lost", () =>
    Effect.gen(function* () {
      const { consumerId, fake, open, server, sessions } = yield* given
      const { session: stateful } = yield* open
      yield* sessions.markState(stateful)
      const marked = yield* sessions.find(stateful.id, consumerId, server)
      assert.isTrue(marked.hasState)
      const { session: outdated } = yield* open
      yield* sessions.markState(outdated)
      const { session: older } = yield* open
      assert.isFalse(outdated.hasState)
      for (const session of [marked, outdated, older]) {
        if (session === older) fake.version = "2025-03-26"
        const error = yield* Effect.flip(sessions.renew(session))
        assert.include(error.message, "its subscriptions and settings are lost")
        const gone = yield* Effect.flip(sessions.find(session.id, consumerId, server))
        assert.strictEqual(gone._tag, "McpSessionNotFound")
      }
    })
  )
})
