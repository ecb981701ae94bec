import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import {
  Authentication,
  KEY_CACHE_ENTRIES_MAX,
  KEY_CACHE_TTL_MS,
  OperatorKey,
  RateLimitPolicy
} from "../../../domain/accounts/Authentication.ts"
import { assemble, Keys, KeyStore } from "../../../domain/accounts/Keys.ts"
import { type Change, ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { memoryPorts, postgresNode, withServices } from "../../contracts/ports.ts"
import { aConsumer, aKey, aProvider } from "../../contracts/samples.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"

const forever = { label: "a key", expiresAt: undefined }
const OPERATOR = "an operator's key, from configuration"

const anOwner = Effect.fnUntraced(function* (changes: Parameters<typeof aConsumer>[0] = {}) {
  const { id } = yield* aConsumer(changes)
  return { role: "consumer", ownerId: id } as const
})

const rejection = Effect.fnUntraced(function* (secret: string) {
  return (yield* Effect.flip((yield* Authentication).authenticate(secret))).reason
})

const configured = Layer.mergeAll(
  Layer.succeed(OperatorKey, Redacted.make(OPERATOR)),
  Layer.succeed(RateLimitPolicy, { defaultRpm: 60, ceilingRpm: 6_000, providerRpm: 321 })
)

it.layer(withServices(memoryPorts).pipe(Layer.provideMerge(configured)), { timeout: "60 seconds" })(
  "Authentication",
  (it) => {
    it.effect("resolves a consumer's key to its account and granted rate", () =>
      Effect.gen(function* () {
        const owner = yield* anOwner({ name: "Curious", rateLimitRpm: 77 })
        const expiresAt = DateTime.add(yield* DateTime.now, { days: 1 })
        const { key, secret } = yield* (yield* Keys).create(owner, { label: "", expiresAt })
        assert.deepStrictEqual(yield* (yield* Authentication).authenticate(secret), {
          ...owner,
          name: "Curious",
          keyId: key.id,
          rateLimitRpm: 77,
          levels: [],
          defaultCap: undefined,
          accountDefaultCap: undefined,
          expiresAt
        })
      })
    )

    it.effect("resolves a provider's key to its account and the rate of all providers", () =>
      Effect.gen(function* () {
        const { id } = yield* aProvider({ name: "Weather" })
        const owner = { role: "provider", ownerId: id } as const
        const { key, secret } = yield* (yield* Keys).create(owner, forever)
        assert.deepStrictEqual(yield* (yield* Authentication).authenticate(secret), {
          ...owner,
          name: "Weather",
          keyId: key.id,
          rateLimitRpm: 321,
          expiresAt: undefined
        })
      })
    )

    it.effect("accepts the configured operator's key, and no similar one", () =>
      Effect.gen(function* () {
        const { authenticate } = yield* Authentication
        assert.strictEqual((yield* authenticate(OPERATOR)).role, "operator")
        assert.strictEqual(yield* rejection(`${OPERATOR} `), "malformed")
      })
    )

    it.effect("states why it rejects: no key, a malformed key, an unknown one", () =>
      Effect.gen(function* () {
        const { sha256Hex } = yield* Digest
        const unknown = assemble("consumer", yield* (yield* Entropy).hex(32), sha256Hex)
        assert.strictEqual(yield* rejection(""), "missing")
        assert.strictEqual(yield* rejection("Bearer"), "malformed")
        assert.strictEqual(yield* rejection(`${unknown.slice(0, -1)}g`), "malformed")
        assert.strictEqual(yield* rejection("x".repeat(100_000)), "malformed")
        assert.strictEqual(yield* rejection(unknown), "unknown")
      })
    )

    it.effect("rejects a key from its expiry on, also a cached one", () =>
      Effect.gen(function* () {
        const expiresAt = DateTime.add(yield* DateTime.now, { seconds: 10 })
        const { secret } = yield* (yield* Keys).create(yield* anOwner(), { label: "", expiresAt })
        const { authenticate } = yield* Authentication
        yield* authenticate(secret)
        yield* TestClock.adjust("9999 millis")
        yield* authenticate(secret)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* rejection(secret), "expired")
      })
    )

    it.effect("rejects a revoked key immediately, also a cached one", () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const owner = yield* anOwner()
        const { key, secret } = yield* keys.create(owner, forever)
        yield* keys.create(owner, forever)
        yield* (yield* Authentication).authenticate(secret)
        yield* keys.revoke(owner, key.id)
        yield* Effect.yieldNow
        assert.strictEqual(yield* rejection(secret), "revoked")
      })
    )

    it.effect("accepts a rotated key for the grace period and the new one from the start", () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const owner = yield* anOwner()
        const { key, secret } = yield* keys.create(owner, forever)
        const { authenticate } = yield* Authentication
        yield* authenticate(secret)
        const { minted } = yield* keys.rotate(owner, key.id, 3)
        yield* Effect.yieldNow
        assert.strictEqual((yield* authenticate(minted.secret)).keyId, minted.key.id)
        yield* TestClock.adjust("2999 millis")
        yield* authenticate(secret)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* rejection(secret), "revoked")
        yield* authenticate(minted.secret)
      })
    )
  }
)

/** Over memory, with a key store that counts its queries. */
const counted = Effect.gen(function* () {
  const ports = yield* Layer.build(memoryPorts)
  const store = Context.get(ports, KeyStore)
  const asked = { times: 0 }
  const counting = KeyStore.of({
    ...store,
    findByHash: (hash) => Effect.suspend(() => (asked.times++, store.findByHash(hash)))
  })
  const services = yield* Layer.build(
    Authentication.layer.pipe(Layer.provide(Layer.succeedContext(Context.add(ports, KeyStore, counting))))
  )
  const { sha256Hex } = Context.get(ports, Digest)
  const aStoredSecret = Effect.gen(function* () {
    const secret = assemble("consumer", yield* (yield* Entropy).hex(32), sha256Hex)
    yield* store.insert(yield* aKey((yield* aConsumer()).id, { hash: sha256Hex(secret) }))
    return secret
  }).pipe(Effect.provideContext(ports))
  const { authenticate } = Context.get(services, Authentication)
  return { asked, authenticate, aStoredSecret, feed: Context.get(ports, ChangeFeed), sha256Hex }
})

describe("Authentication's cache", () => {
  it.effect("queries the store once per key, and again after the time to live", () =>
    Effect.gen(function* () {
      const { asked, aStoredSecret, authenticate } = yield* counted
      const secret = yield* aStoredSecret
      for (let n = 0; n < 5; n++) yield* authenticate(secret)
      assert.strictEqual(asked.times, 1)
      yield* TestClock.adjust(KEY_CACHE_TTL_MS - 1)
      yield* authenticate(secret)
      assert.strictEqual(asked.times, 1)
      yield* TestClock.adjust(1)
      yield* authenticate(secret)
      assert.strictEqual(asked.times, 2)
    })
  )

  it.effect("does not query the store for malformed keys, and caches no unknown ones", () =>
    Effect.gen(function* () {
      const { asked, authenticate, sha256Hex } = yield* counted
      for (const secret of ["", "x", `atb_c_${"0".repeat(72)}`]) yield* Effect.flip(authenticate(secret))
      assert.strictEqual(asked.times, 0)
      const unknown = assemble("consumer", "0".repeat(64), sha256Hex)
      yield* Effect.flip(authenticate(unknown))
      yield* Effect.flip(authenticate(unknown))
      assert.strictEqual(asked.times, 2)
    })
  )

  it.effect("drops a changed key, and everything when the feed says so", () =>
    Effect.gen(function* () {
      const { asked, aStoredSecret, authenticate, feed, sha256Hex } = yield* counted
      const [a, b] = [yield* aStoredSecret, yield* aStoredSecret]
      const askBoth = Effect.andThen(authenticate(a), authenticate(b))
      yield* askBoth
      assert.strictEqual(asked.times, 2)
      const askedAfter = Effect.fnUntraced(function* (change: Change) {
        const before = asked.times
        yield* feed.publish(change)
        yield* Effect.yieldNow
        yield* askBoth
        return asked.times - before
      })
      assert.strictEqual(yield* askedAfter({ topic: "key", id: sha256Hex(a) }), 1)
      assert.strictEqual(yield* askedAfter({ topic: "catalog", id: sha256Hex(a) }), 0)
      assert.strictEqual(yield* askedAfter({ topic: "account", id: "whose" }), 2)
      assert.strictEqual(yield* askedAfter({ topic: "everything", id: "" }), 2)
    })
  )

  it.effect("is bounded: the oldest entry is dropped", () =>
    Effect.gen(function* () {
      const ports = yield* Layer.build(memoryPorts)
      const { sha256Hex } = Context.get(ports, Digest)
      const key = yield* aKey(ConsumerId.make("00000000-0000-7000-8000-000000000000")).pipe(
        Effect.provideContext(ports)
      )
      let asked = 0
      const knowsEveryKey = Layer.mock(KeyStore, {
        findByHash: (hash) =>
          Effect.sync(
            () => (
              asked++,
              Option.some({ key: { ...key, hash }, ownerName: "", rateLimitRpm: 1, defaultCap: undefined })
            )
          )
      })
      const services = yield* Layer.build(
        Authentication.layer.pipe(Layer.provide(knowsEveryKey), Layer.provide(Layer.succeedContext(ports)))
      )
      const { authenticate } = Context.get(services, Authentication)
      const secretOf = (n: number) => assemble("consumer", n.toString(16).padStart(64, "0"), sha256Hex)
      for (let n = 0; n <= KEY_CACHE_ENTRIES_MAX; n++) yield* authenticate(secretOf(n))
      assert.strictEqual(asked, KEY_CACHE_ENTRIES_MAX + 1)
      yield* authenticate(secretOf(KEY_CACHE_ENTRIES_MAX))
      yield* authenticate(secretOf(1))
      assert.strictEqual(asked, KEY_CACHE_ENTRIES_MAX + 1)
      yield* authenticate(secretOf(0))
      assert.strictEqual(asked, KEY_CACHE_ENTRIES_MAX + 2)
    })
  )
})

it.layer(PostgresTest.layer, { timeout: "60 seconds", excludeTestServices: true })(
  "Authentication on two nodes of one database",
  (it) => {
    const aNode = Layer.build(Layer.fresh(withServices(postgresNode)))

    it.effect("soon rejects a key that was revoked on the other node", () =>
      Effect.gen(function* () {
        const [here, there] = [yield* aNode, yield* aNode]
        const owner = yield* anOwner().pipe(Effect.provideContext(here))
        const keys = Context.get(here, Keys)
        const { authenticate } = Context.get(there, Authentication)
        yield* keys.create(owner, forever)
        for (let round = 0; round < 5; round++) {
          const { key, secret } = yield* keys.create(owner, forever)
          assert.strictEqual((yield* authenticate(secret)).keyId, key.id)
          yield* keys.revoke(owner, key.id)
          const error = yield* authenticate(secret).pipe(
            Effect.andThen(Effect.sleep("5 millis")),
            Effect.forever,
            Effect.flip,
            // A quiet machine takes some milliseconds.
            Effect.timeout("10 seconds")
          )
          assert.strictEqual(error.reason, "revoked")
        }
      })
    )
  }
)
