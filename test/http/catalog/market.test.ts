/**
 * What the market says about itself: its index, its statistics, and the instructions of every endpoint that takes a
 * body.
 */
import { assert, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Schema } from "effect"
import type { EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import {
  aKeyOfEachRole,
  everyBody,
  everyEndpoint,
  keyFor,
  OPERATOR_KEY,
  pathOf,
  titleOf
} from "../../support/checks/EndpointTable.ts"
import {
  aConsumer,
  aProvider,
  at,
  CONSUMERS,
  expecting,
  listAt,
  PROVIDERS,
  putTools,
  textAt,
  TOOLS,
  unasked
} from "../../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

const INDEX = "/api/market"
const STATS = "/api/v1/market/stats"
const BASE_URL = "https://market.example"

const isThere = (answer: Answer): boolean =>
  !(answer.status === 405 || (answer.status === 404 && answer.text.includes("There is nothing at")))

it.layer(ServiceUnderTest.memory({ BASE_URL }), LIVE)("the index", (it) => {
  it.effect("states what this is, its version and its address", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: INDEX })
      assert.strictEqual(at(answer, "version"), "0.3.0")
      assert.strictEqual(at(answer, "base_url"), BASE_URL)
      for (const field of ["name", "description", "auth"]) assert.isNotEmpty(textAt(answer, field))
      assert.isAbove(listAt(answer, "flow").length, 1)
    })
  )

  it.effect("names every existing endpoint, and no other", () =>
    Effect.gen(function* () {
      const named = Object.entries(at(yield* expecting(200, { path: INDEX }), "endpoints") as Record<string, string>)
      for (const [endpoint, text] of named) {
        const [method = "", path = ""] = endpoint.split(" ")
        const known = everyEndpoint().find((one) => titleOf(one) === endpoint)
        const answer = yield* send({ method, path: known === undefined ? path : pathOf(known) })
        assert.isTrue(isThere(answer), `${endpoint} is named, but: ${answer.status} ${answer.text.slice(0, 200)}`)
        assert.isNotEmpty(text, endpoint)
      }
      const names = named.map(([endpoint]) => endpoint)
      assert.includeMembers(names, everyEndpoint().map(titleOf))
      assert.lengthOf(new Set(names), names.length)
    })
  )

  it.effect("has links and steps that exist", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: INDEX })
      const links = Object.values(at(answer, "links") as Record<string, string>)
      assert.isNotEmpty(links)
      for (const link of links) {
        assert.isTrue(link.startsWith(BASE_URL), link)
        assert.strictEqual((yield* send({ path: link.slice(BASE_URL.length) })).status, 200, link)
      }
      for (const [method, path] of stepsIn([...listAt(answer, "flow")].join("\n"))) {
        assert.isTrue(isThere(yield* send({ method, path })), `${method} ${path}`)
      }
    })
  )

  it.effect("gives the same next steps as a registration", () =>
    Effect.gen(function* () {
      for (const [path, json] of [
        [CONSUMERS, { name: "x", email: "a@b.org" }],
        [PROVIDERS, { name: "x", email: "a@b.org", endpoint_url: "https://b.org" }]
      ] as const) {
        const steps = listAt(yield* expecting(201, { path, json }), "next_steps").join("\n")
        const urls = steps.match(/https:[^\s)]+/gu) ?? []
        assert.isNotEmpty(urls)
        for (const url of urls) {
          const step = url.slice(BASE_URL.length)
          const answers = yield* Effect.forEach(["GET", "POST"], (method) => send({ method, path: step }))
          assert.isTrue(url.startsWith(BASE_URL) && answers.some(isThere), url)
        }
      }
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("the statistics", (it) => {
  it.effect("start at zero, and count accounts and tools", () =>
    Effect.gen(function* () {
      const { timestamp, ...nothing } = (yield* expecting(200, { path: unasked(STATS) })).json as Record<
        string,
        unknown
      >
      assert.match(String(timestamp), /Z$/u)
      assert.deepStrictEqual(nothing, {
        total_tool_invocations: 0,
        successful_calls: 0,
        reported_calls: 0,
        unique_agents: 0,
        unique_tools: 0,
        tools_listed: 0,
        providers: 0,
        total_revenue_microcents: 0,
        total_revenue_cents: 0,
        total_revenue: "$0.00",
        avg_response_time_ms: null,
        free_tier_usage_pct: null,
        last_invocation: null
      })
      const provider = yield* aProvider()
      yield* aProvider()
      yield* aConsumer()
      yield* putTools(provider, { tool_name: "a" }, { tool_name: "b" }, { tool_name: "c" })
      const answer = yield* expecting(200, { path: unasked(STATS) })
      assert.deepStrictEqual([at(answer, "tools_listed"), at(answer, "providers")], [3, 2])
      const health = yield* expecting(200, { path: "/api/market/health" })
      const { timestamp: _, uptime_seconds: uptime, ...rest } = health.json as Record<string, unknown>
      assert.deepStrictEqual(rest, { status: "ok", provider_count: 2, tool_count: 3 })
      assert.isTrue(Number.isInteger(uptime))
    })
  )
})

/** Bodies that each break one rule that JSON Schema can express. */
const REFUSED: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  [CONSUMERS]: [
    {},
    null,
    [],
    { name: "x" },
    { email: "a@b.org" },
    { name: 1, email: "a@b.org" },
    { name: "", email: "a@b.org" },
    { name: "x".repeat(201), email: "a@b.org" },
    { name: "x", email: "a@b.org", rate_limit_rpm: "5" },
    { name: "x", email: "a@b.org", rate_limit_rpm: 0 },
    { name: "x", email: "a@b.org", rate_limit_rpm: 1.5 }
  ],
  [PROVIDERS]: [
    {},
    { name: "x", email: "a@b.org" },
    { name: "x", email: "a@b.org", endpoint_url: 1 },
    { name: "x", email: "a@b.org", endpoint_url: "https://b.org", pricing_model: "per_hour" },
    { name: "x", email: "a@b.org", endpoint_url: "https://b.org", default_price_microcents: -1 },
    { name: "x", email: "a@b.org", endpoint_url: "https://b.org", default_price_microcents: 2 ** 53 },
    { name: "x", email: "a@b.org", endpoint_url: "https://b.org", tools: [{}] },
    { name: "x", email: "a@b.org", endpoint_url: "https://b.org", tools: [{ tool_name: "a b" }] }
  ],
  [TOOLS]: [
    {},
    { tools: [] },
    { tools: "t" },
    { tools: Array.from({ length: 51 }, (_, n) => ({ tool_name: `t${n}` })) },
    { tools: [{ tool_name: "a b" }] },
    { tools: [{ tool_name: "t", price_microcents: 1.5 }] },
    { tools: [{ tool_name: "t", input_schema: "x" }] },
    { tools: [{ tool_name: "t", billing_policy: "never" }] }
  ]
}

const describing = everyBody().filter(({ path }) =>
  everyEndpoint().some(
    (other) => other.path === path && other.method === "GET" && other.summary.startsWith("Describe POST")
  )
)

const examplesOf = (endpoint: EndpointInfo): ReadonlyArray<unknown> => {
  const payload = endpoint.payload as unknown as Schema.ConstraintCodec<unknown, unknown>
  const examples = Schema.resolveAnnotations(payload as unknown as Schema.Top)?.["examples"] ?? []
  return (examples as ReadonlyArray<unknown>).map((example) => Schema.encodeUnknownSync(payload)(example))
}

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("an endpoint that describes itself", (it) => {
  it.effect("does so in the contract's words", () =>
    Effect.gen(function* () {
      const paths = describing.map(({ path }) => path)
      assert.includeMembers(paths, [CONSUMERS, PROVIDERS, TOOLS])
      for (const path of paths) {
        const answer = yield* expecting(200, { path })
        assert.deepStrictEqual(Object.keys(answer.json as object), ["endpoint", "method", "description", "schema"])
        assert.deepStrictEqual([at(answer, "endpoint"), at(answer, "method")], [path, "POST"])
        assert.isNotEmpty(textAt(answer, "description"))
      }
    })
  )

  it.effect("accepts its own example, and so does its schema", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const endpoint of describing) {
        const accepts = yield* validatorOf(endpoint.path)
        const examples = examplesOf(endpoint)
        assert.isNotEmpty(examples, endpoint.path)
        for (const json of examples) {
          assert.isTrue(accepts(json), `${endpoint.path}: ${JSON.stringify(accepts.errors)}`)
          const answer = yield* send({ path: endpoint.path, key: keyFor(endpoint, keys), json })
          assert.notInclude([400, 415, 422], answer.status, `${endpoint.path} ${answer.text}`)
        }
      }
    })
  )

  it.effect("rejects what its schema rejects", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const endpoint of describing) {
        const accepts = yield* validatorOf(endpoint.path)
        for (const json of REFUSED[endpoint.path] ?? [null, [], "text", 1]) {
          assert.isFalse(accepts(json), `the schema of ${endpoint.path} accepts ${JSON.stringify(json).slice(0, 200)}`)
          yield* expecting(422, { path: endpoint.path, key: keyFor(endpoint, keys), json })
        }
      }
    })
  )
})

const validatorOf = Effect.fnUntraced(function* (path: string) {
  const schema = at(yield* expecting(200, { path }), "schema")
  const ajv = new Ajv2020({ strict: true, allErrors: true, formats: { email: true, uri: true, "date-time": true } })
  return ajv.compile(schema as object)
})

const stepsIn = (text: string): ReadonlyArray<readonly [method: string, path: string]> =>
  [...text.matchAll(/\b(GET|POST|DELETE) (\/[\w/.-]+)/gu)].map(([, method, path]) => [method!, path!] as const)
