import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as AjvJsonSchemas from "../../adapters/jsonschema/AjvJsonSchemas.ts"
import { boundedCache } from "../../adapters/jsonschema/BoundedCache.ts"
import { compileBudget } from "../../adapters/jsonschema/CompileBudget.ts"
import { JsonSchemas } from "../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../domain/catalog/Tool.ts"

/** Takes a while to compile, and is another one for every `n`. */
const large = (n: number): JsonSchemaObject => ({
  title: `schema ${n}`,
  anyOf: Array.from({ length: 200 }, (_, i) => ({ properties: { [`a${i}`]: { type: "string", minLength: i } } }))
})

const KEYWORDS = [
  "$ref",
  "$id",
  "$anchor",
  "$dynamicRef",
  "$defs",
  "type",
  "enum",
  "const",
  "pattern",
  "minLength",
  "multipleOf",
  "required",
  "properties",
  "patternProperties",
  "additionalProperties",
  "dependentSchemas",
  "items",
  "prefixItems",
  "uniqueItems",
  "contains",
  "allOf",
  "not",
  "if",
  "unevaluatedProperties",
  "nullable",
  "discriminator",
  "id",
  "__proto__"
] as const

const Keyword = Schema.Tuple([
  Schema.Literals(KEYWORDS),
  Schema.Union([
    Schema.Json,
    Schema.Literals([true, "string", "object", "#", "#/$defs/a", "^(a|b)*$", 1]),
    Schema.Record(Schema.Literals(["a", "b"]), Schema.Literals([true, false])),
    Schema.Array(Schema.Literals(["a", true]))
  ])
])

it.layer(AjvJsonSchemas.layer)("AjvJsonSchemas", (it) => {
  it.effect.prop(
    "says of whatever is sent as a schema that it is none, or checks whatever value by it",
    { keywords: Schema.Array(Keyword).check(Schema.isMaxLength(4)), value: Schema.Json },
    ({ keywords, value }) =>
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        const schema = JSON.parse(JSON.stringify(Object.fromEntries(keywords))) as JsonSchemaObject
        const checked = yield* Effect.result(schemas.check(schema))
        if (checked._tag === "Failure") return assert.isAbove(checked.failure.problem.length, 0)
        assert.isArray(yield* schemas.violations(schema, value))
      }),
    { arbitrary: { runs: 500 } }
  )
})

it.layer(AjvJsonSchemas.layer)("AjvJsonSchemas's budget", (it) => {
  it.effect(
    "ends after some seconds of compiling, and comes back with time",
    () =>
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        let problem: string | undefined
        const startedAt = performance.now()
        for (let n = 0; n < 10_000 && problem === undefined; n++) {
          const result = yield* Effect.result(schemas.check(large(n)))
          // One that a busy machine takes too long for is refused for itself, and counts like the others.
          if (result._tag === "Failure" && !result.failure.message.includes("too long"))
            problem = result.failure.message
        }
        const ms = performance.now() - startedAt
        assert.match(problem!, /too many schemas are being compiled/u)
        assert.isAbove(ms, 4_500)
        const small = { title: "a small one" }
        assert.strictEqual((yield* Effect.flip(schemas.check(small))).message, problem)
        assert.deepStrictEqual(yield* schemas.violations({ type: "number" }, 1), [], "calls go on")
        yield* TestClock.adjust("1 second")
        yield* schemas.check(small)
      }),
    180_000
  )
})

describe("CompileBudget", () => {
  it("is a burst of five seconds, which half of the time that passes gives back", () => {
    const budget = compileBudget()
    budget.spend(4_999)
    assert.isFalse(budget.isSpent(1_000_000))
    budget.spend(4_999)
    assert.isTrue(budget.isSpent(1_000_000))
    assert.isTrue(budget.isSpent(1_009_996))
    assert.isFalse(budget.isSpent(1_009_998))
    assert.isFalse(budget.isSpent(1_000_000), "a clock that steps back gives nothing and takes nothing")
  })
})

describe("BoundedCache", () => {
  const bounds = { entriesMax: 3, weightMax: 10 }

  it("drops what was not used for longest, past so many entries", () => {
    const cache = boundedCache<number>(bounds)
    for (const [n, key] of ["a", "b", "c"].entries()) cache.set(key, n, 1)
    cache.get("a")
    cache.set("d", 3, 1)
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((key) => cache.get(key)),
      [0, undefined, 2, 3]
    )
  })

  it("drops past so much weight, but keeps at least the newest", () => {
    const cache = boundedCache<string>(bounds)
    cache.set("a", "a", 6)
    cache.set("a", "a again", 4)
    cache.set("b", "b", 6)
    assert.deepStrictEqual([cache.get("a"), cache.get("b")], ["a again", "b"])
    cache.set("c", "c", 1)
    assert.deepStrictEqual([cache.get("a"), cache.get("b"), cache.get("c")], [undefined, "b", "c"])
    cache.set("d", "d", 99)
    assert.deepStrictEqual([cache.get("b"), cache.get("c"), cache.get("d")], [undefined, undefined, "d"])
  })
})
