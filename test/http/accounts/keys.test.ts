/**
 * The keys of an account: created, listed, revoked, rotated, expired; and the last one cannot be revoked.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { UUID } from "../../support/checks/ContractCheck.ts"
import {
  aConsumer,
  aProvider,
  at,
  expecting,
  faultPaths,
  KEYS,
  listAt,
  type Member,
  textAt,
  valueAt
} from "../../support/market/Market.ts"
import { until } from "../../support/servers/EmbeddedFolders.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { serviceOnPostgres } from "../../support/market/ServiceConfig.ts"
import { everyService, LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const WHOAMI = "/api/v1/market/whoami"
/** Generous for a busy machine; a quiet one takes less than a second. */
const WITHIN_MS = 10_000
/** Enough for three requests on a busy machine. */
const SHORT_SECONDS = 8
const NOBODYS = "00000000-0000-4000-8000-000000000000"
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u

const create = (key: string, json: object = {}) => expecting(201, { path: KEYS, key, json })
const rotate = (key: string, json: object = {}) => expecting(201, { path: `${KEYS}/rotate`, key, json })
const revoke = (key: string, id: string) => send({ method: "DELETE", path: `${KEYS}/${id}`, key })
const works = (key: string) => Effect.map(send({ path: WHOAMI, key }), ({ status }) => status === 200)
const listed = (key: string) => Effect.map(expecting(200, { path: KEYS, key }), (answer) => listAt(answer, "keys"))

it.layer(ServiceUnderTest.memory(), LIVE)("keys", (it) => {
  it.effect("are listed newest first with everything but the secret", () =>
    Effect.gen(function* () {
      const { key } = yield* aProvider()
      const made = yield* create(key, { label: "staging", expires_at: "2199-01-01T00:00:00.000Z" })
      const answer = yield* expecting(200, { path: KEYS, key })
      assert.strictEqual(at(answer, "total"), 2)
      const [newest, first] = listAt(answer, "keys")
      assert.deepStrictEqual(newest, at(made, "key"))
      assert.match(String(valueAt(newest, "key_id")), UUID)
      assert.match(String(valueAt(newest, "created_at")), INSTANT)
      assert.deepStrictEqual<unknown>(newest, {
        key_id: valueAt(newest, "key_id"),
        api_key_prefix: textAt(made, "api_key").slice(0, 14),
        label: "staging",
        role: "provider",
        status: "active",
        current: false,
        default_cap_microcents: null,
        level_id: null,
        created_at: valueAt(newest, "created_at"),
        expires_at: "2199-01-01T00:00:00.000Z",
        revoked_at: null
      })
      assert.deepStrictEqual([valueAt(first, "current"), valueAt(first, "expires_at")], [true, null])
      for (const secret of [key, textAt(made, "api_key")]) assert.notInclude(answer.text, secret.slice(14))
    })
  )

  it.effect("of one account are one caller", () =>
    Effect.gen(function* () {
      const { id, key } = yield* aConsumer()
      const second = textAt(yield* create(key), "api_key")
      for (const each of [key, second]) {
        assert.strictEqual(at(yield* expecting(200, { path: WHOAMI, key: each }), "id"), id)
      }
      assert.notStrictEqual(second, key)
    })
  )

  it.effect("are at most twenty at a time; revoked ones do not count", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      let last = ""
      for (let n = 1; n < 20; n++) last = textAt(yield* create(key), "key", "key_id")
      for (const path of [KEYS, `${KEYS}/rotate`]) {
        assert.strictEqual(at(yield* expecting(422, { path, key, json: {} }), "code"), "VALIDATION_ERROR")
      }
      assert.strictEqual((yield* revoke(key, last)).status, 200)
      yield* create(key)
      assert.strictEqual(at(yield* expecting(200, { path: KEYS, key }), "total"), 21)
    })
  )

  it.effect("are revoked by path or by query, immediately and permanently", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      for (const call of [
        (id: string) => ({ method: "DELETE", path: `${KEYS}/${id}`, key }),
        (id: string) => ({ method: "DELETE", path: `${KEYS}?key_id=${id}`, key })
      ]) {
        const made = yield* create(key)
        const [id, secret] = [textAt(made, "key", "key_id"), textAt(made, "api_key")]
        assert.isTrue(yield* works(secret))
        const answer = yield* expecting(200, call(id))
        assert.deepStrictEqual([at(answer, "revoked"), at(answer, "key", "status")], [true, "revoked"])
        assert.match(textAt(answer, "key", "revoked_at"), INSTANT)
        const refused = yield* expecting(401, { path: WHOAMI, key: secret })
        assert.include(textAt(refused, "message"), "revoked")
        yield* expecting(404, call(id))
      }
      assert.isTrue(yield* works(key))
    })
  )

  it.effect("cannot be revoked where only one works, but can be rotated", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const id = textAt(yield* expecting(200, { path: WHOAMI, key }), "key_id")
      const answer = yield* revoke(key, id)
      assert.strictEqual(answer.status, 409)
      assert.include(textAt(answer, "message"), "only active key")
      assert.isTrue(yield* works(key))
      const next = textAt(yield* rotate(key, { grace_seconds: 0 }), "api_key")
      assert.deepStrictEqual([yield* works(key), yield* works(next)], [false, true])
    })
  )

  it.effect("of another account return 404", () =>
    Effect.gen(function* () {
      const [mine, theirs]: ReadonlyArray<Member> = [yield* aConsumer(), yield* aProvider()]
      const id = textAt(yield* create(theirs!.key), "key", "key_id")
      for (const wrong of [id, NOBODYS]) {
        assert.strictEqual((yield* revoke(mine!.key, wrong)).status, 404)
        yield* expecting(404, { method: "DELETE", path: `${KEYS}?key_id=${wrong}`, key: mine!.key })
        yield* expecting(404, { path: `${KEYS}/rotate`, key: mine!.key, json: { key_id: wrong } })
      }
      assert.lengthOf(
        (yield* listed(theirs!.key)).filter((one) => valueAt(one, "status") === "active"),
        2
      )
      for (const wrong of ["x", "0", NOBODYS.toUpperCase().replaceAll("0", "A"), "%00", "rotate"]) {
        assert.strictEqual((yield* revoke(mine!.key, wrong)).status, 404, wrong)
      }
      yield* expecting(400, { method: "DELETE", path: KEYS, key: mine!.key })
      yield* expecting(400, { method: "DELETE", path: `${KEYS}?key_id=x`, key: mine!.key })
    })
  )

  it.effect("are rotated: the new key inherits label and expiry, the old one works for the grace period", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const end = "2199-01-01T00:00:00.000Z"
      const old = yield* create(key, { label: "ci", expires_at: end })
      const answer = yield* rotate(key, { key_id: at(old, "key", "key_id"), grace_seconds: 3_600 })
      assert.deepStrictEqual([at(answer, "key", "label"), at(answer, "key", "expires_at")], ["ci", end])
      assert.strictEqual(at(answer, "replaces", "key_id"), at(old, "key", "key_id"))
      const graceMs = Date.parse(textAt(answer, "replaces", "revoked_at")) - Date.now()
      assert.approximately(graceMs, 3_600_000, 60_000)
      for (const each of [textAt(old, "api_key"), textAt(answer, "api_key")]) assert.isTrue(yield* works(each))
      const itself = yield* rotate(key)
      assert.isTrue(yield* works(key), "a day is the default")
      assert.approximately(Date.parse(textAt(itself, "replaces", "revoked_at")) - Date.now(), 86_400_000, 60_000)
      const now = yield* rotate(textAt(answer, "api_key"), { grace_seconds: 0 })
      assert.isFalse(yield* works(textAt(answer, "api_key")))
      assert.isTrue(yield* works(textAt(now, "api_key")))
    })
  )

  it.effect("expire at an instant in the future", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      for (const [given, kept] of [
        ["2199-01-01T00:00:00Z", "2199-01-01T00:00:00.000Z"],
        ["2199-01-01T01:30:00.5+01:30", "2199-01-01T00:00:00.500Z"],
        ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
      ]) {
        assert.strictEqual(at(yield* create(key, { expires_at: given }), "key", "expires_at"), kept)
      }
      const wrong = [
        "",
        "soon",
        "1",
        "2199",
        "2199-01-01",
        "Jan 1, 2199",
        "2199-13-01T00:00:00Z",
        "2199-01-01T00:00:00",
        "+200000-01-01T00:00:00.000Z",
        "2001-01-01T00:00:00Z",
        "-000001-01-01T00:00:00Z",
        4_102_444_800,
        null
      ]
      for (const expires_at of wrong) {
        const answer = yield* expecting(422, { path: KEYS, key, json: { expires_at } })
        assert.deepStrictEqual(faultPaths(answer), ["expires_at"], String(expires_at))
      }
      assert.lengthOf(yield* listed(key), 4)
    })
  )

  it.effect("do not work after they expire", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const short = textAt(
        yield* create(key, { expires_at: new Date(Date.now() + SHORT_SECONDS * 1_000).toISOString() }),
        "api_key"
      )
      const gone = yield* rotate(key, { grace_seconds: SHORT_SECONDS })
      assert.deepStrictEqual([yield* works(short), yield* works(key)], [true, true])
      yield* until(
        "both have ended",
        Effect.map(Effect.all([works(short), works(key)]), (all) => !all.includes(true))
      )
      assert.include(textAt(yield* expecting(401, { path: WHOAMI, key: short }), "message"), "expired")
      assert.include(textAt(yield* expecting(401, { path: WHOAMI, key }), "message"), "revoked")
      const states = (yield* listed(textAt(gone, "api_key"))).map((one) => valueAt(one, "status"))
      assert.sameMembers([...states], ["active", "expired", "revoked"])
    })
  )
})

for (const [store, layer] of everyService()) {
  it.layer(layer, LIVE)(`keys over ${store}`, (it) => {
    it.effect("are at most twenty also when created concurrently", () =>
      Effect.gen(function* () {
        const { key } = yield* aConsumer()
        const answers = yield* Effect.all(
          Array.from({ length: 30 }, () => send({ path: KEYS, key, json: {} })),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          answers.filter(({ status }) => status === 201),
          19
        )
        assert.lengthOf(
          answers.filter(({ status }) => status === 422),
          11
        )
      })
    )

    it.effect("cannot all be revoked concurrently", () =>
      Effect.gen(function* () {
        const { key } = yield* aConsumer()
        for (let n = 0; n < 5; n++) yield* create(key)
        const ids = (yield* listed(key)).map((one) => String(valueAt(one, "key_id")))
        yield* Effect.all(
          ids.map((id) => revoke(key, id)),
          { concurrency: "unbounded" }
        )
        const again = yield* send({ path: KEYS, key })
        const left =
          again.status === 200 ? listAt(again, "keys").filter((one) => valueAt(one, "status") === "active") : [0]
        assert.lengthOf(left, 1)
      })
    )
  })
}

it.layer(ServiceUnderTest.memory())("keys and time", (it) => {
  it.effect("a rotated key works until the end of its grace period, an expiring one until it expires", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const ending = yield* create(key, { expires_at: "1970-01-01T00:00:20Z" })
      yield* rotate(key, { grace_seconds: 60 })
      yield* TestClock.setTime(19_999)
      assert.isTrue(yield* works(textAt(ending, "api_key")))
      yield* TestClock.setTime(20_000)
      assert.isFalse(yield* works(textAt(ending, "api_key")))
      yield* TestClock.setTime(59_999)
      assert.isTrue(yield* works(key))
      yield* TestClock.setTime(60_000)
      assert.isFalse(yield* works(key))
    })
  )
})

const twoNodes = Effect.gen(function* () {
  const node = Effect.map(Layer.build(Layer.fresh(ServiceUnderTest.over(serviceOnPostgres()))), (context) =>
    Context.get(context, ServiceUnderTest)
  )
  return [yield* node, yield* node] as const
})

it.layer(PostgresTest.layerDatabase, LIVE)("keys on several nodes", (it) => {
  it.effect("that one node has revoked are soon rejected by the other", () =>
    Effect.gen(function* () {
      const [one, other] = yield* twoNodes
      const on = (node: ServiceUnderTest["Service"]) => Effect.provideService(ServiceUnderTest, node)
      const { key } = yield* aConsumer().pipe(on(one))
      const made = yield* create(key).pipe(on(one))
      const [id, secret] = [textAt(made, "key", "key_id"), textAt(made, "api_key")]
      assert.isTrue(yield* works(secret).pipe(on(other)), "it is in the other node's cache now")
      yield* revoke(key, id).pipe(on(one))
      const startedAt = performance.now()
      while (yield* works(secret).pipe(on(other))) {
        assert.isBelow(performance.now() - startedAt, WITHIN_MS)
        yield* Effect.sleep("5 millis")
      }
      assert.isTrue(yield* works(key).pipe(on(other)))
    })
  )
})
