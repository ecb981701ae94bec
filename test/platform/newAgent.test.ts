/**
 * An agent that knows only the service's address: everything else comes from responses. It follows agents.json as
 * written, against a service process with a real MCP server.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Ajv2020 } from "ajv/dist/2020.js"
import { everythingServer } from "../support/mcp/servers/RealServers.ts"
import { ask, serve } from "../support/metering/Process.ts"

const Step = Schema.Struct({
  step: Schema.String,
  method: Schema.String,
  url: Schema.String,
  auth: Schema.NullOr(Schema.String),
  body: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  yields: Schema.Record(Schema.String, Schema.String)
})
const AgentsJson = Schema.Struct({ steps: Schema.Array(Step) })

type Memory = Map<string, unknown>

/** RFC 6901. */
const pointed = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((inner, token) => (inner as Readonly<Record<string, unknown>> | undefined)?.[token], value)

const known = (memory: Memory, name: string): unknown => {
  if (!memory.has(name)) throw new Error(`Nobody said what ${name} is`)
  return memory.get(name)
}

/** A text that is only a placeholder becomes the value itself. */
const filled = (template: unknown, memory: Memory): unknown => {
  if (typeof template === "string") {
    const whole = /^\{(\w+)\}$/u.exec(template)?.[1]
    return whole === undefined
      ? template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => String(known(memory, name)))
      : known(memory, whole)
  }
  if (Array.isArray(template)) return template.map((one) => filled(one, memory))
  if (typeof template !== "object" || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, memory)]))
}

interface InputSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, InputSchema>>
  readonly required?: ReadonlyArray<string>
}

/** The agent's own input: the smallest value that fits the schema. */
const invented = (schema: InputSchema): unknown => {
  switch (schema.type) {
    case "number":
    case "integer":
      return 21
    case "string":
      return "hello from nowhere"
    case "boolean":
      return true
    default:
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, invented(schema.properties?.[name] ?? {})])
      )
  }
}

it.live.each([
  ["paid", 0, 12_345],
  ["free", 100, 0]
] as const)(
  "An agent with only the address registers, loads, finds a tool, reads its price, calls it and verifies the receipt: %s",
  ([, freeCalls, cost]) =>
    Effect.gen(function* () {
      const everything = yield* everythingServer
      const service = yield* serve("unused", { profile: "memory" })
      const offered = yield* ask(service, {
        path: "/api/market/register-provider",
        json: {
          name: "Everything, Inc.",
          email: "owner@example.org",
          endpoint_url: everything.url,
          tools: [
            {
              tool_name: "get-sum",
              description: "Adds two numbers",
              price_microcents: 12_345,
              free_tier_calls: freeCalls,
              input_schema: {
                type: "object",
                required: ["a", "b"],
                properties: { a: { type: "number" }, b: { type: "number" } }
              }
            }
          ]
        }
      })
      assert.strictEqual(offered.status, 201, offered.text)

      // From here on: only the address and the responses.
      const front = yield* ask(service, { path: "/" })
      const lead = /\/(?:api\/market|api\/v1|\.well-known\/agents\.json)\b/u.exec(front.text)?.[0]
      assert.isDefined(lead, `The address itself leads nowhere: ${front.text.slice(0, 500)}`)
      const index = yield* ask(service, { path: lead })
      const link = String(pointed(index.json, "/links/agents_json"))
      assert.isTrue(link.startsWith(`${service.url}/`), link)
      const found = yield* ask(service, { path: link.slice(service.url.length) })
      assert.strictEqual(found.status, 200)
      const { steps } = yield* Schema.decodeUnknownEffect(AgentsJson)(found.json)
      const memory: Memory = new Map()
      const walked: Array<string> = []
      for (const { auth, body, method, step, url, yields } of steps) {
        const target = new URL(String(filled(url, memory)))
        assert.strictEqual(target.origin, service.url)
        const reply = yield* ask(service, {
          path: target.pathname + target.search,
          ...(body === undefined ? {} : { json: filled(body, memory) }),
          ...(auth === null ? {} : { key: String(known(memory, "api_key")) })
        })
        assert.strictEqual(method, body === undefined ? "GET" : "POST")
        assert.isTrue(reply.status < 300, `${step}: ${reply.status} ${reply.text}`)
        for (const [name, pointer] of Object.entries(yields)) {
          const value = pointed(reply.json, pointer)
          assert.isDefined(value, `${step} yields no ${name}: ${reply.text}`)
          memory.set(name, value)
        }
        if (memory.has("input_schema") && !memory.has("arguments")) {
          const schema = known(memory, "input_schema") as InputSchema
          const made = invented(schema)
          assert.isTrue(new Ajv2020().compile(schema)(made))
          memory.set("arguments", made)
        }
        walked.push(step)
      }
      assert.deepStrictEqual(walked, ["register", "load", "find", "quote", "call", "receipt", "verify"])
      assert.strictEqual(known(memory, "valid"), true)
      assert.strictEqual(known(memory, "max_cost_microcents"), 12_345)
      assert.include(JSON.stringify(known(memory, "result")), "The sum of 21 and 21 is 42.")
      assert.strictEqual(pointed(known(memory, "receipt"), "/cost_microcents"), cost)
      const balance = yield* ask(service, {
        path: "/api/v1/market/balance",
        key: String(known(memory, "api_key"))
      })
      assert.strictEqual(pointed(balance.json, "/balance_microcents"), 1_000_000 - cost)
    }),
  180_000
)
