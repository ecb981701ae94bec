/**
 * A typo is never ignored: unknown body fields and query parameters are rejected at every endpoint of the contract,
 * with the nearest known name, before anything is executed.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { openApiDocument } from "../../../adapters/http/openapi/OpenApiDocument.ts"
import type { EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import { bodyWith, objectsOfBody } from "../../support/checks/ClosedObjects.ts"
import {
  aKeyOfEachRole,
  everyBody,
  everyEndpoint,
  fieldNames,
  keyFor,
  OPERATOR_KEY,
  pathOf,
  titleOf
} from "../../support/checks/EndpointTable.ts"
import {
  aConsumer,
  aProvider,
  at,
  CATALOG,
  CONSUMERS,
  expecting,
  KEYS,
  listAt,
  textAt,
  TOOLS,
  valueAt
} from "../../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const PROXY = "/api/market/proxy"
const METER = "/api/v1/market/meter"
const UNKNOWN = "zzqx_unknown"

/** Objects with arbitrary content: of other services' clients, and of users. */
const OPEN = new Set([
  "POST /api/v1/verify",
  "POST /api/webhooks/stripe",
  "POST /api/v1/waitlist",
  "POST /api/v1/feedback",
  "POST /api/v1/apply"
])
const closed = () => everyBody().filter((endpoint) => !OPEN.has(titleOf(endpoint)))

const document = openApiDocument("http://127.0.0.1:3000")
const objectsOf = ({ method, path }: EndpointInfo) => objectsOfBody(document, path, method)

/** The data of a CloudEvent needs an envelope. */
const enveloped = (body: unknown): unknown =>
  typeof body === "object" && body !== null && "data" in body
    ? { specversion: "1.0", id: "1", source: "/here", type: "call", ...body }
    : body

const messageAt = (answer: Answer, path: ReadonlyArray<string | number>): string | undefined => {
  const fault = listAt(answer, "details").find((one) => JSON.stringify(valueAt(one, "path")) === JSON.stringify(path))
  return fault === undefined ? undefined : String(valueAt(fault, "message"))
}

it("finds every endpoint that takes a body, and the nested objects in it", () => {
  assert.isAbove(closed().length, 20)
  for (const title of OPEN) assert.include(everyBody().map(titleOf), title)
  const nested = closed().flatMap((endpoint) => objectsOf(endpoint).map(({ path }) => path.join(".")))
  assert.includeMembers(nested, ["", "tools.0", "tools.0.pricing", "data", "input", "tools.0.input_schema", "evidence"])
})

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("an unknown field", (it) => {
  for (const endpoint of closed()) {
    it.effect(`${titleOf(endpoint)} names it, at any depth`, () =>
      Effect.gen(function* () {
        const key = keyFor(endpoint, yield* aKeyOfEachRole)
        const call = { method: endpoint.method, path: pathOf(endpoint), key }
        for (const { fields, isClosed, path } of objectsOf(endpoint).filter(
          (one) => one.isClosed || one.fields.length === 0
        )) {
          const answer = yield* send({ ...call, json: enveloped(bodyWith(path, { [UNKNOWN]: 1 })) })
          const said = `${path.join(".")}: ${answer.text}`
          if (!isClosed) {
            if (answer.status === 422) assert.isUndefined(messageAt(answer, [...path, UNKNOWN]), said)
            continue
          }
          assert.strictEqual(answer.status, 422, said)
          assert.strictEqual(at(answer, "code"), "VALIDATION_ERROR", said)
          assert.match(
            messageAt(answer, [...path, UNKNOWN]) ?? "",
            new RegExp(`^Unknown field \`${UNKNOWN}\`\\. `, "u"),
            said
          )
          for (const field of fields) {
            const typo = yield* send({ ...call, json: enveloped(bodyWith(path, { [`${field}x`]: null })) })
            assert.strictEqual(typo.status, 422, typo.text)
            assert.strictEqual(
              messageAt(typo, [...path, `${field}x`]),
              `Unknown field \`${field}x\`. Did you mean \`${field}\`?`,
              typo.text
            )
          }
        }
      })
    )
  }

  it.effect("is listed with every other one and every other fault, the unknown ones first", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const json = { tool_nam: "echo", dry_runn: true, max_cost_microcent: 5, input: { dry_runn: 1 }, price_version: 0 }
      const answer = yield* expecting(422, { path: PROXY, key, json })
      assert.deepStrictEqual(
        listAt(answer, "details").map((fault) => valueAt(fault, "message")),
        [
          "Unknown field `tool_nam`. Did you mean `tool_name`?",
          "Unknown field `dry_runn`. Did you mean `dry_run`?",
          "Unknown field `max_cost_microcent`. Did you mean `max_cost_microcents`?",
          "`price_version` must be an integer of at least 1; `0` was sent."
        ]
      )
      assert.match(textAt(answer, "message"), /^Unknown field `tool_nam`\. Did you mean `tool_name`\? \(3 more: see/u)
    })
  )

  it.effect("prevents the creation of a key, the price of a tool and the charge of a call", () =>
    Effect.gen(function* () {
      const consumer = yield* aConsumer()
      const expiring = yield* expecting(422, { path: KEYS, key: consumer.key, json: { expires_in_days: 1 } })
      assert.include(textAt(expiring, "message"), "Did you mean `expires_at`?")
      assert.strictEqual(at(yield* expecting(200, { path: KEYS, key: consumer.key }), "total"), 1)

      const provider = yield* aProvider()
      const tools = [{ tool_name: "good" }, { tool_name: "bad", price_microcent: 5 }]
      const put = yield* expecting(201, { path: TOOLS, key: provider.key, json: { tools } })
      assert.deepStrictEqual(at(put, "tool_errors"), [
        { tool_name: "bad", error: "Unknown field `price_microcent`. Did you mean `price_microcents`?" }
      ])
      assert.strictEqual(at(put, "registered"), 1)
      const one = yield* expecting(422, { path: TOOLS, key: provider.key, json: { tools: [tools[1]], tool: 1 } })
      assert.isDefined(messageAt(one, ["tool"]))
    })
  )

  it.effect("is permitted in data of others: input, metadata, evidence, schemas", () =>
    Effect.gen(function* () {
      const [consumer, provider] = [yield* aConsumer(), yield* aProvider()]
      const free = { anything: { at: ["all", { _meta: 1 }] }, dry_runn: true, __proto__: 1 }
      const schema = { type: "object", properties: { dry_runn: {} }, "x-mine": free }
      const tool = { tool_name: "free-form", input_schema: schema, output_schema: schema }
      yield* expecting(201, { path: TOOLS, key: provider.key, json: { tools: [tool] } })
      const call = { tool_name: "free-form", provider_id: provider.id, dry_run: true, metadata: free }
      for (const input of [{ input: free }, { arguments: free }]) {
        yield* expecting(200, { path: PROXY, key: consumer.key, json: { ...call, ...input } })
      }
      yield* expecting(201, {
        path: METER,
        key: provider.key,
        json: { tool_name: "free-form", metadata: free }
      })
    })
  )

  it.effect("of a CloudEvent may be an extension attribute; its data is as strict as without the envelope", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ tools: [{ tool_name: "event" }] })
      const event = { specversion: "1.0", id: "1", source: "/here", type: "call", data: { tool_name: "event" } }
      const extended = { ...event, subject: "x", datacontenttype: "application/json", traceparent: "y", ext1: 1 }
      yield* expecting(201, { path: METER, key: provider.key, json: extended })
      for (const [json, path] of [
        [{ ...event, tool_name: "another" }, ["tool_name"]],
        [{ ...event, Ext: 1 }, ["Ext"]],
        [{ ...event, data: { tool_name: "event", succes: true } }, ["data", "succes"]]
      ] as const) {
        const answer = yield* expecting(422, { path: METER, key: provider.key, json })
        assert.isDefined(messageAt(answer, path), answer.text)
      }
    })
  )

  it.effect("is no fault where others write the body", () =>
    Effect.gen(function* () {
      yield* expecting(201, { path: "/api/v1/waitlist", json: { email: "ada@example.org", [UNKNOWN]: 1 } })
      yield* expecting(201, { path: "/api/v1/feedback", json: { message: "x", [UNKNOWN]: 1 } })
      yield* expecting(201, { path: "/api/v1/apply", json: { name: "x", contact: "y", [UNKNOWN]: 1 } })
      yield* expecting(200, { path: "/api/v1/verify", json: { [UNKNOWN]: 1 } })
    })
  )
})

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("an unknown query parameter", (it) => {
  for (const endpoint of everyEndpoint().filter((one) => one.path.startsWith("/api") && !OPEN.has(titleOf(one)))) {
    it.effect(`${titleOf(endpoint)} names it; utm_* is ignored`, () =>
      Effect.gen(function* () {
        const key = keyFor(endpoint, yield* aKeyOfEachRole)
        const json = endpoint.payload === undefined ? {} : { json: {} }
        const ask = (query: string) =>
          send({ method: endpoint.method, path: `${pathOf(endpoint)}?${query}`, key, ...json })
        const answer = yield* ask(`${UNKNOWN}=1&another_one=2`)
        assert.strictEqual(answer.status, 422, answer.text)
        assert.match(messageAt(answer, [UNKNOWN]) ?? "", new RegExp(`^Unknown query parameter \`${UNKNOWN}\`\\. `, "u"))
        assert.isDefined(messageAt(answer, ["another_one"]))
        for (const name of fieldNames(endpoint.endpoint.query).filter((one) => one.length > 2)) {
          const typo = yield* ask(`${name}x=1`)
          assert.strictEqual(typo.status, 422, typo.text)
          assert.strictEqual(
            messageAt(typo, [`${name}x`]),
            `Unknown query parameter \`${name}x\`. Did you mean \`${name}\`?`
          )
        }
        const campaign = yield* ask("utm_source=a&utm_medium=b&utm_source=c")
        const plain = yield* ask("")
        assert.strictEqual(campaign.status, plain.status, campaign.text)
        assert.notInclude(campaign.text, "utm_")
      })
    )
  }

  it.effect("of the catalog is rejected", () =>
    Effect.gen(function* () {
      for (const [query, meant] of [
        ["max_price=0.001", "max_price_microcents"],
        ["maxPrice=1", "max_price_microcents"],
        ["catgory=search", "category"],
        ["provider=x", "provider_id"]
      ]) {
        const answer = yield* expecting(422, { path: `${CATALOG}?${query}` })
        assert.include(textAt(answer, "message"), `Did you mean \`${meant}\`?`)
      }
    })
  )

  it.effect("of an API document is rejected; of pages, probes and open endpoints it is ignored", () =>
    Effect.gen(function* () {
      yield* expecting(422, { path: "/api/openapi.json?x=1" })
      for (const path of ["/", "/docs", "/catalog", "/livez", "/readyz", "/llms.txt", "/.well-known/agents.json"]) {
        yield* expecting(200, { path: `${path}?x=1` })
      }
      yield* expecting(201, { path: "/api/v1/waitlist?ref=a", json: { email: "ada@example.org" } })
      yield* expecting(200, { path: "/api/v1/verify?x=1", json: {} })
      yield* expecting(422, { path: `${CONSUMERS}?dry_run=true`, json: {} })
    })
  )

  it.effect("differs from a bad value, which stays 400 and states the permitted values", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      for (const [path, message] of [
        [
          "/api/v1/market/receipts?from=yesterday",
          "`from` must be a time such as 2026-11-20T10:11:12Z; `yesterday` was sent."
        ],
        [`${CATALOG}?sort=cheap`, "`sort` must be one of `name`, `price`, `price_desc`, `newest`; `cheap` was sent."],
        [
          `${CATALOG}?max_price_microcents=0.001`,
          "`max_price_microcents` must be an integer between 0 and 9007199254740991, in digits only; `0.001` was sent."
        ],
        [`${CATALOG}?provider_id=Ada`, "`provider_id` must be a UUID in lower case; `Ada` was sent."],
        [`${CATALOG}?limit=0`, "`limit` must be an integer of at least 1, in digits only; `0` was sent."],
        [`${CATALOG}?limit=1&limit=2`, "`limit` is there more than once. Send it once."],
        ["/api/v1/market/usage?period=1y", "`period` must be one of `24h`, `7d`, `30d`, `90d`; `1y` was sent."]
      ] as const) {
        const answer = yield* expecting(400, { path, key })
        assert.deepStrictEqual([at(answer, "code"), at(answer, "message")], ["BAD_REQUEST", message])
      }
    })
  )
})
