import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as AjvJsonSchemas from "../../../adapters/jsonschema/AjvJsonSchemas.ts"
import { ownedCache } from "../../../adapters/jsonschema/AjvJsonSchemas.ts"
import { compile, WorkSpent } from "../../../adapters/jsonschema/CompiledSchema.ts"
import { workBudget } from "../../../adapters/jsonschema/SchemaCost.ts"
import { JsonSchemas } from "../../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../../domain/catalog/Tool.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { countTurns } from "../../support/checks/EventLoop.ts"
import { asInput, someProvider } from "../../support/checks/SchemaUses.ts"

/** Calls `onRead` whenever something reads its members. */
const watched = (schema: JsonSchemaObject, onRead: () => void): JsonSchemaObject =>
  new Proxy(schema, {
    ownKeys: (target) => {
      onRead()
      return Reflect.ownKeys(target)
    }
  })

/** Slow to compile, and different for every `n`. */
const large = (n: number): JsonSchemaObject => ({
  title: `schema ${n}`,
  anyOf: Array.from({ length: 200 }, (_, i) => ({ properties: { [`a${i}`]: { type: "string", minLength: i } } }))
})

const BRANCH = { properties: { n: { $ref: "#" } } }
/** Each level of a value is checked twice as often as the one above. */
const hostile = (n: number): JsonSchemaObject => ({ title: `${n}`, required: ["v"], anyOf: [BRANCH, BRANCH] })
const BRANCHING_VALUE: unknown = JSON.parse(`${`{"v":1,"n":`.repeat(60)}{}${"}".repeat(60)}`)

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
    "rejects any invalid schema, or checks any value by it",
    { keywords: Schema.Array(Keyword).check(Schema.isMaxLength(4)), value: Schema.Json },
    ({ keywords, value }) =>
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        const schema = JSON.parse(JSON.stringify(Object.fromEntries(keywords))) as JsonSchemaObject
        const checked = yield* Effect.result(schemas.check(schema, someProvider()))
        if (checked._tag === "Failure") return assert.isAbove(checked.failure.message.length, 0)
        assert.isArray(yield* schemas.violations(schema, value, asInput()))
      }),
    { arbitrary: { runs: 500 } }
  )
})

it.layer(AjvJsonSchemas.layer)("AjvJsonSchemas on the main thread", (it) => {
  it.effect("reads a schema once that is checked before a unit of work and in it", () =>
    Effect.gen(function* () {
      const schemas = yield* JsonSchemas
      let reads = 0
      const schema = watched({ title: "checked twice", type: "string" }, () => reads++)
      const provider = someProvider()
      yield* schemas.check(schema, provider)
      assert.isAbove(reads, 0)
      reads = 0
      yield* schemas.check(schema, provider)
      assert.strictEqual(reads, 0)
    })
  )

  it.effect("compiles schemas that are first used at once each in a turn of its own", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        const turn = yield* countTurns
        const compiledIn = new Map<number, number>()
        const firstUse = (n: number) => {
          const schema = watched({ title: `first use ${n}`, type: "string" }, () => compiledIn.set(n, turn()))
          return schemas.violations(schema, "a", asInput())
        }
        yield* Effect.all(
          Array.from({ length: 20 }, (_, n) => firstUse(n)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf([...new Set(compiledIn.values())], 20)
      })
    )
  )
})

it.layer(AjvJsonSchemas.layer)("AjvJsonSchemas's budgets", (it) => {
  /** Until it is rejected for lack of time; returns the rejection. */
  const compilingUntilRefused = Effect.fnUntraced(function* (providerOf: () => ProviderId, first: number) {
    const schemas = yield* JsonSchemas
    for (let n = first; n < first + 10_000; n++) {
      const result = yield* Effect.result(schemas.check(large(n), providerOf()))
      if (result._tag === "Failure" && result.failure._tag === "SchemaBudgetSpent") return result.failure
    }
    return yield* Effect.die(new Error("It was never refused"))
  })

  it.effect(
    "end for a provider that compiles all the time, and for no other; they recover with time",
    () =>
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        const [greedy, other] = [someProvider(), someProvider()]
        const rejected = yield* compilingUntilRefused(() => greedy, 0)
        assert.strictEqual(rejected.of, "provider")
        assert.isAtLeast(rejected.retryAfterSeconds, 1)
        const small = { title: "a small one" }
        assert.strictEqual((yield* Effect.flip(schemas.check(small, greedy)))._tag, "SchemaBudgetSpent")
        assert.deepStrictEqual(yield* schemas.violations({ type: "number" }, 1, asInput(greedy)), [], "its calls go on")
        yield* schemas.check(large(0), greedy)
        yield* schemas.check(small, other)
        assert.deepStrictEqual(yield* schemas.violations({ type: "number" }, 1, asInput(other)), [])
        yield* TestClock.adjust(`${rejected.waitMs + 1_000} millis`)
        yield* schemas.check(small, greedy)
      }),
    180_000
  )

  it.effect(
    "end for all where many providers compile all the time; compiled schemas are still checked",
    () =>
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        const calm = asInput()
        const known = { type: "number" }
        yield* schemas.check(known, calm.providerId)
        const rejected = yield* compilingUntilRefused(someProvider, 20_000)
        assert.strictEqual(rejected.of, "process")
        assert.deepStrictEqual(yield* schemas.violations(known, 1, calm), [])
      }),
    180_000
  )
})

it.layer(AjvJsonSchemas.layer)("AjvJsonSchemas's budgets of checks", (it) => {
  it.effect("end for a provider whose checks are slow, on the call path too, and for no other", () =>
    Effect.gen(function* () {
      const schemas = yield* JsonSchemas
      const use = asInput()
      let rejection: string | undefined
      for (let n = 0; n < 200 && rejection === undefined; n++) {
        const result = yield* Effect.result(schemas.violations(hostile(n), BRANCHING_VALUE, use))
        if (result._tag === "Failure") rejection = result.failure.message
        else assert.match(result.success[0]!.message, /could not be checked/u)
      }
      assert.match(
        rejection!,
        /CPU budget for the schemas of this tool's provider is used up.*Retry after \d+ seconds?/u
      )
      assert.deepStrictEqual(yield* schemas.violations({ type: "string" }, "a", use), [], "what costs little goes on")
      assert.lengthOf(yield* schemas.violations(hostile(0), BRANCHING_VALUE, asInput()), 1)
    })
  )

  for (const of of ["input", "output"] as const) {
    it.effect(`of ${of}s leave time for a short check of one provider when many others use up the shared time`, () =>
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        let refusedFor: string | undefined
        for (let n = 0; n < 500 && refusedFor !== "process"; n++) {
          const use = { providerId: someProvider(), of }
          const result = yield* Effect.result(schemas.violations(hostile(n), BRANCHING_VALUE, use))
          if (result._tag === "Failure") refusedFor = result.failure.of
        }
        assert.strictEqual(refusedFor, "process")
        const honest: JsonSchemaObject = { items: { type: "number" } }
        const values = Array.from({ length: 20_000 }, (_, n) => n)
        assert.deepStrictEqual(yield* schemas.violations(honest, values, { providerId: someProvider(), of }), [])
      })
    )
  }
})

describe("a schema on the main thread", () => {
  it.each([
    ["that are not known to run in linear time", (n: number) => `^(a|a)*b${n}$`],
    ["with many Unicode properties", (n: number) => `^${"\\p{L}".repeat(10)}${n}$`],
    ["that are long", (n: number) => `^${"a".repeat(1_000)}${n}$`]
  ])("leaves a schema with many patterns %s to the worker thread", (_, pattern) => {
    const schemaOf = (patterns: number) => ({
      allOf: Array.from({ length: patterns }, (_one, n) => ({ pattern: pattern(n) }))
    })
    assert.throws(() => compile(schemaOf(50), 0, AjvJsonSchemas.MAIN_THREAD_PATTERN_WORK_MAX), WorkSpent)
    assert.isArray(compile(schemaOf(1), 0, AjvJsonSchemas.MAIN_THREAD_PATTERN_WORK_MAX).violations("a"))
  })
})

describe("WorkBudget", () => {
  it("is a burst, which a share of the elapsed time restores", () => {
    const budget = workBudget({ burstMs: 5_000, share: 0.5 })
    budget.spend(4_999)
    assert.strictEqual(budget.waitMs(1_000_000), 0)
    budget.spend(4_999)
    assert.strictEqual(budget.waitMs(1_000_000), 9_997)
    assert.isAbove(budget.waitMs(1_009_996), 0)
    assert.strictEqual(budget.waitMs(1_009_998), 0)
    assert.strictEqual(budget.waitMs(1_000_000), 0, "a clock that steps back gives nothing and takes nothing")
  })
})

describe("OwnedCache", () => {
  it("drops the least recently used entries of an owner", () => {
    const cache = ownedCache<number>(3)
    const [a] = ["a", "b", "c"].map((key, n) => cache.set("one", key, n, 1))
    cache.use(a!)
    cache.set("one", "d", 3, 1)
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((key) => cache.get("one", key)?.value),
      [0, undefined, 2, 3]
    )
    assert.strictEqual(cache.weight(), 3)
  })

  it("drops entries of the owner with the most, and releases what it drops", () => {
    const cache = ownedCache<string>(10)
    const kept = cache.set("small", "x", "x", 2)
    for (let n = 0; n < 100; n++) cache.set("large", `${n}`, "y", 3)
    assert.strictEqual(kept.value, "x")
    assert.strictEqual(cache.weight(), 8)
    const held = cache.get("large", "99")!
    cache.set("large", "100", "y", 8)
    assert.isUndefined(held.value)
    assert.deepStrictEqual([cache.get("small", "x")?.value, cache.get("large", "100")?.value], ["x", "y"])
  })

  it("keeps one that is heavier than the limit of all, until the next arrives", () => {
    const cache = ownedCache<string>(10)
    cache.set("a", "x", "x", 99)
    assert.strictEqual(cache.get("a", "x")?.value, "x")
    cache.set("b", "y", "y", 1)
    assert.deepStrictEqual([cache.get("a", "x"), cache.get("b", "y")?.value], [undefined, "y"])
  })
})
