/**
 * The operator's session: it works on pages of this service only, ends in time, and never with another key; and everything
 * that the operator changes is in the audit trail.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { BaseUrl } from "../../adapters/http/contract/BaseUrl.ts"
import { SIGN_INS_PER_MINUTE_MAX, WRONG_KEYS_PER_MINUTE_MAX } from "../../adapters/http/pipeline/Stages.ts"
import { OperatorKey } from "../../domain/accounts/Authentication.ts"
import { OperatorSessions } from "../../domain/operator/OperatorSessions.ts"
import { everyEndpoint, OPERATOR_KEY, titleOf } from "../support/checks/EndpointTable.ts"
import { aConsumer, at, expecting, listAt, textAt, valueAt } from "../support/market/Market.ts"
import { type Call, LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../support/metering/Core.ts"

const SESSION = "/api/v1/operator/session"
const SOLVENCY = "/api/v1/operator/solvency"
const TRAIL = "/api/v1/operator/audit-trail"
const ORIGIN = "http://127.0.0.1:3000"

const credentials = { key: OPERATOR_KEY, name: "Ada Lovelace" }

const signIn = (headers: Readonly<Record<string, string>> = {}) =>
  Effect.map(expectingAnswer(201, { path: SESSION, json: credentials, headers }), cookieOf)

const expectingAnswer = Effect.fnUntraced(function* (status: number, call: Call) {
  const answer = yield* send(call)
  assert.strictEqual(answer.status, status, `${call.method ?? ""} ${call.path}: ${answer.text}`)
  return answer
})

const cookieOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }): string =>
  (headers["set-cookie"] ?? "").split(";")[0]!

/** The distinct statuses of twice as many attempts as are allowed, in their order. The bucket refills a little meanwhile. */
const limitedTo = Effect.fnUntraced(function* <E, R>(
  max: number,
  attempt: Effect.Effect<{ readonly status: number }, E, R>
) {
  const all: Array<number> = []
  for (let n = 0; n < 2 * max; n++) all.push((yield* attempt).status)
  assert.isAtLeast(all.filter((one) => one === 401).length, max)
  assert.strictEqual(all[max - 1], 401)
  return { statuses: [...new Set(all)] }
})

const freezing = (id: string) => ({
  path: `/api/v1/operator/consumers/${id}/freeze`,
  json: { reason: "Fraud is suspected." }
})

const service = memoryCore.pipe(
  Layer.provide([Layer.succeed(OperatorKey, Redacted.make(OPERATOR_KEY)), Layer.succeed(BaseUrl, ORIGIN)])
)

it.layer(service, LIVE)("The operator's session", (it) => {
  it.effect("is a cookie that no script reads and no other site sends", () =>
    Effect.gen(function* () {
      const answer = yield* expectingAnswer(201, { path: SESSION, json: credentials })
      const cookie = answer.headers["set-cookie"] ?? ""
      assert.match(cookie, /^operator-session=[0-9a-f]{64}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/u)
      assert.strictEqual(answer.headers["cache-control"], "no-store")
      assert.notInclude(answer.text, cookieOf(answer).split("=")[1]!, "only the cookie has the token")
      assert.strictEqual(at(answer, "name"), "Ada Lovelace")
      const seen = yield* expectingAnswer(200, { path: SOLVENCY, headers: { cookie: cookieOf(answer) } })
      assert.strictEqual(seen.headers["cache-control"], "no-store")
      assert.include(seen.headers["vary"] ?? "", "Cookie")
    })
  )

  it.effect("works only for requests of this service's own pages", () =>
    Effect.gen(function* () {
      const cookie = yield* signIn()
      const { id } = yield* aConsumer()
      const foreign = [
        { origin: "https://evil.example" },
        { origin: "null" },
        { origin: `${ORIGIN}.evil.example` },
        { origin: "http://127.0.0.1:3001" },
        { origin: "https://127.0.0.1:3000" },
        { origin: ORIGIN, "sec-fetch-site": "same-site" },
        { origin: ORIGIN, "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "none" }
      ]
      for (const headers of foreign) {
        for (const call of [{ path: SOLVENCY }, freezing(id), { method: "DELETE", path: SESSION }]) {
          yield* expectingAnswer(403, { ...call, headers: { ...headers, cookie } })
        }
        if ("origin" in headers) yield* expectingAnswer(403, { path: SESSION, json: credentials, headers })
      }
      // Without an origin nothing is changed.
      yield* expectingAnswer(403, { ...freezing(id), headers: { cookie } })
      yield* expectingAnswer(200, { ...freezing(id), headers: { cookie, origin: ORIGIN } })
      const proxied = { cookie, origin: "https://console.example", host: "console.example" }
      yield* expectingAnswer(200, { path: SOLVENCY, headers: proxied })
    })
  )

  it.effect("no response to the operator may be stored, also of endpoints that others use", () =>
    Effect.gen(function* () {
      const headers = { cookie: yield* signIn(), origin: ORIGIN }
      for (const path of ["/api/v1/market/disputes", TRAIL]) {
        const answer = yield* expectingAnswer(200, { path, headers })
        assert.strictEqual(answer.headers["cache-control"], "no-store", path)
      }
      const consumer = yield* aConsumer()
      const own = yield* expecting(200, { path: "/api/v1/market/disputes", key: consumer.key })
      assert.strictEqual(own.headers["cache-control"], "private, no-cache")
    })
  )

  it.effect("opens no endpoint of another role, and no public one more widely", () =>
    Effect.gen(function* () {
      const cookie = yield* signIn()
      const headers = { cookie, origin: ORIGIN }
      const others = everyEndpoint().filter(({ rule }) => rule.roles.length > 0 && !rule.roles.includes("operator"))
      assert.isAtLeast(others.length, 20)
      for (const { method, path } of others) {
        yield* expectingAnswer(401, { method, path: path.replaceAll(/:\w+/gu, "x"), headers })
      }
    })
  )

  it.effect("counts for nothing beside a key, a forged token, or another name of the cookie", () =>
    Effect.gen(function* () {
      const cookie = yield* signIn()
      const consumer = yield* aConsumer()
      yield* expectingAnswer(403, { path: SOLVENCY, key: consumer.key, headers: { cookie } })
      const token = cookie.split("=")[1]!
      for (const forged of [
        `operator-session=${"0".repeat(64)}`,
        `operator-session=${token.toUpperCase()}0`,
        `operator-session=${token.slice(1)}`,
        `x-operator-session=${token}`,
        `__Host-operator-session=${token}`,
        `operator-session=`,
        `operator-session=${OPERATOR_KEY}`
      ]) {
        yield* expectingAnswer(401, { path: SOLVENCY, headers: { cookie: forged } })
      }
      yield* expectingAnswer(200, { path: SOLVENCY, headers: { cookie: `theme=dark; ${cookie}; other=1` } })
      yield* expectingAnswer(401, { path: SOLVENCY, key: token })
    })
  )

  it.effect("ends with the sign-out", () =>
    Effect.gen(function* () {
      const [cookie, other] = [yield* signIn(), yield* signIn()]
      const headers = { cookie, origin: ORIGIN }
      const answer = yield* expectingAnswer(200, { method: "DELETE", path: SESSION, headers })
      assert.deepStrictEqual(answer.json, { ended: true })
      assert.match(answer.headers["set-cookie"] ?? "", /^operator-session=; Max-Age=0; /u)
      yield* expectingAnswer(401, { path: SOLVENCY, headers })
      yield* expectingAnswer(200, { path: SOLVENCY, headers: { cookie: other } })
    })
  )

  it.effect("ends with all others, at the request of any of them, with a reason in the audit trail", () =>
    Effect.gen(function* () {
      const [stolen, own] = [yield* signIn(), yield* signIn()]
      const end = { path: `${SESSION}s/end`, json: { reason: "A laptop was stolen." } }
      yield* expectingAnswer(422, { path: end.path, json: {}, headers: { cookie: own, origin: ORIGIN } })
      yield* expectingAnswer(403, { ...end, headers: { cookie: own, origin: "https://evil.example" } })
      yield* expectingAnswer(200, { path: SOLVENCY, headers: { cookie: stolen } })
      const headers = { cookie: own, origin: ORIGIN, "idempotency-key": "end all" }
      const answer = yield* expectingAnswer(200, { ...end, headers })
      assert.isAtLeast(Number(at(answer, "ended")), 2)
      assert.match(answer.headers["set-cookie"] ?? "", /^operator-session=; Max-Age=0; /u)
      for (const cookie of [stolen, own]) yield* expectingAnswer(401, { path: SOLVENCY, headers: { cookie } })
      yield* expectingAnswer(401, { ...end, headers })
      const trail = yield* expecting(200, { path: `${TRAIL}?action=session.end_all`, key: OPERATOR_KEY })
      assert.deepStrictEqual(
        listAt(trail, "entries").map((one) => [valueAt(one, "actor"), valueAt(one, "reason")]),
        [["Ada Lovelace", "A laptop was stolen."]]
      )
      yield* expectingAnswer(200, { path: SOLVENCY, headers: { cookie: yield* signIn() } })
    })
  )

  it.effect("rejects another key, and says nothing of the right one", () =>
    Effect.gen(function* () {
      for (const key of [`${OPERATOR_KEY} `, OPERATOR_KEY.slice(1), "x"]) {
        const answer = yield* expectingAnswer(401, { path: SESSION, json: { ...credentials, key } })
        assert.isUndefined(answer.headers["set-cookie"])
        assert.notInclude(answer.log, key)
      }
    })
  )

  it.effect("every endpoint with which the operator changes something names its action", () =>
    Effect.sync(() => {
      const changing = everyEndpoint().filter(({ method, rule }) => method !== "GET" && rule.roles.includes("operator"))
      assert.isAtLeast(changing.length, 10)
      assert.deepStrictEqual(changing.filter(({ rule }) => rule.action === undefined).map(titleOf), [])
    })
  )

  it.effect("what the operator changes is in the audit trail, by name, once, and only if it succeeded", () =>
    Effect.gen(function* () {
      const cookie = yield* signIn()
      const { id } = yield* aConsumer()
      const of = (path: string) =>
        Effect.map(expecting(200, { path, key: OPERATOR_KEY }), (one) => listAt(one, "entries"))
      const retried = { cookie, origin: ORIGIN, "idempotency-key": `freeze ${id}` }
      yield* expectingAnswer(200, { ...freezing(id), headers: retried })
      const replayed = yield* expectingAnswer(200, { ...freezing(id), headers: retried })
      assert.strictEqual(replayed.headers["idempotent-replay"], "true")
      yield* expectingAnswer(422, { path: freezing(id).path, json: {}, headers: { cookie, origin: ORIGIN } })
      const unknown = "00000000-0000-4000-8000-000000000000"
      yield* expectingAnswer(404, { ...freezing(unknown), key: OPERATOR_KEY })
      yield* expectingAnswer(200, {
        path: `/api/v1/operator/consumers/${id}/unfreeze`,
        json: { reason: "A mistake." },
        key: OPERATOR_KEY
      })
      const entries = yield* of(`${TRAIL}?subject=${id}`)
      assert.deepStrictEqual(
        entries.map((one) => ["action", "actor", "reason", "address"].map((field) => valueAt(one, field))),
        [
          ["account.unfreeze", "API key", "A mistake.", "192.0.2.1"],
          ["account.freeze", "Ada Lovelace", "Fraud is suspected.", "192.0.2.1"]
        ]
      )
      assert.deepStrictEqual(yield* of(`${TRAIL}?subject=${unknown}`), [])
      const [signedIn] = yield* of(`${TRAIL}?action=session.create&limit=1`)
      assert.strictEqual(valueAt(signedIn, "session_id"), valueAt(entries[1], "session_id"))
      assert.notInclude(JSON.stringify(yield* of(TRAIL)), OPERATOR_KEY)
    })
  )
})

it.layer(memoryCore)("The operator's sessions", (it) => {
  const withKey = <A, E, R>(key: string, effect: Effect.Effect<A, E, R | OperatorSessions>) =>
    Effect.provide(
      effect,
      Layer.fresh(OperatorSessions.layer).pipe(Layer.provide(Layer.succeed(OperatorKey, Redacted.make(key))))
    )
  const status = (token: string) =>
    Effect.flatMap(OperatorSessions, ({ authenticate }) =>
      Effect.map(Effect.result(authenticate(token)), ({ _tag }) => _tag)
    )

  it.effect("end when the operator's key changes", () =>
    Effect.gen(function* () {
      const { token } = yield* withKey(
        OPERATOR_KEY,
        Effect.flatMap(OperatorSessions, (one) => one.signIn(OPERATOR_KEY, "Ada"))
      )
      assert.strictEqual(yield* withKey(OPERATOR_KEY, status(token)), "Success")
      assert.strictEqual(yield* withKey("another key of the operator, rotated", status(token)), "Failure")
    })
  )

  it.effect("end after an hour without use, and after 8 hours in any case", () =>
    withKey(
      OPERATOR_KEY,
      Effect.gen(function* () {
        const { signIn } = yield* OperatorSessions
        const { token: idle } = yield* signIn(OPERATOR_KEY, "Ada")
        const { token: busy } = yield* signIn(OPERATOR_KEY, "Bob")
        for (let half = 1; half <= 15; half++) {
          yield* TestClock.adjust("30 minutes")
          assert.strictEqual(yield* status(busy), "Success", `after ${half / 2} hours`)
        }
        assert.strictEqual(yield* status(idle), "Failure")
        yield* TestClock.adjust("30 minutes")
        assert.strictEqual(yield* status(busy), "Failure")
      })
    )
  )
})

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY, BASE_URL: "https://market.example" }), LIVE)("Behind HTTPS", (it) => {
  it.effect("the cookie is secure and bound to the host, and no other name counts", () =>
    Effect.gen(function* () {
      const answer = yield* expectingAnswer(201, { path: SESSION, json: credentials, from: "192.0.2.10" })
      assert.match(answer.headers["set-cookie"] ?? "", /^__Host-operator-session=[0-9a-f]{64}; .*; Secure$/u)
      const cookie = cookieOf(answer)
      const headers = { cookie, origin: "https://market.example" }
      yield* expectingAnswer(200, { path: SOLVENCY, headers })
      yield* expectingAnswer(401, { path: SOLVENCY, headers: { ...headers, cookie: cookie.replace("__Host-", "") } })
      // A page that was loaded in plain text may be from anywhere.
      const plain = { ...headers, origin: "http://market.example", host: "market.example" }
      yield* expectingAnswer(403, { path: SOLVENCY, headers: plain })
      yield* expectingAnswer(403, { path: SESSION, json: credentials, headers: plain, from: "192.0.2.10" })
      const otherName = { cookie, origin: "https://console.example", host: "console.example" }
      yield* expectingAnswer(200, { path: SOLVENCY, headers: otherName })
    })
  )

  it.effect("wrong attempts to sign in are limited per network, and do not lock the right key out", () =>
    Effect.gen(function* () {
      const attempt = (from: string) => send({ path: SESSION, json: { ...credentials, key: "a guess" }, from })
      const from = "192.0.2.20"
      const origin = "https://market.example"
      const { statuses } = yield* limitedTo(SIGN_INS_PER_MINUTE_MAX, attempt(from))
      assert.deepStrictEqual(statuses, [401, 429])
      assert.strictEqual((yield* attempt("198.51.100.20")).status, 401)
      const signedIn = yield* expectingAnswer(201, { path: SESSION, json: credentials, from })
      const end = { path: `${SESSION}s/end`, json: { reason: "A laptop was stolen." }, from }
      yield* expectingAnswer(200, { ...end, headers: { cookie: cookieOf(signedIn), origin } })
      yield* expectingAnswer(200, { ...end, key: OPERATOR_KEY })
      yield* expectingAnswer(401, { path: SOLVENCY, key: "a guess", from })
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("Without an operator key", (it) => {
  it.effect("there is no session", () =>
    Effect.gen(function* () {
      const answer = yield* expectingAnswer(503, { path: SESSION, json: credentials })
      assert.strictEqual(textAt(answer, "code"), "NOT_CONFIGURED")
      const cookie = `operator-session=${"0".repeat(64)}`
      yield* expectingAnswer(401, { path: SOLVENCY, headers: { cookie } })
    })
  )
})

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY, RATE_LIMIT_IP_RPM: "600" }), LIVE)("Wrong keys", (it) => {
  it.effect("have a limit of their own per network: neither right keys nor sign-ins count against it", () =>
    Effect.gen(function* () {
      const from = "192.0.2.30"
      const consumer = yield* aConsumer()
      const wrong = send({ path: SOLVENCY, key: "a guess", from })
      assert.deepStrictEqual((yield* limitedTo(WRONG_KEYS_PER_MINUTE_MAX, wrong)).statuses, [401, 429])
      yield* expectingAnswer(429, { path: "/api/v1/market/keys", headers: { "x-api-key": "a guess" }, from })
      yield* expectingAnswer(200, { path: SOLVENCY, key: OPERATOR_KEY, from })
      yield* expectingAnswer(200, { path: "/api/v1/market/keys", key: consumer.key, from })
      yield* expectingAnswer(401, { path: SOLVENCY, from })
      yield* expectingAnswer(401, { path: SESSION, json: { ...credentials, key: "a guess" }, from })
      yield* expectingAnswer(201, { path: SESSION, json: credentials, from })
      yield* expectingAnswer(401, { path: SOLVENCY, key: "a guess", from: "198.51.100.30" })
    })
  )
})
