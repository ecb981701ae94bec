/**
 * What an OperatorSessionStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import {
  type OperatorSession,
  OperatorSessionId,
  OperatorSessionStore
} from "../../../domain/accounts/Authentication.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { uuid } from "../shared/LedgerSamples.ts"

/** Later than the sessions of other rules, which a limit would remove. */
const SESSIONS_MAX = 1_000

const aSession = Effect.fnUntraced(function* (at: DateTime.Utc) {
  const session: OperatorSession = {
    id: OperatorSessionId.make(yield* uuid),
    name: "Ada é",
    createdAt: at,
    expiresAt: DateTime.add(at, { hours: 8 }),
    lastUsedAt: at
  }
  return { session, hash: yield* (yield* Entropy).hex(32) }
})

const usedAt = (now: DateTime.Utc) => ({ now, idleSince: DateTime.subtract(now, { hours: 1 }) })

export const operatorSessionStoreContract: Contract<OperatorSessionStore> = [
  rule(
    "finds a session by its hash, and notes its use",
    Effect.gen(function* () {
      const store = yield* OperatorSessionStore
      const at = instant("2026-11-20T12:00:00.000Z")
      const { hash, session } = yield* aSession(at)
      assert.deepEqual(yield* store.use(hash, usedAt(at)), Option.none())
      yield* store.insert(session, hash, SESSIONS_MAX)
      const now = DateTime.add(at, { minutes: 50 })
      assert.deepEqual(yield* store.use(hash, usedAt(now)), Option.some({ ...session, lastUsedAt: now }))
      // Used in the meantime: the hour counts from then.
      const later = DateTime.add(at, { minutes: 100 })
      assert.deepEqual(yield* store.use(hash, usedAt(later)), Option.some({ ...session, lastUsedAt: later }))
      assert.deepEqual(yield* store.use((yield* aSession(at)).hash, usedAt(at)), Option.none())
    })
  ),

  rule(
    "finds no session that has expired, was not used, or was ended",
    Effect.gen(function* () {
      const store = yield* OperatorSessionStore
      const at = instant("2026-11-21T12:00:00.000Z")
      const unused = yield* aSession(at)
      const expiring = yield* aSession(at)
      const ended = yield* aSession(at)
      for (const { hash, session } of [unused, expiring, ended]) yield* store.insert(session, hash, SESSIONS_MAX)
      assert.deepEqual(yield* store.use(unused.hash, usedAt(DateTime.add(at, { minutes: 61 }))), Option.none())
      for (let hours = 1; hours < 8; hours++) {
        assert.ok(Option.isSome(yield* store.use(expiring.hash, usedAt(DateTime.add(at, { hours })))))
      }
      assert.deepEqual(yield* store.use(expiring.hash, usedAt(DateTime.add(at, { hours: 8 }))), Option.none())
      assert.equal(yield* store.end(ended.session.id), true)
      assert.equal(yield* store.end(ended.session.id), false)
      assert.deepEqual(yield* store.use(ended.hash, usedAt(at)), Option.none())
    })
  ),

  rule(
    "keeps the newest sessions",
    Effect.gen(function* () {
      const store = yield* OperatorSessionStore
      const at = instant("2027-11-22T12:00:00.000Z")
      const made = yield* Effect.forEach([0, 1, 2, 3], (minutes) => aSession(DateTime.add(at, { minutes })))
      for (const { hash, session } of made) yield* store.insert(session, hash, 3)
      const found = yield* Effect.forEach(made, ({ hash }) => store.use(hash, usedAt(at)))
      assert.deepEqual(found.map(Option.isSome), [false, true, true, true])
    })
  ),

  rule(
    "ends all sessions at once",
    Effect.gen(function* () {
      const store = yield* OperatorSessionStore
      const at = instant("2029-11-22T12:00:00.000Z")
      yield* store.endAll
      const made = [yield* aSession(at), yield* aSession(at)]
      for (const { hash, session } of made) yield* store.insert(session, hash, SESSIONS_MAX)
      assert.equal(yield* store.endAll, 2)
      for (const { hash } of made) assert.deepEqual(yield* store.use(hash, usedAt(at)), Option.none())
      assert.equal(yield* store.endAll, 0)
    })
  ),

  rule(
    "prunes what is over, up to a limit",
    Effect.gen(function* () {
      const store = yield* OperatorSessionStore
      const at = instant("2028-11-23T12:00:00.000Z")
      const live = yield* aSession(DateTime.add(at, { hours: 2 }))
      const over = [yield* aSession(at), yield* aSession(at)]
      for (const { hash, session } of [live, ...over]) yield* store.insert(session, hash, SESSIONS_MAX)
      const times = usedAt(DateTime.add(at, { minutes: 130 }))
      while ((yield* store.prune(times, 1)) > 0);
      assert.ok(Option.isSome(yield* store.use(live.hash, times)))
      for (const { session } of over) assert.equal(yield* store.end(session.id), false)
    })
  )
]
