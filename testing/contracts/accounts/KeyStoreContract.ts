/**
 * What a KeyStore must do.
 */
import { DateTime, Effect, Exit, Option } from "effect"
import assert from "node:assert/strict"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { type ApiKey, DEAD_KEYS_SHOWN_MAX, KeyStore } from "../../../domain/accounts/Keys.ts"
import { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, KeyId } from "../../../domain/shared/Ids.ts"
import { Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer, aKey, aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const NOW = instant("2026-11-22T00:00:00.000Z")

export const keyStoreContract: Contract<AccountStore | KeyStore | UnitOfWork> = [
  rule(
    "finds a consumer's key by its hash, with the owner's name and rate limit",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const consumer = yield* aConsumer({ name: "Curious", rateLimitRpm: 77 })
      const key = yield* aKey(consumer.id, { label: "laptop", expiresAt: instant("2027-01-01T00:00:00.001Z") })
      yield* store.insert(key)
      assert.deepEqual(
        yield* store.findByHash(key.hash),
        Option.some({ key, ownerName: "Curious", rateLimitRpm: 77, defaultCap: undefined })
      )
    })
  ),

  rule(
    "finds a provider's key, which has no rate limit of its own",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const provider = yield* aProvider({ name: "Weather" })
      const key = yield* aKey(provider.id, { role: "provider", revokedAt: instant("2026-11-21T00:00:00.000Z") })
      yield* store.insert(key)
      assert.deepEqual(
        yield* store.findByHash(key.hash),
        Option.some({ key, ownerName: "Weather", rateLimitRpm: undefined, defaultCap: undefined })
      )
    })
  ),

  rule(
    "erases the labels of an owner's keys, and nothing else",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const [one, other] = [yield* aConsumer(), yield* aConsumer()]
      const dead = instant("2026-11-21T00:00:00.000Z")
      const keys = [yield* aKey(one.id, { label: "laptop" }), yield* aKey(one.id, { label: "old", revokedAt: dead })]
      const others = yield* aKey(other.id, { label: "theirs" })
      yield* Effect.forEach([...keys, others], store.insert)
      yield* store.unlabel(one.id)
      const left = new Map((yield* store.ofOwner(one.id, NOW)).map((key) => [key.id, key]))
      for (const key of keys) assert.deepEqual(left.get(key.id), { ...key, label: "" })
      assert.deepEqual(yield* store.ofOwner(other.id, NOW), [others])
    })
  ),

  rule(
    "finds no key by an unknown hash",
    Effect.gen(function* () {
      const hash = (yield* Digest).sha256Hex(yield* (yield* Entropy).uuid)
      assert.deepEqual(yield* (yield* KeyStore).findByHash(hash), Option.none())
    })
  ),

  rule(
    "lists an owner's keys, revoked ones included, newest first",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const [owner, other] = [yield* aConsumer(), yield* aConsumer()]
      const oldest = yield* aKey(owner.id, { createdAt: instant("2026-01-01T00:00:00.000Z") })
      const middle = yield* aKey(owner.id, { createdAt: instant("2026-01-01T00:00:00.001Z") })
      const newest = yield* aKey(owner.id, { createdAt: instant("2026-01-01T00:00:00.002Z") })
      for (const key of [middle, newest, oldest, yield* aKey(other.id)]) yield* store.insert(key)
      const revoked = yield* store.revoke(owner.id, middle.id, instant("2026-02-01T00:00:00.000Z"))
      assert.deepEqual(yield* store.ofOwner(owner.id, NOW), [newest, Option.getOrThrow(revoked), oldest])
    })
  ),

  rule(
    "orders keys of the same millisecond by ID",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const owner = yield* aConsumer()
      const keys = yield* Effect.all([aKey(owner.id), aKey(owner.id), aKey(owner.id)])
      for (const key of keys) yield* store.insert(key)
      assert.deepEqual(yield* store.ofOwner(owner.id, NOW), keys.toReversed())
    })
  ),

  rule(
    "lists all active keys and the newest 100 others",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const owner = yield* aConsumer()
      const createdAt = (milliseconds: number) => DateTime.add(instant("2026-01-01T00:00:00.000Z"), { milliseconds })
      const make = Effect.fnUntraced(function* (n: number, ends: Partial<ApiKey> = {}) {
        const key = yield* aKey(owner.id, { createdAt: createdAt(n), ...ends })
        yield* store.insert(key)
        return key
      })
      const later = instant("2026-11-22T00:00:00.001Z")
      // The oldest of all: active keys, and keys that expire later, are always listed.
      const live = [yield* make(0), yield* make(1, { revokedAt: later }), yield* make(2, { expiresAt: later })]
      const dead: Array<ApiKey> = []
      for (let n = 0; n < DEAD_KEYS_SHOWN_MAX + 5; n++) {
        dead.push(yield* make(10 + n, n % 2 === 0 ? { revokedAt: NOW } : { expiresAt: NOW }))
      }
      const expected = [...live, ...dead.slice(5)].toReversed()
      assert.deepEqual(yield* store.ofOwner(owner.id, NOW), expected)
      assert.equal((yield* store.ofOwner(owner.id, later)).length, DEAD_KEYS_SHOWN_MAX + 1)
    })
  ),

  rule(
    "revokes at the earliest time set",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const owner = yield* aConsumer()
      const key = yield* aKey(owner.id)
      yield* store.insert(key)
      const [early, middle, late] = ["01", "02", "03"].map((day) => instant(`2026-12-${day}T00:00:00.500Z`))
      const revokedAt = Effect.fnUntraced(function* (at: typeof early) {
        return Option.getOrThrow(yield* store.revoke(owner.id, key.id, at!)).revokedAt
      })
      assert.deepEqual(yield* revokedAt(middle), middle)
      assert.deepEqual(yield* revokedAt(late), middle)
      assert.deepEqual(yield* revokedAt(early), early)
      const found = Option.getOrThrow(yield* store.findByHash(key.hash))
      assert.deepEqual(found.key, { ...key, revokedAt: early })
    })
  ),

  rule(
    "revokes no key of another owner, and no unknown key",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const [owner, stranger] = [yield* aConsumer(), yield* aConsumer()]
      const key = yield* aKey(owner.id)
      yield* store.insert(key)
      const at = instant("2026-12-01T00:00:00.000Z")
      assert.deepEqual(yield* store.revoke(stranger.id, key.id, at), Option.none())
      const unknown = KeyId.make(yield* (yield* Entropy).uuid)
      assert.deepEqual(yield* store.revoke(owner.id, unknown, at), Option.none())
      assert.deepEqual(yield* store.ofOwner(owner.id, NOW), [key])
    })
  ),

  rule(
    "sets and removes the default cap of an owner's key, beside that of the account",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const [owner, other] = [yield* aConsumer(), yield* aConsumer()]
      const [key, spare] = [yield* aKey(owner.id), yield* aKey(owner.id)]
      yield* Effect.forEach([key, spare], store.insert)
      const [ofKey, ofAccount] = [Microcents.make(MICROCENTS_MAX), Microcents.make(0n)]
      assert.deepEqual(yield* store.setDefaultCap(other.id, key.id, ofKey), Option.none())
      const changed = { ...key, defaultCap: ofKey }
      assert.deepEqual(yield* store.setDefaultCap(owner.id, key.id, ofKey), Option.some(changed))
      yield* (yield* AccountStore).setDefaultCap(owner.id, ofAccount)
      const found = Option.getOrThrow(yield* store.findByHash(key.hash))
      assert.deepEqual([found.key, found.defaultCap], [changed, ofAccount])
      assert.deepEqual(Option.getOrThrow(yield* store.findByHash(spare.hash)).key, spare)
      assert.deepEqual(yield* store.setDefaultCap(owner.id, key.id, undefined), Option.some(key))
    })
  ),

  rule(
    "rejects a key without an owner, and a known hash",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const ownerless = ConsumerId.make(yield* (yield* Entropy).uuid)
      assert.equal(Exit.isFailure(yield* Effect.exit(store.insert(yield* aKey(ownerless)))), true)
      const owner = yield* aConsumer()
      const key = yield* aKey(owner.id)
      yield* store.insert(key)
      assert.equal(Exit.isFailure(yield* Effect.exit(store.insert(yield* aKey(owner.id, { hash: key.hash })))), true)
      assert.deepEqual(yield* store.ofOwner(owner.id, NOW), [key])
    })
  ),

  rule(
    "undoes inserting and revoking with the unit of work",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const { atomically } = yield* UnitOfWork
      const owner = yield* aConsumer()
      const [kept, dropped] = [yield* aKey(owner.id), yield* aKey(owner.id)]
      yield* store.insert(kept)
      const unit = Effect.gen(function* () {
        yield* store.insert(dropped)
        yield* store.revoke(owner.id, kept.id, instant("2026-12-01T00:00:00.000Z"))
        return yield* Effect.fail("no")
      })
      assert.equal(yield* Effect.flip(atomically(unit)), "no")
      assert.deepEqual(yield* store.ofOwner(owner.id, NOW), [kept])
      assert.deepEqual(yield* store.findByHash(dropped.hash), Option.none())
    })
  ),

  rule(
    "serializes units of work that read the keys of one owner",
    Effect.gen(function* () {
      const store = yield* KeyStore
      const { atomically } = yield* UnitOfWork
      const owner = yield* aConsumer()
      // Each adds a key only if it sees fewer than five: without serialization there would be more.
      const addIfFew = atomically(
        Effect.gen(function* () {
          if ((yield* store.ofOwner(owner.id, NOW)).length < 5) yield* store.insert(yield* aKey(owner.id))
        })
      )
      yield* Effect.all(
        Array.from({ length: 20 }, () => addIfFew),
        { concurrency: "unbounded", discard: true }
      )
      assert.equal((yield* store.ofOwner(owner.id, NOW)).length, 5)
    })
  )
]
