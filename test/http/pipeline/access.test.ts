/**
 * Authorization of every endpoint: the key is checked before the body is read.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hash } from "node:crypto"
import {
  aKeyOfEachRole,
  everyEndpoint,
  keyFor,
  OPERATOR_KEY,
  pathOf,
  protectedEndpoints,
  titleOf
} from "../../support/checks/EndpointTable.ts"
import {
  at,
  CONSUMERS,
  consumerBody,
  expecting,
  KEYS,
  listAt,
  PROVIDERS,
  providerBody,
  textAt,
  valueAt
} from "../../support/market/Market.ts"
import { type Call, LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const ROLES = ["consumer", "provider", "operator"] as const
/** None of these bodies may be parsed before the key is checked. */
const BODIES: ReadonlyArray<Partial<Call>> = [
  { body: "endless" },
  { body: "{not json" },
  { body: new Uint8Array(3_000_000) },
  { body: "{}", headers: { "content-type": "text/plain" } },
  { body: "{}", headers: { "content-length": "99999999999" } },
  {}
]

const unknownKey = (role: "c" | "p", digits = "0".repeat(64)): string => {
  const body = `atb_${role}_${digits}`
  return body + hash("sha256", body, "hex").slice(0, 8)
}

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("a protected endpoint", (it) => {
  it.effect("requires a key before it reads the body, whatever the body is", () =>
    Effect.gen(function* () {
      assert.isAbove(protectedEndpoints().length, 6)
      for (const endpoint of protectedEndpoints()) {
        for (const body of BODIES) {
          const answer = yield* expecting(401, { method: endpoint.method, path: pathOf(endpoint), ...body })
          assert.isFalse(answer.bodyWasRead, titleOf(endpoint))
          assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
          assert.strictEqual(at(answer, "code"), "UNAUTHORIZED")
        }
      }
    })
  )

  it.effect("rejects a key of the wrong role before it reads the body", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const endpoint of protectedEndpoints()) {
        for (const role of ROLES.filter((one) => !endpoint.rule.roles.includes(one))) {
          const call = { method: endpoint.method, path: pathOf(endpoint), key: keys[role], body: "endless" } as const
          const answer = yield* expecting(403, call)
          assert.isFalse(answer.bodyWasRead, titleOf(endpoint))
          assert.strictEqual(at(answer, "code"), "FORBIDDEN")
          assert.include(textAt(answer, "message"), role)
          for (const needed of endpoint.rule.roles) assert.include(textAt(answer, "message"), needed)
        }
      }
    })
  )

  it.effect("accepts every role that it is for", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const endpoint of protectedEndpoints()) {
        for (const role of endpoint.rule.roles) {
          const answer = yield* send({ method: endpoint.method, path: pathOf(endpoint), key: keys[role] })
          assert.notInclude([401, 403], answer.status, `${role}: ${titleOf(endpoint)}`)
        }
      }
    })
  )

  it.effect("distinguishes a mistyped key from an unknown one, and repeats neither", () =>
    Effect.gen(function* () {
      const { key } = yield* Effect.map(aKeyOfEachRole, ({ consumer }) => ({ key: consumer }))
      const typo = key.slice(0, 20) + (key[20] === "0" ? "1" : "0") + key.slice(21)
      const refused: ReadonlyArray<readonly [key: string, says: string]> = [
        [typo, "checksum"],
        [key.slice(0, -1), "checksum"],
        [`${key}0`, "checksum"],
        [key.toUpperCase(), "checksum"],
        ["hello", "checksum"],
        ["ä".repeat(50), "checksum"],
        ["x".repeat(100_000), "checksum"],
        [unknownKey("c"), "unknown"],
        [unknownKey("p"), "unknown"],
        [`${OPERATOR_KEY}x`, "checksum"],
        ["", "An API key is required"]
      ]
      for (const [wrong, says] of refused) {
        const answer = yield* expecting(401, { path: KEYS, headers: { authorization: `Bearer ${wrong}` } })
        assert.include(textAt(answer, "message"), says)
        if (wrong !== "") assert.notInclude(answer.text, wrong)
      }
    })
  )

  it.effect("states what is wrong with a header that carries no valid key, without repeating the key", () =>
    Effect.gen(function* () {
      const { consumer: key } = yield* aKeyOfEachRole
      const said = (authorization: string) =>
        Effect.map(expecting(401, { path: KEYS, headers: { authorization } }), (answer) => {
          assert.notInclude(answer.text, key)
          return textAt(answer, "message")
        })
      assert.include(yield* said(key), "has no scheme. Send the key as `Authorization: Bearer")
      assert.include(yield* said(`Bearer${key}`), "has no scheme")
      for (const other of [`Basic ${Buffer.from(key).toString("base64")}`, `Token ${key}`]) {
        assert.include(yield* said(other), "another scheme than `Bearer`")
      }
      for (const none of ["Bearer", "Bearer ", ""]) assert.include(yield* said(none), "An API key is required")
    })
  )

  it.effect("accepts `Bearer` in any case, and no other scheme", () =>
    Effect.gen(function* () {
      const { consumer: key } = yield* aKeyOfEachRole
      for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`, `Bearer   ${key} `]) {
        yield* expecting(200, { path: KEYS, headers: { authorization } })
      }
      const basic = Buffer.from(`${key}:`).toString("base64")
      for (const authorization of [
        key,
        `Basic ${basic}`,
        `Token ${key}`,
        `Bearer${key}`,
        `Bearer ${key} ${key}`,
        "Bearer"
      ]) {
        yield* expecting(401, { path: KEYS, headers: { authorization } })
      }
      for (const path of [`${KEYS}?api_key=${key}`, `${KEYS}?authorization=Bearer%20${key}`])
        yield* expecting(401, { path })
    })
  )

  it.effect("takes the key as `X-API-Key` as well, after a bearer token", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const endpoint of protectedEndpoints()) {
        const headers = { "x-api-key": keyFor(endpoint, keys)! }
        const answer = yield* send({ method: endpoint.method, path: pathOf(endpoint), headers })
        assert.notInclude([401, 403], answer.status, titleOf(endpoint))
      }
      const headers = { "x-api-key": keys.consumer, authorization: `Bearer ${unknownKey("c")}` }
      yield* expecting(401, { path: KEYS, headers })
      yield* expecting(200, { path: KEYS, headers: { ...headers, authorization: "Basic eDp5" } })
      yield* expecting(401, { path: KEYS, headers: { "x-api-key": unknownKey("c") } })
    })
  )
})

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("an open endpoint", (it) => {
  it.effect("ignores the key of a GET", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const key of [undefined, "nonsense", unknownKey("c"), ...Object.values(keys)]) {
        yield* expecting(200, { path: "/api/market/catalog", key })
      }
    })
  )

  it.effect("ignores a key that it does not use: of a receipt verification and of a webhook", () =>
    Effect.gen(function* () {
      for (const key of [undefined, "nonsense", unknownKey("p")]) {
        yield* expecting(200, { path: "/api/v1/verify", key, json: { receipt: {} } })
        yield* expecting(503, { path: "/api/webhooks/stripe", key, json: {} })
      }
    })
  )

  it.effect("answers no request 401, whatever its key", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      const revoked = textAt(yield* expecting(201, { path: KEYS, key: keys.consumer, json: {} }), "api_key")
      const listed = yield* expecting(200, { path: KEYS, key: revoked })
      const id = listAt(listed, "keys").find((one) => valueAt(one, "current") === true)
      yield* expecting(200, { method: "DELETE", path: `${KEYS}/${String(valueAt(id, "key_id"))}`, key: keys.consumer })
      yield* expecting(401, { path: KEYS, key: revoked })
      const sent = [revoked, "nonsense", unknownKey("p"), "eyJhbGciOi.J9.x", ...Object.values(keys)]
      const headers = [
        {},
        ...sent.flatMap((key) => [{ authorization: `Bearer ${key}` }, { "x-api-key": key }]),
        { authorization: keys.consumer },
        { authorization: "Basic eDp5" }
      ]
      for (const each of headers) {
        const email = { email: "another@example.org" }
        yield* expecting(201, { path: CONSUMERS, headers: each, json: consumerBody(email) })
        yield* expecting(201, { path: PROVIDERS, headers: each, json: providerBody(email) })
      }
      const open = everyEndpoint().filter(({ path, rule }) => rule.roles.length === 0 && path !== "/metrics")
      for (const endpoint of open) {
        for (const key of [revoked, "nonsense"]) {
          const answer = yield* send({ method: endpoint.method, path: pathOf(endpoint), key, json: {} })
          assert.notStrictEqual(answer.status, 401, titleOf(endpoint))
        }
      }
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("the operator's key", (it) => {
  it.effect("opens no endpoint where none is configured", () =>
    Effect.gen(function* () {
      for (const endpoint of protectedEndpoints()) {
        for (const key of [OPERATOR_KEY, "operator", "undefined", "null"]) {
          yield* expecting(401, { method: endpoint.method, path: pathOf(endpoint), key })
        }
      }
    })
  )
})

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("the operator's key, configured", (it) => {
  it.effect("opens the operator's endpoints and belongs to no account", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      assert.include(textAt(yield* expecting(403, { path: KEYS, key: OPERATOR_KEY }), "message"), "operator")
      for (const endpoint of protectedEndpoints()) {
        if (!endpoint.rule.roles.includes("operator")) continue
        const answer = yield* send({ method: endpoint.method, path: pathOf(endpoint), key: keyFor(endpoint, keys) })
        assert.notInclude([401, 403], answer.status, titleOf(endpoint))
      }
    })
  )
})
