/**
 * Tools that are added to the catalog: each validated alone, upserted by name.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { UUID } from "../../support/checks/ContractCheck.ts"
import {
  aProvider,
  at,
  CATALOG,
  expecting,
  faultPaths,
  listAt,
  listedTool,
  type Member,
  namesOf,
  putTools,
  textAt,
  TOOLS,
  unasked,
  valueAt
} from "../../support/market/Market.ts"
import { ServiceUnderTest, LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const put = ({ key }: Member, ...tools: ReadonlyArray<unknown>) => send({ path: TOOLS, key, json: { tools } })

/** The sentence for the only tool of a rejected request. */
const refusalOf = Effect.fnUntraced(function* (provider: Member, tool: unknown) {
  const answer = yield* put(provider, tool)
  assert.strictEqual(answer.status, 422, JSON.stringify(tool).slice(0, 300))
  assert.strictEqual(at(answer, "code"), "VALIDATION_ERROR")
  return textAt(answer, "tool_errors", 0, "error")
})

const total = (provider: Member) =>
  Effect.map(expecting(200, { path: unasked(`${CATALOG}?provider_id=${provider.id}`) }), (answer) =>
    at(answer, "total")
  )

it.layer(ServiceUnderTest.memory(), LIVE)("tools", (it) => {
  it.effect("are created, then updated under the same id", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ handle: "named-here" })
      const first = yield* putTools(provider, { tool_name: "a" }, { tool_name: "b" })
      const { endpoint, message, ...rest } = first.json as Record<string, unknown>
      assert.isString(message)
      assert.deepInclude(endpoint, { reachable: false, tools_found: null })
      const ids = listAt(first, "tools").map((tool) => valueAt(tool, "id"))
      for (const id of ids) assert.match(String(id), UUID)
      assert.deepStrictEqual(rest, {
        registered: 2,
        errors: 0,
        tools: [
          { id: ids[0], tool_name: "a", qualified_name: "named-here/a", action: "created" },
          { id: ids[1], tool_name: "b", qualified_name: "named-here/b", action: "created" }
        ],
        tool_errors: []
      })
      const second = yield* putTools(provider, { tool_name: "b", description: "new" }, { tool_name: "c" })
      assert.deepStrictEqual(
        listAt(second, "tools").map((tool) => [valueAt(tool, "tool_name"), valueAt(tool, "action")]),
        [
          ["b", "updated"],
          ["c", "created"]
        ]
      )
      assert.strictEqual(at(second, "tools", 0, "id"), ids[1])
      assert.strictEqual(valueAt(yield* listedTool(provider, "b"), "description"), "new")
      assert.strictEqual(yield* total(provider), 3)
    })
  )

  it.effect("of the same name are separate for each provider", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* aProvider({ name: "One" }), yield* aProvider({ name: "Two" })]
      const ids = [yield* putTools(one, { tool_name: "same" }), yield* putTools(two, { tool_name: "same" })].map(
        (answer) => at(answer, "tools", 0, "id")
      )
      assert.notStrictEqual(ids[0], ids[1])
      yield* putTools(two, { tool_name: "same", description: "changed" })
      assert.strictEqual(valueAt(yield* listedTool(one, "same"), "description"), "")
    })
  )

  it.effect("are validated one by one: one invalid tool does not reject the others", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const answer = yield* put(
        provider,
        { tool_name: "good" },
        { tool_name: "twice" },
        { tool_name: "not good" },
        { tool_name: "twice", price_microcents: 1 },
        { tool_name: "bad-schema", input_schema: { type: "no type" } },
        { tool_name: "better", price_microcents: 7 },
        "nothing"
      )
      assert.strictEqual(answer.status, 201)
      assert.deepStrictEqual([at(answer, "registered"), at(answer, "errors")], [2, 5])
      assert.deepStrictEqual(namesOf(listAt(answer, "tools")), ["good", "better"])
      const errors = listAt(answer, "tool_errors").map((tool) => [
        valueAt(tool, "tool_name"),
        String(valueAt(tool, "error"))
      ])
      assert.deepStrictEqual(
        errors.map(([name]) => name),
        ["twice", "not good", "twice", "bad-schema", ""]
      )
      assert.match(String(errors[0]![1]), /more than once/u)
      assert.match(String(errors[3]![1]), /^input_schema is not a valid JSON Schema/u)
      assert.strictEqual(yield* total(provider), 2)
    })
  )

  it.effect("of which all are invalid return a 422 that names each, and nothing is stored", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const answer = yield* put(provider, { tool_name: "t" }, { tool_name: "t" }, { tool_name: "a b" })
      assert.strictEqual(answer.status, 422)
      assert.deepStrictEqual([at(answer, "registered"), at(answer, "errors"), at(answer, "tools")], [0, 3, []])
      assert.deepStrictEqual(namesOf(listAt(answer, "tool_errors")), ["t", "t", "a b"])
      assert.deepStrictEqual(faultPaths(answer), ["tools.0", "tools.1", "tools.2.tool_name"])
      assert.strictEqual(yield* total(provider), 0)
    })
  )

  it.effect("are sent one to fifty at a time", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const many = (count: number) => Array.from({ length: count }, (_, n) => ({ tool_name: `t${n}` }))
      for (const tools of [[], many(51), many(5_000), undefined, null, {}, "t", [[]]]) {
        const answer = yield* expecting(422, { path: TOOLS, key: provider.key, json: { tools } })
        assert.match(faultPaths(answer)[0]!, /^tools/u)
      }
      assert.strictEqual(at(yield* putTools(provider, ...many(50)), "registered"), 50)
    })
  )

  it.effect("are rejected by the name of the invalid field", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const amounts = ["500", 150.5, -1, 2 ** 53, 1e300, true, [1], {}]
      const wrong: Readonly<Record<string, ReadonlyArray<unknown>>> = {
        tool_name: ["", " ", "a b", "ä", "x".repeat(129), "a|b", "a\nb", "<b>", null, 1],
        display_name: ["x".repeat(201), 1],
        description: ["x".repeat(4_001), 1],
        category: ["", "Upper", "-a", "a|b", "x".repeat(51)],
        price_microcents: amounts,
        price_cents_override: [...amounts, 100_000_001],
        "pricing.price_cents": amounts,
        "pricing.free_tier_calls": amounts,
        free_tier_calls: [...amounts, 1_000_000_001],
        max_cost_microcents: amounts,
        billing_policy: ["never", "", 1],
        timeout_ms: [99, 60_001, "1000", 1.5],
        idempotent: ["true", 1],
        input_schema: [true, "object", 1, []],
        output_schema: [true, 1]
      }
      for (const [field, values] of Object.entries(wrong)) {
        for (const value of values) {
          const [outer, inner] = field.split(".") as [string, string?]
          const tool = { tool_name: "t", [outer]: inner === undefined ? value : { [inner]: value } }
          assert.include(
            yield* refusalOf(provider, tool),
            `\`${field}\` must `,
            `${field} ${String(value).slice(0, 50)}`
          )
        }
      }
      assert.strictEqual(yield* total(provider), 0)
    })
  )

  it.effect("have schemas in JSON Schema, stored as they were written", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const schema = {
        $schema: "http://json-schema.org/draft-07/schema#",
        zebra: 1,
        type: "object",
        properties: { b: { $ref: "#/definitions/x" }, a: { enum: [1, "1", null] } },
        definitions: { x: { type: ["string", "null"], maxLength: 5 } }
      }
      for (const good of [
        {},
        { type: "object" },
        schema,
        { $schema: "https://json-schema.org/draft/2020-12/schema" }
      ]) {
        yield* putTools(provider, { tool_name: "s", input_schema: good, output_schema: good })
        const kept = valueAt(yield* listedTool(provider, "s"), "input_schema")
        assert.strictEqual(JSON.stringify(kept), JSON.stringify(good))
      }
      const bad: ReadonlyArray<object> = [
        { type: "strnig" },
        { type: 5 },
        { properties: [] },
        { required: "a" },
        { minimum: "1" },
        { pattern: "(" },
        { $ref: "#/nowhere" },
        { $ref: "https://elsewhere.example/schema.json" },
        { $schema: "https://elsewhere.example/meta" },
        { enum: "a" },
        { properties: { a: { type: "nope" } } },
        { multipleOf: 0 },
        { description: "x".repeat(70_000) }
      ]
      for (const input_schema of bad) {
        const says = yield* refusalOf(provider, { tool_name: "s", input_schema })
        assert.include(says, "input_schema", JSON.stringify(input_schema).slice(0, 100))
        const output = yield* refusalOf(provider, { tool_name: "s", output_schema: input_schema })
        assert.include(output, "output_schema")
      }
      assert.include(yield* refusalOf(provider, { tool_name: "new", billing_policy: "valid_output" }), "output_schema")
      yield* putTools(provider, { tool_name: "s", billing_policy: "valid_output", output_schema: {} })
      assert.include(yield* refusalOf(provider, { tool_name: "s", output_schema: null }), "output_schema")
    })
  )

  it.effect("are at most a thousand for one provider", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      for (let from = 0; from < 1_000; from += 50) {
        yield* putTools(provider, ...Array.from({ length: 50 }, (_, n) => ({ tool_name: `t${from + n}` })))
      }
      assert.include(yield* refusalOf(provider, { tool_name: "one-more" }), "1000 tools")
      const answer = yield* put(provider, { tool_name: "t7", description: "changed" }, { tool_name: "one-more" })
      assert.deepStrictEqual([answer.status, at(answer, "registered"), at(answer, "errors")], [201, 1, 1])
      assert.strictEqual(yield* total(provider), 1_000)
    })
  )
})
