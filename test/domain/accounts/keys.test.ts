import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import {
  assemble,
  isActive,
  isWellFormed,
  Keys,
  KEYS_PER_OWNER_MAX,
  shownPrefix
} from "../../../domain/accounts/Keys.ts"
import { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import { KeyId } from "../../../domain/shared/Ids.ts"
import { everyStore, memoryPorts, withServices } from "../../contracts/ports.ts"
import { aConsumer, aProvider } from "../../contracts/samples.ts"

const forever = { label: "one more", expiresAt: undefined }
const anOwner = Effect.map(aConsumer(), ({ id }) => ({ role: "consumer", ownerId: id }) as const)

it.layer(withServices(memoryPorts), { timeout: "60 seconds" })("Keys", (it) => {
  it.effect("creates keys with their role, 256 random bits and a checksum, stored as a hash", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const { sha256Hex } = yield* Digest
      const consumer = yield* anOwner
      const provider = { role: "provider", ownerId: (yield* aProvider()).id } as const
      for (const [owner, prefix] of [
        [consumer, "atb_c_"],
        [provider, "atb_p_"]
      ] as const) {
        const { key, secret } = yield* keys.create(owner, forever)
        assert.match(secret, /^atb_[cp]_[0-9a-f]{72}$/u)
        assert.isTrue(secret.startsWith(prefix))
        assert.isTrue(isWellFormed(secret, sha256Hex))
        assert.strictEqual(key.hash, sha256Hex(secret))
        assert.strictEqual(key.prefix, shownPrefix(secret))
        assert.notInclude(JSON.stringify(yield* keys.list(owner)), secret.slice(14))
      }
    })
  )

  it.effect("distinguishes a typo from an unknown key", () =>
    Effect.gen(function* () {
      const { sha256Hex } = yield* Digest
      const secret = assemble("consumer", yield* (yield* Entropy).hex(32), sha256Hex)
      assert.isTrue(isWellFormed(secret, sha256Hex))
      for (const at of [0, 4, 10, 50, secret.length - 1]) {
        const other = secret[at] === "0" ? "1" : "0"
        assert.isFalse(isWellFormed(secret.slice(0, at) + other + secret.slice(at + 1), sha256Hex))
      }
      for (const wrong of [secret.slice(1), `${secret} `, secret.toUpperCase(), secret.replace("_c_", "_p_"), ""]) {
        assert.isFalse(isWellFormed(wrong, sha256Hex))
      }
    })
  )

  it.effect("rejects an expiry in the past, and accepts one in the future", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const owner = yield* anOwner
      const now = yield* DateTime.now
      for (const expiresAt of [now, DateTime.subtract(now, { milliseconds: 1 })]) {
        const error = yield* Effect.flip(keys.create(owner, { label: "", expiresAt }))
        assert.strictEqual(error._tag, "ExpiryInThePast")
        assert.include(error.message, DateTime.formatIso(expiresAt))
      }
      const expiresAt = DateTime.add(now, { seconds: 1 })
      const { key } = yield* keys.create(owner, { label: "", expiresAt })
      assert.deepStrictEqual(key.expiresAt, expiresAt)
      assert.isTrue(isActive(key, now.epochMilliseconds + 999))
      assert.isFalse(isActive(key, now.epochMilliseconds + 1_000))
    })
  )

  it.effect("revokes a key, but not the only one, a revoked one, or another account's", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const [owner, stranger] = [yield* anOwner, yield* anOwner]
      const first = (yield* keys.create(owner, forever)).key
      const only = yield* Effect.flip(keys.revoke(owner, first.id))
      assert.strictEqual(only._tag, "LastKey")
      const second = (yield* keys.create(owner, forever)).key
      yield* keys.create(stranger, forever)
      yield* keys.create(stranger, forever)
      assert.strictEqual((yield* Effect.flip(keys.revoke(stranger, first.id)))._tag, "KeyNotFound")
      const revoked = yield* keys.revoke(owner, first.id)
      assert.isDefined(revoked.revokedAt)
      assert.strictEqual((yield* Effect.flip(keys.revoke(owner, first.id)))._tag, "KeyNotFound")
      assert.strictEqual((yield* Effect.flip(keys.revoke(owner, second.id)))._tag, "LastKey")
      const unknown = KeyId.make(yield* (yield* Entropy).uuid)
      assert.strictEqual((yield* Effect.flip(keys.revoke(owner, unknown)))._tag, "KeyNotFound")
    })
  )

  it.effect("does not count an expired key as a remaining one", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const owner = yield* anOwner
      const expiresAt = DateTime.add(yield* DateTime.now, { minutes: 1 })
      yield* keys.create(owner, { label: "short", expiresAt })
      const { key } = yield* keys.create(owner, forever)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Effect.flip(keys.revoke(owner, key.id)))._tag, "LastKey")
    })
  )

  it.effect("rotates: a new key with the label and expiry of the old one, which works for the grace period", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const owner = yield* anOwner
      const now = yield* DateTime.now
      const expiresAt = DateTime.add(now, { days: 30 })
      const { key } = yield* keys.create(owner, { label: "laptop", expiresAt })
      const { minted, old } = yield* keys.rotate(owner, key.id, 60)
      assert.strictEqual(minted.key.label, "laptop")
      assert.deepStrictEqual(minted.key.expiresAt, expiresAt)
      assert.notStrictEqual(minted.key.hash, key.hash)
      assert.strictEqual(old.id, key.id)
      assert.isTrue(isActive(old, now.epochMilliseconds + 59_999))
      assert.isFalse(isActive(old, now.epochMilliseconds + 60_000))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Effect.flip(keys.rotate(owner, key.id, 60)))._tag, "KeyNotFound")
      assert.lengthOf(yield* keys.list(owner), 2)
    })
  )

  it.effect("rotates without a grace period: the old key stops working immediately", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const owner = yield* anOwner
      const { key } = yield* keys.create(owner, forever)
      const { old } = yield* keys.rotate(owner, key.id, 0)
      assert.isFalse(isActive(old, (yield* DateTime.now).epochMilliseconds))
    })
  )
})

for (const [name, ports] of everyStore) {
  it.layer(withServices(ports), { timeout: "60 seconds" })(`Keys over ${name}`, (it) => {
    it.effect("limits active keys, also under concurrent requests", () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const owner = yield* anOwner
        const results = yield* Effect.all(
          Array.from({ length: 30 }, () => Effect.result(keys.create(owner, forever))),
          { concurrency: "unbounded" }
        )
        const rejected = results.filter(Result.isFailure).map((result) => result.failure._tag)
        assert.deepStrictEqual(new Set(rejected), new Set(["TooManyKeys"]))
        assert.lengthOf(rejected, 30 - KEYS_PER_OWNER_MAX)
        const listed = yield* keys.list(owner)
        assert.lengthOf(listed, KEYS_PER_OWNER_MAX)
        assert.strictEqual((yield* Effect.flip(keys.rotate(owner, listed[0]!.id, 60)))._tag, "TooManyKeys")
        yield* keys.revoke(owner, listed[0]!.id)
        yield* keys.create(owner, forever)
      })
    )

    it.effect("keeps one of the last two keys when both are revoked concurrently", () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        for (let round = 0; round < 5; round++) {
          const owner = yield* anOwner
          const pair = [yield* keys.create(owner, forever), yield* keys.create(owner, forever)]
          const results = yield* Effect.forEach(pair, ({ key }) => Effect.result(keys.revoke(owner, key.id)), {
            concurrency: "unbounded"
          })
          const failures = results.filter(Result.isFailure).map((result) => result.failure._tag)
          assert.deepStrictEqual(failures, ["LastKey"])
        }
      })
    )
  })
}
