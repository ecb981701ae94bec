/**
 * What every endpoint accepts as a body, and that a rejection names all invalid fields at once.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from "../../../adapters/http/pipeline/Decoding.ts"
import { aKeyOfEachRole, everyBody, keyFor, OPERATOR_KEY, pathOf, titleOf } from "../../support/checks/EndpointTable.ts"
import {
  aConsumer,
  aProvider,
  at,
  consumerBody,
  CONSUMERS,
  expecting,
  faultPaths,
  KEYS,
  listAt,
  providerBody,
  PROVIDERS,
  textAt,
  TOOLS,
  valueAt
} from "../../support/market/Market.ts"
import { type Call, LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

let addresses = 0
/** Each of another network: sign-ins are limited by network. */
const nextAddress = () => `10.${++addresses >> 8}.${addresses & 255}.1`

/** Sends the request to every endpoint that takes a body, with a key that it accepts. */
const toEach = Effect.fnUntraced(function* (call: Omit<Call, "path">) {
  const keys = yield* aKeyOfEachRole
  return yield* Effect.forEach(everyBody(), (endpoint) =>
    Effect.map(
      send({
        from: nextAddress(),
        ...call,
        method: endpoint.method,
        path: pathOf(endpoint),
        key: keyFor(endpoint, keys)
      }),
      (answer) => ({ answer, endpoint, title: titleOf(endpoint) })
    )
  )
})

const isVerify = (title: string) => title === "POST /api/v1/verify"

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("every body", (it) => {
  it.effect("requires a JSON content type, else 415 before it is read", () =>
    Effect.gen(function* () {
      const types = [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "json",
        ""
      ]
      for (const type of types) {
        for (const { answer, title } of yield* toEach({ body: "{}", headers: { "content-type": type } })) {
          assert.strictEqual(answer.status, 415, `${title} with ${type}`)
          assert.isFalse(answer.bodyWasRead, title)
          assert.strictEqual(at(answer, "code"), "UNSUPPORTED_MEDIA_TYPE")
          assert.include(textAt(answer, "message"), "application/json")
        }
      }
    })
  )

  it.effect("may state its charset, or be any +json", () =>
    Effect.gen(function* () {
      const types = [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/vnd.api+json",
        "application/json;x=y"
      ]
      for (const type of types) {
        const headers = { "content-type": type }
        yield* expecting(201, { path: CONSUMERS, body: JSON.stringify(consumerBody()), headers })
      }
    })
  )

  it.effect("parses, else 400", () =>
    Effect.gen(function* () {
      const texts = [
        "{",
        "{]",
        "nul",
        "'a'",
        "{a:1}",
        "[1,]",
        "{} {}",
        '{"a":1}x',
        "\u0000",
        '{"a":"\u0001"}',
        "NaN",
        "01"
      ]
      for (const body of texts) {
        for (const { answer, title } of yield* toEach({ body })) {
          assert.strictEqual(answer.status, 400, `${title} with ${JSON.stringify(body)}`)
          assert.strictEqual(at(answer, "code"), "BAD_REQUEST")
        }
      }
    })
  )

  it.effect("is UTF-8, else 400", () =>
    Effect.gen(function* () {
      const latin1 = Buffer.from('{"name":"\u00e9"}', "latin1")
      for (const body of [
        latin1,
        new Uint8Array([0xff, 0xfe, 0x7b, 0x7d]),
        new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])
      ]) {
        for (const { answer, title } of yield* toEach({ body })) assert.strictEqual(answer.status, 400, title)
      }
    })
  )

  it.effect("is limited in size, else 413", () =>
    Effect.gen(function* () {
      for (const { answer, title } of yield* toEach({ body: `"${"x".repeat(BODY_BYTES_MAX)}"` })) {
        assert.strictEqual(answer.status, 413, title)
        assert.strictEqual(at(answer, "code"), "PAYLOAD_TOO_LARGE")
        assert.match(textAt(answer, "message"), /\d+ bytes/u)
      }
      const padding = BODY_BYTES_MAX - JSON.stringify(consumerBody()).length
      yield* expecting(201, { path: CONSUMERS, body: JSON.stringify(consumerBody()) + " ".repeat(padding) })
      yield* expecting(413, { path: CONSUMERS, body: JSON.stringify(consumerBody()) + " ".repeat(padding + 1) })
    })
  )

  it.effect("is limited in depth, else 400", () =>
    Effect.gen(function* () {
      for (const depth of [JSON_DEPTH_MAX + 1, 1_000, 100_000]) {
        for (const body of ["[".repeat(depth) + "]".repeat(depth), '{"a":'.repeat(depth) + "1" + "}".repeat(depth)]) {
          for (const { answer, title } of yield* toEach({ body })) {
            // This endpoint takes any JSON, with a lower limit of depth.
            if (isVerify(title)) assert.include([200, 400, 413], answer.status)
            else assert.strictEqual(answer.status, 400, `${title} at ${depth}`)
          }
        }
      }
    })
  )

  it.effect("is an object, else 422", () =>
    Effect.gen(function* () {
      for (const json of [null, [], "text", 1, true, [{}]]) {
        for (const { answer, title } of yield* toEach({ json })) {
          if (isVerify(title)) continue
          assert.strictEqual(answer.status, 422, `${title} with ${JSON.stringify(json)}`)
          assert.strictEqual(at(answer, "code"), "VALIDATION_ERROR")
          assert.deepStrictEqual(faultPaths(answer), [""])
        }
      }
    })
  )

  it.effect("contains no NUL and no lone surrogate, in keys neither; the error names the place", () =>
    Effect.gen(function* () {
      const escapes = ["\\u0000", "\\ud800", "\\uDFFF", "\\udc00\\ud800", "a\\u0000b"]
      for (const escape of escapes) {
        const answer = yield* expecting(422, { path: CONSUMERS, body: `{"name":"${escape}","email":"a@example.org"}` })
        assert.deepStrictEqual(faultPaths(answer), ["name"], escape)
        const inKey = yield* expecting(422, { path: CONSUMERS, body: `{"deep":[{"${escape}":1}]}` })
        assert.include(faultPaths(inKey)[0], "deep.0", escape)
      }
      yield* expecting(201, { path: CONSUMERS, body: '{"name":"\\ud83d\\ude00 \\\\u0000","email":"a@example.org"}' })
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("a rejection", (it) => {
  it.effect("names every invalid field of a consumer", () =>
    Effect.gen(function* () {
      const empty = yield* expecting(422, { path: CONSUMERS, json: {} })
      assert.deepStrictEqual(faultPaths(empty), ["email", "name"])
      const all = { name: 7, email: "nobody", use_case: null, rate_limit_rpm: "500" }
      const answer = yield* expecting(422, { path: CONSUMERS, json: all })
      assert.deepStrictEqual(faultPaths(answer), ["email", "name", "rate_limit_rpm", "use_case"])
      assert.include(textAt(answer, "message"), "3 more")
      for (const fault of listAt(answer, "details"))
        assert.match(String(valueAt(fault, "message")), /^`\w+` must be .+ was sent\.$/u)
    })
  )

  it.effect("names every invalid field of a provider, those of its tools by index", () =>
    Effect.gen(function* () {
      const json = {
        name: " ",
        email: "a@b",
        endpoint_url: "ftp://example.org",
        description: "x".repeat(4_001),
        pricing_model: "per_hour",
        default_price_cents: -1,
        default_price_microcents: 150.5,
        tools: [{ tool_name: "ok" }, { tool_name: "not ok", price_microcents: "500" }, 5]
      }
      assert.deepStrictEqual(faultPaths(yield* expecting(422, { path: PROVIDERS, json })), [
        "default_price_cents",
        "default_price_microcents",
        "description",
        "email",
        "endpoint_url",
        "name",
        "pricing_model",
        "tools.1.price_microcents",
        "tools.1.tool_name",
        "tools.2"
      ])
    })
  )

  it.effect("names every invalid field of a key", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const create = yield* expecting(422, { path: KEYS, key, json: { label: "x".repeat(101), expires_at: "soon" } })
      assert.deepStrictEqual(faultPaths(create), ["expires_at", "label"])
      const rotate = yield* expecting(422, { path: `${KEYS}/rotate`, key, json: { key_id: "1", grace_seconds: 1e9 } })
      assert.deepStrictEqual(faultPaths(rotate), ["grace_seconds", "key_id"])
    })
  )

  it.effect("names every invalid tool by index, with its fields", () =>
    Effect.gen(function* () {
      const { key } = yield* aProvider()
      const tools = [
        { tool_name: "a b", free_tier_calls: -1 },
        { tool_name: "ok", price_microcents: 2 ** 53 }
      ]
      const answer = yield* expecting(422, { path: TOOLS, key, json: { tools } })
      assert.deepStrictEqual(
        [...new Set(faultPaths(answer).map((path) => path.split(".").slice(0, 2).join(".")))],
        ["tools.0", "tools.1"]
      )
      for (const field of ["tool_name", "free_tier_calls", "price_microcents"]) assert.include(answer.text, field)
    })
  )

  it.effect("has a limited length, however many faults there are", () =>
    Effect.gen(function* () {
      const tools = Array.from({ length: 50 }, () =>
        Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, 1]))
      )
      const answer = yield* expecting(422, { path: PROVIDERS, json: providerBody({ tools }) })
      assert.isBelow(answer.text.length, 50_000)
      const long = yield* expecting(422, {
        path: CONSUMERS,
        json: { name: "x".repeat(900_000), email: "y".repeat(9_000) }
      })
      assert.isBelow(long.text.length, 5_000)
    })
  )
})
