/**
 * What an `Idempotency-Key` guarantees, at every endpoint that takes one.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import { everyEndpoint, fieldNames, titleOf } from "../../support/checks/EndpointTable.ts"
import {
  aConsumer,
  aProvider,
  at,
  CONSUMERS,
  consumerBody,
  expecting,
  KEYS,
  PROVIDERS,
  providerBody,
  textAt,
  TOOLS
} from "../../support/market/Market.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { SIGNING_SECRET } from "../../support/market/ServiceConfig.ts"
import { type Call, everyService, LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

const keyed = (call: Call, key: string = randomUUID()): Call => ({
  ...call,
  headers: { ...call.headers, "idempotency-key": key }
})

/** Without what belongs to one request: its date and its id. */
const lasting = ({ headers, status, text }: Answer) => {
  const { "idempotent-replay": _, "x-request-id": __, ...rest } = headers
  return { headers: rest, status, text }
}

const registrations = (): ReadonlyArray<Call> => [
  { path: CONSUMERS, json: consumerBody() },
  { path: PROVIDERS, json: providerBody({ tools: [{ tool_name: "t" }] }) }
]

/** One write of each kind: its request, whether it creates a secret, and how its effects are counted. */
const writes = Effect.gen(function* () {
  const consumer = yield* aConsumer()
  const provider = yield* aProvider()
  const [consumers, providers] = registrations().map((call): Call => ({
    ...call,
    key: consumer.key,
    json: { ...(call.json as object), email: "second@example.org" }
  }))
  const tools: Call = { path: TOOLS, key: provider.key, json: { tools: [{ tool_name: "t", price_microcents: 5 }] } }
  const create: Call = { path: KEYS, key: consumer.key, json: { label: "another" } }
  const rotate: Call = { path: `${KEYS}/rotate`, key: provider.key, json: { grace_seconds: 60 } }
  return [consumers!, providers!, tools, create, rotate]
})

const keysOf = (key: string) => Effect.map(expecting(200, { path: KEYS, key }), (answer) => at(answer, "total"))

it.layer(ServiceUnderTest.memory(), LIVE)("an Idempotency-Key", (it) => {
  it.effect("returns the same response again, byte for byte, marked as a replay", () =>
    Effect.gen(function* () {
      for (const call of yield* writes) {
        const twice = keyed(call)
        const first = yield* expecting(201, twice)
        assert.isUndefined(first.headers["idempotent-replay"], call.path)
        for (let n = 0; n < 3; n++) {
          const again = yield* expecting(201, twice)
          assert.strictEqual(again.headers["idempotent-replay"], "true", call.path)
          assert.deepStrictEqual(lasting(again), lasting(first), call.path)
        }
      }
    })
  )

  it.effect("executes once, however often it is repeated", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const provider = yield* aProvider()
      const before = at(yield* expecting(200, { path: "/api/market/health" }), "provider_count") as number
      const [create, register] = [
        keyed({ path: KEYS, key, json: {} }),
        keyed({
          path: PROVIDERS,
          key: provider.key,
          json: providerBody({ email: "second@example.org", tools: [{ tool_name: "only-once" }] })
        })
      ]
      for (let n = 0; n < 4; n++) {
        yield* expecting(201, create)
        yield* expecting(201, register)
      }
      assert.strictEqual(yield* keysOf(key), 2)
      assert.strictEqual(at(yield* expecting(200, { path: "/api/market/health" }), "provider_count"), before + 1)
      const found = yield* expecting(200, { path: "/api/market/catalog?q=only-once" })
      assert.strictEqual(at(found, "total"), 1)
    })
  )

  it.effect("rejects another body, path or query under the same key, and changes nothing", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const name = randomUUID()
      yield* expecting(201, keyed({ path: KEYS, key, json: { label: "a" } }, name))
      const others: ReadonlyArray<Call> = [
        { path: KEYS, key, json: { label: "b" } },
        { path: KEYS, key, json: {} },
        { path: KEYS, key, body: '{ "label": "a" }' },
        { path: `${KEYS}?utm_source=x`, key, json: { label: "a" } },
        { path: `${KEYS}/rotate`, key, json: {} }
      ]
      for (const other of others) {
        const answer = yield* expecting(409, keyed(other, name))
        assert.strictEqual(at(answer, "code"), "IDEMPOTENCY_CONFLICT")
        assert.isUndefined(answer.headers["idempotent-replay"])
      }
      assert.strictEqual(yield* keysOf(key), 2)
    })
  )

  it.effect("is not consumed by a request that changed nothing", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const name = randomUUID()
      const bad: ReadonlyArray<readonly [status: number, call: Call]> = [
        [401, { path: TOOLS, json: {} }],
        [400, { path: TOOLS, key: provider.key, body: "{" }],
        [415, { path: TOOLS, key: provider.key, body: "{}", headers: { "content-type": "text/plain" } }],
        [422, { path: TOOLS, key: provider.key, json: { tools: [] } }],
        [422, { path: TOOLS, key: provider.key, json: { tools: [{ tool_name: "t", input_schema: { type: 5 } }] } }]
      ]
      for (const [status, call] of bad) yield* expecting(status, keyed(call, name))
      const good = keyed({ path: TOOLS, key: provider.key, json: { tools: [{ tool_name: "t" }] } }, name)
      assert.isUndefined((yield* expecting(201, good)).headers["idempotent-replay"])
      assert.strictEqual((yield* expecting(201, good)).headers["idempotent-replay"], "true")
    })
  )

  it.effect("belongs to its caller: the same key of another caller is another key", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* aConsumer(), yield* aConsumer()]
      const provider = yield* aProvider()
      const name = randomUUID()
      const secrets: Array<string> = []
      for (const { key } of [one, two, provider]) {
        const answer = yield* expecting(201, keyed({ path: KEYS, key, json: {} }, name))
        assert.isUndefined(answer.headers["idempotent-replay"])
        secrets.push(textAt(answer, "api_key"))
      }
      assert.lengthOf(new Set(secrets), 3)
      // The account's other key is the same caller.
      const replay = yield* expecting(201, keyed({ path: KEYS, key: secrets[0]!, json: {} }, name))
      assert.strictEqual(replay.headers["idempotent-replay"], "true")
      assert.strictEqual(textAt(replay, "api_key"), secrets[0])
    })
  )

  it.effect("of a registration without a key belongs to the client's address", () =>
    Effect.gen(function* () {
      const name = randomUUID()
      const register = (from: string) =>
        expecting(201, { ...keyed({ path: CONSUMERS, json: consumerBody() }, name), from })
      const mine = yield* register("198.51.100.1")
      const theirs = yield* register("198.51.100.2")
      assert.isUndefined(theirs.headers["idempotent-replay"])
      assert.notStrictEqual(textAt(theirs, "api_key"), textAt(mine, "api_key"))
    })
  )

  it.effect("has 1 to 255 characters", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      for (const name of ["", "x".repeat(256), "x".repeat(20_000)]) {
        const answer = yield* expecting(400, keyed({ path: KEYS, key, json: {} }, name))
        assert.include(textAt(answer, "message"), "Idempotency-Key")
      }
      for (const name of ["x", "x".repeat(255), "ünïcödé", "'; DROP TABLE idempotency_keys; --", " ", "a,b"]) {
        yield* expecting(201, keyed({ path: KEYS, key, json: {} }, name))
      }
      assert.strictEqual(yield* keysOf(key), 7)
    })
  )

  it.effect("is taken by a DELETE too: the repetition returns the first response", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const id = textAt(yield* expecting(201, { path: KEYS, key, json: {} }), "key", "key_id")
      const revoke = keyed({ method: "DELETE", path: `${KEYS}/${id}`, key })
      const first = yield* expecting(200, revoke)
      const second = yield* expecting(200, revoke)
      assert.strictEqual(second.headers["idempotent-replay"], "true")
      assert.strictEqual(second.text, first.text)
      yield* expecting(404, { method: "DELETE", path: `${KEYS}/${id}`, key })
    })
  )
})

for (const [store, layer] of everyService()) {
  it.layer(layer, LIVE)(`an Idempotency-Key over ${store}`, (it) => {
    it.effect("executes one of 32 concurrent requests; the others get its response or a Retry-After", () =>
      Effect.gen(function* () {
        const { key } = yield* aConsumer()
        const call = keyed({ path: KEYS, key, json: { label: "at once" } })
        const answers = yield* Effect.all(
          Array.from({ length: 32 }, () => send(call)),
          { concurrency: "unbounded" }
        )
        const done = answers.filter(({ status }) => status === 201)
        assert.isNotEmpty(done)
        assert.lengthOf(new Set(done.map(({ text }) => text)), 1)
        assert.lengthOf(
          done.filter(({ headers }) => headers["idempotent-replay"] === undefined),
          1
        )
        for (const answer of answers.filter(({ status }) => status !== 201)) {
          assert.strictEqual(answer.status, 409)
          assert.isAbove(Number(answer.headers["retry-after"]), 0)
        }
        assert.strictEqual(yield* keysOf(key), 2)
      })
    )
  })
}

/** They create nothing and move nothing; an event carries an id of its own; a verification is repeated on purpose. */
const NEED_NO_KEY = [
  "/api/v1/verify",
  "/api/v1/market/billing/provider-summary",
  "/api/market/billing/provider-summary",
  "/api/v1/market/providers/verify",
  "/api/v1/market/providers/email",
  "/api/v1/market/invoices/run",
  "/api/webhooks/stripe",
  "/api/v1/init",
  // Each sign-in makes a session of its own.
  "/api/v1/operator/session",
  // A failed payout is retried once.
  "/api/v1/operator/payouts/:payout_id/retry"
]

it("every POST except the stateless ones declares that it takes an Idempotency-Key", () => {
  const declaring = (endpoint: EndpointInfo) => fieldNames(endpoint.endpoint.headers).includes("idempotency-key")
  const without = everyEndpoint().filter((endpoint) => endpoint.method === "POST" && !declaring(endpoint))
  assert.deepStrictEqual(
    without.map(({ path }) => path).filter((path) => !NEED_NO_KEY.includes(path)),
    []
  )
})

it("every endpoint that takes an Idempotency-Key declares it, deletions too", () => {
  const honouring = everyEndpoint().filter(({ rule }) => rule.idempotent)
  assert.isAbove(honouring.filter(({ method }) => method === "DELETE").length, 3)
  const silent = honouring.filter(({ endpoint }) => !fieldNames(endpoint.headers).includes("idempotency-key"))
  assert.deepStrictEqual(silent.map(titleOf), [])
})

it.layer(ServiceUnderTest.postgres(), LIVE)("a response that shows a key", (it) => {
  it.effect("is not readable in the database, nor is the Idempotency-Key", () =>
    Effect.gen(function* () {
      const name = `find-me-${randomUUID()}`
      const secrets: Array<string> = [name, SIGNING_SECRET]
      for (const call of registrations()) {
        secrets.push(textAt(yield* expecting(201, keyed(call, `${name}-${secrets.length}`)), "api_key"))
      }
      for (const [n, call] of (yield* writes).entries()) {
        if (call.key !== undefined) secrets.push(call.key)
        const answer = yield* expecting(201, keyed(call, `${name}-${n}`))
        const shown = at(answer, "api_key")
        if (typeof shown === "string") secrets.push(shown)
        assert.strictEqual((yield* expecting(201, keyed(call, `${name}-${n}`))).text, answer.text)
      }
      assert.isAtLeast(secrets.length, 8)
      const { url } = yield* PostgresTest
      const everything = yield* dump.pipe(connectedTo(url))
      assert.include(everything, "agent@example.org", "the dump is one")
      for (const secret of secrets) {
        assert.notInclude(everything, secret)
        // Nor is the secret part of the key alone.
        assert.notInclude(everything, secret.slice(-40))
        assert.notInclude(everything, Buffer.from(secret).toString("hex"))
      }
    })
  )
})

/** Every row of every table, as text. */
const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
  const texts = yield* Effect.forEach(
    tables,
    ({ name }) => sql<{ readonly row: string }>`SELECT t::text AS row FROM ${sql(name)} t`
  )
  return texts
    .flat()
    .map(({ row }) => row)
    .join("\n")
})
