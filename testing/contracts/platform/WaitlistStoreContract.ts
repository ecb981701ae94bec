/**
 * What a WaitlistStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { type WaitlistEntry, WaitlistStore } from "../../../domain/platform/Submissions.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const JOINED_AT = DateTime.makeUnsafe("2026-11-20T12:00:00.123Z")
const FAR = DateTime.makeUnsafe("2100-01-01T00:00:00.000Z")

const anEntry = (changes: Partial<WaitlistEntry> = {}): WaitlistEntry => ({
  id: randomUUID(),
  email: `${randomUUID()}@example.org`,
  source: "docs",
  joinedAt: JOINED_AT,
  ...changes
})

export const waitlistStoreContract: Contract<WaitlistStore | UnitOfWork> = [
  rule(
    "returns an entry as stored",
    Effect.gen(function* () {
      const store = yield* WaitlistStore
      for (const entry of [anEntry(), anEntry({ source: "" }), anEntry({ source: "多 <b>'\"\\ 🌦".repeat(10) })]) {
        assert.equal(yield* store.add(entry), true)
        assert.deepEqual(yield* store.find(entry.email), Option.some(entry))
      }
      assert.deepEqual(yield* store.find("unknown@example.org"), Option.none())
    })
  ),

  rule(
    "erases an entry's address and still counts it; the address may join again",
    Effect.gen(function* () {
      const store = yield* WaitlistStore
      const [entry, other] = [anEntry({ source: "a friend" }), anEntry()]
      yield* Effect.forEach([entry, other], store.add)
      const before = yield* store.count()
      assert.deepEqual([yield* store.erase(entry.email), yield* store.erase(entry.email)], [true, false])
      assert.deepEqual(yield* store.find(entry.email), Option.none())
      assert.deepEqual(yield* store.find(other.email), Option.some(other))
      const anonymousEmail = `erased+${entry.id}@erased.invalid`
      assert.deepEqual(yield* store.find(anonymousEmail), Option.some({ ...entry, email: anonymousEmail, source: "" }))
      assert.equal(yield* store.count(), before)
      assert.equal(yield* store.add(anEntry({ email: entry.email })), true)
    })
  ),

  rule(
    "stores the first of several concurrent entries of an address",
    Effect.gen(function* () {
      const store = yield* WaitlistStore
      const entry = anEntry()
      const before = yield* store.count()
      const added = yield* Effect.forEach(
        Array.from({ length: 24 }, () => ({ ...entry, id: randomUUID() })),
        store.add,
        { concurrency: "unbounded" }
      )
      assert.equal(added.filter((one) => one).length, 1)
      const kept = yield* store.find(entry.email)
      assert.equal(yield* store.add(anEntry({ email: entry.email, source: "later" })), false)
      assert.deepEqual(yield* store.find(entry.email), kept)
      assert.equal((yield* store.count()) - before, 1)
    })
  ),

  rule(
    "counts entries since a time, inclusive",
    Effect.gen(function* () {
      const store = yield* WaitlistStore
      const counts = Effect.forEach([0, 1, 3], (minutes) => store.count(DateTime.add(FAR, { minutes })))
      const before = yield* counts
      for (const minutes of [0, 1, 2]) yield* store.add(anEntry({ joinedAt: DateTime.add(FAR, { minutes }) }))
      const after = yield* counts
      assert.deepEqual(
        after.map((count, i) => count - before[i]!),
        [3, 2, 0]
      )
    })
  ),

  rule(
    "undoes additions of a failed unit of work",
    Effect.gen(function* () {
      const store = yield* WaitlistStore
      const { atomically } = yield* UnitOfWork
      const entry = anEntry()
      yield* Effect.exit(atomically(Effect.andThen(store.add(entry), Effect.die("no"))))
      assert.equal(yield* store.add(entry), true)
    })
  )
]
