/**
 * Conventions that hold for every endpoint: names, traces, methods, other origins, caching. Security headers and the
 * form of problems are checked with every request of every test.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { UUID } from "../../support/checks/ContractCheck.ts"
import {
  fieldNames,
  aKeyOfEachRole,
  everyEndpoint,
  keyFor,
  methodsByPath,
  OPERATOR_KEY,
  pathOf,
  titleOf
} from "../../support/checks/EndpointTable.ts"
import { at, CATALOG, CONSUMERS, expecting, KEYS, textAt } from "../../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

/** Required query parameters; the ids exist nowhere. */
const NO_ID = "00000000-0000-4000-8000-000000000000"

const allowedAt = (methods: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted()

const listed = (header: string | undefined): ReadonlyArray<string> => (header ?? "").split(", ").toSorted()

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("every endpoint", (it) => {
  it.effect("exists", () =>
    Effect.gen(function* () {
      assert.isAbove(everyEndpoint().length, 15)
      for (const endpoint of everyEndpoint()) {
        const answer = yield* send({ method: endpoint.method, path: pathOf(endpoint) })
        const isMissing = answer.status === 404 && textAt(answer, "message").includes("There is nothing at")
        assert.isFalse(isMissing, titleOf(endpoint))
        assert.notStrictEqual(answer.status, 405, titleOf(endpoint))
      }
    })
  )

  it.effect("repeats the caller's request id, and creates one where it is missing or malformed", () =>
    Effect.gen(function* () {
      for (const endpoint of everyEndpoint()) {
        const ask = (headers: Readonly<Record<string, string>>) =>
          send({ method: endpoint.method, path: pathOf(endpoint), headers })
        const own = yield* ask({ "x-request-id": "my.own-ID_1:2" })
        assert.strictEqual(own.headers["x-request-id"], "my.own-ID_1:2", titleOf(endpoint))
        const made = yield* ask({})
        assert.match(made.headers["x-request-id"]!, UUID, titleOf(endpoint))
      }
      const refused = ["", " ", "a b", "ä", "x".repeat(65), "a\r\nset-cookie: b=c", "<script>", '"']
      for (const id of refused) {
        const answer = yield* send({ path: CATALOG, headers: { "x-request-id": id } })
        assert.match(answer.headers["x-request-id"]!, UUID, JSON.stringify(id))
      }
    })
  )

  it.effect("continues a trace, and ignores an invalid one", () =>
    Effect.gen(function* () {
      for (const endpoint of everyEndpoint()) {
        const answer = yield* send({
          method: endpoint.method,
          path: pathOf(endpoint),
          headers: { traceparent: TRACE }
        })
        assert.include(answer.headers["traceparent"], TRACE.slice(3, 35), titleOf(endpoint))
      }
      const refused = [
        "",
        "x",
        `${TRACE}-more`,
        TRACE.toUpperCase(),
        TRACE.replace("00-", "ff-"),
        `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
        `00-4bf92f3577b34da6a3ce929d0e0e4736-${"0".repeat(16)}-01`
      ]
      for (const traceparent of refused) {
        const answer = yield* send({ path: CATALOG, headers: { traceparent } })
        assert.notStrictEqual(answer.headers["traceparent"], traceparent, traceparent)
      }
    })
  )

  it.effect("rejects other methods and names those that its path supports", () =>
    Effect.gen(function* () {
      for (const [path, methods] of methodsByPath()) {
        if (path === "/api/v1/verify") continue
        for (const method of [...METHODS, "TRACE", "PROPFIND"].filter((one) => !methods.includes(one))) {
          const answer = yield* expecting(405, { method, path })
          assert.strictEqual(at(answer, "code"), "METHOD_NOT_ALLOWED")
          assert.deepStrictEqual(listed(answer.headers["allow"]), allowedAt(methods), `${method} ${path}`)
          assert.include(textAt(answer, "message"), method)
        }
      }
    })
  )

  it.effect("answers a preflight with what another origin may send", () =>
    Effect.gen(function* () {
      for (const [path, methods] of methodsByPath()) {
        const answer = yield* expecting(204, {
          method: "OPTIONS",
          path,
          headers: { origin: "https://elsewhere.example", "access-control-request-method": methods[0]! }
        })
        assert.strictEqual(answer.text, "")
        assert.strictEqual(answer.headers["access-control-max-age"], "86400")
        assert.deepStrictEqual(listed(answer.headers["access-control-allow-methods"]), allowedAt(methods), path)
        const may = listed(answer.headers["access-control-allow-headers"]?.toLowerCase())
        assert.includeMembers([...may], ["authorization", "content-type", "idempotency-key", "x-request-id"])
      }
    })
  )

  it.effect(
    "allows caching of public reads for a minute, of private ones after revalidation, of the operator's and anything else not at all",
    () =>
      Effect.gen(function* () {
        const keys = yield* aKeyOfEachRole
        let seen = 0
        for (const endpoint of everyEndpoint().filter(({ method }) => method === "GET")) {
          const answer = yield* send({ path: pathOf(endpoint), key: keyFor(endpoint, keys) })
          if (answer.status !== 200) continue
          seen++
          const { cacheable, roles } = endpoint.rule
          const isOperators = roles.every((role) => role === "operator") && roles.length > 0
          const usual = isOperators
            ? "no-store"
            : roles.length > 0
              ? "private, no-cache"
              : cacheable
                ? "public, max-age=60"
                : "no-store"
          // The latest checkpoint of a log may be cached for a second.
          const expected = endpoint.path.endsWith("/checkpoint") ? "public, max-age=1" : usual
          assert.strictEqual(answer.headers["cache-control"], expected, titleOf(endpoint))
          const keyed = roles.includes("operator")
            ? "Authorization, X-API-Key, Cookie, Origin"
            : "Authorization, X-API-Key, Origin"
          assert.strictEqual(answer.headers["vary"], roles.length > 0 ? keyed : "Origin")
          const head = yield* expecting(200, { method: "HEAD", path: pathOf(endpoint), key: keyFor(endpoint, keys) })
          assert.strictEqual(head.headers["cache-control"], expected, titleOf(endpoint))
        }
        assert.isAbove(seen, 8)
        for (const path of [CATALOG, "/api/market", "/api/v1/market/pricing", "/api/v1/market/stats"]) {
          assert.strictEqual((yield* send({ path })).headers["cache-control"], "public, max-age=60", path)
        }
        for (const path of [KEYS, "/api/v1/market/whoami"]) {
          const answer = yield* send({ path, key: keys.consumer })
          assert.strictEqual(answer.headers["cache-control"], "private, no-cache", path)
        }
        const health = yield* expecting(200, { path: "/api/market/health" })
        assert.strictEqual(health.headers["cache-control"], "no-store")
        const write = yield* expecting(201, { path: KEYS, key: keys.consumer, json: {} })
        assert.strictEqual(write.headers["cache-control"], "no-store")
      })
  )

  it.effect("exposes its own headers to scripts of other origins", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: CATALOG, headers: { origin: "https://elsewhere.example" } })
      const shown = listed(answer.headers["access-control-expose-headers"]?.toLowerCase())
      const own = ["x-request-id", "retry-after", "idempotent-replay", "x-ratelimit-limit", "x-ratelimit-remaining"]
      assert.includeMembers([...shown], own)
      assert.isUndefined(answer.headers["access-control-allow-credentials"])
    })
  )
})

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("paths and queries", (it) => {
  it.effect("return a problem where nothing is at a path, whatever its name", () =>
    Effect.gen(function* () {
      const paths = [
        "//api",
        "/api",
        "/api/market/nothing",
        "/api/market/catalog/1",
        "/%",
        "/%zz",
        "/%00",
        "/..%2f..%2fetc%2fpasswd",
        "/api/market/../market",
        `/${"x".repeat(5_000)}`,
        "/constructor",
        "/__proto__",
        "*"
      ]
      for (const path of paths) {
        for (const method of ["GET", "POST", "PUT"]) {
          const answer = yield* send({ method, path })
          assert.include([404, 405, 401], answer.status, `${method} ${path.slice(0, 60)}`)
        }
        assert.include([404, 401, 405], (yield* send({ method: "OPTIONS", path })).status, path.slice(0, 60))
      }
    })
  )

  it.effect("may end in a slash", () =>
    Effect.gen(function* () {
      yield* expecting(200, { path: `${CATALOG}/` })
      yield* expecting(404, { path: `/nothing?at=${encodeURIComponent(CATALOG)}` })
    })
  )

  it.effect("must not repeat a parameter; the rejection names it", () =>
    Effect.gen(function* () {
      for (const query of ["limit=1&limit=2", "q=a&q=a", "limit=1&%6cimit=2"]) {
        const answer = yield* expecting(400, { path: `${CATALOG}?${query}` })
        assert.include(textAt(answer, "message"), "more than once", query)
      }
      const answer = yield* expecting(400, { path: `${CATALOG}?sort=name&sort=price` })
      assert.include(textAt(answer, "message"), "sort")
    })
  )

  it.effect("of documents follow the same rules; pages have a content security policy", () =>
    Effect.gen(function* () {
      const page = yield* expecting(200, { path: "/docs" })
      assert.match(page.headers["content-type"]!, /^text\/html/u)
      const contract = yield* expecting(200, { path: "/api/openapi.json" })
      assert.match(String(at(contract, "openapi")), /^3\.1/u)
      for (const path of ["/docs", "/api/openapi.json"]) {
        yield* expecting(405, { method: "POST", path })
        yield* expecting(204, { method: "OPTIONS", path })
      }
    })
  )

  it.effect("match the whole path only: a guard of a path in front of the service guards the endpoint", () =>
    Effect.gen(function* () {
      for (const endpoint of everyEndpoint()) {
        for (const tail of [";", ";a=b", "#", "#x"]) {
          yield* expecting(404, { method: endpoint.method, path: `${pathOf(endpoint)}${tail}` })
        }
      }
      for (const path of ["/metrics;x", "/docs#x"]) yield* expecting(404, { path })
    })
  )

  it.effect("reject a malformed Idempotency-Key with 400, wherever one is taken; the endpoint declares that", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      const taking = everyEndpoint().filter(({ endpoint, payload }) => endpoint.headers !== undefined && !payload)
      assert.isAbove(taking.length, 3)
      for (const endpoint of taking) {
        const call = { method: endpoint.method, path: pathOf(endpoint), key: keyFor(endpoint, keys) }
        const query = fieldNames(endpoint.endpoint.query).map((name) => `${name}=${NO_ID}`)
        yield* expecting(400, { ...call, path: `${call.path}?${query.join("&")}`, headers: { "idempotency-key": "" } })
      }
    })
  )

  it.effect("register no account on GET", () =>
    Effect.gen(function* () {
      const before = at(yield* send({ path: "/api/market/health" }), "provider_count")
      yield* expecting(200, { path: CONSUMERS })
      assert.strictEqual(at(yield* send({ path: "/api/market/health" }), "provider_count"), before)
    })
  )
})
