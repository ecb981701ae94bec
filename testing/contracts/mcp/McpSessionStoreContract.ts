/**
 * What an McpSessionStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { type McpSession, McpSessionStore } from "../../../domain/mcp/McpStores.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { uuid } from "../shared/LedgerSamples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")
const SESSIONS_MAX = 3

const aSession = Effect.fnUntraced(function* (changes: Partial<McpSession> = {}) {
  const session: McpSession = {
    id: yield* (yield* Entropy).hex(32),
    consumerId: ConsumerId.make(yield* uuid),
    server: { providerId: ProviderId.make(yield* uuid), endpointUrl: "https://example.com/mcp" },
    version: "2025-11-25",
    upstream: { version: "2025-11-25", sessionId: "upstream-1" },
    clientParams: `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"é","version":"1"}}`,
    hasState: false,
    createdAt: AT,
    lastSeenAt: AT,
    expiresAt: DateTime.add(AT, { hours: 24 }),
    ...changes
  }
  return session
})

export const mcpSessionStoreContract: Contract<McpSessionStore | UnitOfWork> = [
  rule(
    "returns a session as it was stored, with and without a session at the provider's server",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const sessions = [
        yield* aSession(),
        yield* aSession({ upstream: undefined }),
        yield* aSession({ upstream: { version: "2025-03-26", sessionId: undefined } }),
        yield* aSession({ server: undefined, upstream: undefined })
      ]
      for (const session of sessions) {
        assert.deepEqual(yield* store.find(session.id), Option.none())
        assert.deepEqual(yield* store.open(session, SESSIONS_MAX), [])
        assert.deepEqual(yield* store.find(session.id), Option.some(session))
      }
    })
  ),

  rule(
    "keeps the most recently used sessions of an account, and returns those that end",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const consumerId = ConsumerId.make(yield* uuid)
      const other = yield* aSession()
      yield* store.open(other, SESSIONS_MAX)
      const opened: Array<McpSession> = []
      for (let minutes = 0; minutes < SESSIONS_MAX; minutes++) {
        const session = yield* aSession({ consumerId, lastSeenAt: DateTime.add(AT, { minutes }) })
        assert.deepEqual(yield* store.open(session, SESSIONS_MAX), [])
        opened.push(session)
      }
      const [first, second, third] = opened
      const later = DateTime.add(AT, { hours: 1 })
      yield* store.touch(first!.id, later, DateTime.add(later, { hours: 24 }))
      const next = yield* aSession({ consumerId, lastSeenAt: later })
      assert.deepEqual(yield* store.open(next, SESSIONS_MAX), [second!])
      assert.deepEqual(yield* store.find(second!.id), Option.none())
      for (const { id } of [first!, third!, next, other]) assert.equal(Option.isSome(yield* store.find(id)), true)
    })
  ),

  rule(
    "stores when a session was used",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const session = yield* aSession()
      yield* store.open(session, SESSIONS_MAX)
      const lastSeenAt = DateTime.add(AT, { minutes: 5 })
      const expiresAt = DateTime.add(lastSeenAt, { hours: 24 })
      yield* store.touch(session.id, lastSeenAt, expiresAt)
      assert.deepEqual(yield* store.find(session.id), Option.some({ ...session, lastSeenAt, expiresAt }))
      const unknown = yield* aSession()
      yield* store.touch(unknown.id, lastSeenAt, expiresAt)
      assert.deepEqual(yield* store.find(unknown.id), Option.none())
    })
  ),

  rule(
    "does not replace the upstream session of a session with state",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const lost = { version: "2025-11-25", sessionId: "upstream-1" }
      const session = yield* aSession({ upstream: lost })
      yield* store.open(session, SESSIONS_MAX)
      yield* store.markState(session.id)
      assert.equal(yield* store.replaceUpstream(session.id, lost, { ...lost, sessionId: "upstream-2" }), false)
      assert.deepEqual(yield* store.find(session.id), Option.some({ ...session, hasState: true }))
    })
  ),

  rule(
    "replaces a lost upstream session once",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      for (const sessionId of ["upstream-1", undefined]) {
        const lost = { version: "2025-11-25", sessionId }
        const session = yield* aSession({ upstream: lost })
        yield* store.open(session, SESSIONS_MAX)
        const upstream = { version: "2025-11-25", sessionId: "upstream-2" }
        assert.equal(yield* store.replaceUpstream(session.id, lost, upstream), true)
        assert.equal(yield* store.replaceUpstream(session.id, lost, { ...upstream, sessionId: "upstream-3" }), false)
        assert.deepEqual(yield* store.find(session.id), Option.some({ ...session, upstream }))
        yield* store.end(session.id)
        assert.equal(yield* store.replaceUpstream(session.id, upstream, lost), false)
      }
    })
  ),

  rule(
    "records that the provider's server keeps state for a session",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const session = yield* aSession()
      yield* store.open(session, SESSIONS_MAX)
      for (let n = 0; n < 2; n++) yield* store.markState(session.id)
      assert.deepEqual(yield* store.find(session.id), Option.some({ ...session, hasState: true }))
    })
  ),

  rule(
    "ends a session once",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const session = yield* aSession()
      yield* store.open(session, SESSIONS_MAX)
      assert.deepEqual(yield* store.end(session.id), Option.some(session))
      assert.deepEqual(yield* store.end(session.id), Option.none())
    })
  ),

  rule(
    "removes the sessions of one account, if the unit of work succeeds",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const { atomically } = yield* UnitOfWork
      const [erased, other] = [yield* aSession(), yield* aSession()]
      for (const session of [erased, other]) yield* store.open(session, SESSIONS_MAX)
      const removal = store.removeAll(erased.consumerId)
      yield* Effect.exit(atomically(Effect.andThen(removal, Effect.fail("no"))))
      assert.deepEqual(yield* store.find(erased.id), Option.some(erased))
      yield* atomically(removal)
      assert.deepEqual(yield* store.find(erased.id), Option.none())
      assert.deepEqual(yield* store.find(other.id), Option.some(other))
    })
  ),

  rule(
    "deletes expired sessions in portions",
    Effect.gen(function* () {
      const store = yield* McpSessionStore
      const expiresAt = instant("2020-01-01T00:00:00.000Z")
      const [expired, live] = [[yield* aSession({ expiresAt }), yield* aSession({ expiresAt })], yield* aSession()]
      for (const session of [...expired, live]) yield* store.open(session, SESSIONS_MAX)
      const before = instant("2020-01-01T00:00:00.001Z")
      for (const pruned of [1, 1, 0]) assert.equal(yield* store.prune(before, 1), pruned)
      for (const { id } of expired) assert.deepEqual(yield* store.find(id), Option.none())
      assert.deepEqual(yield* store.find(live.id), Option.some(live))
    })
  )
]
