import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as AjvJsonSchemas from "../../../adapters/jsonschema/AjvJsonSchemas.ts"
import {
  JSON_SCHEMA_BYTES_MAX,
  JSON_SCHEMA_DEPTH_MAX,
  JSON_SCHEMA_PARTS_MAX,
  JsonSchemas
} from "../../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../../domain/catalog/Tool.ts"
import { jsonSchemasContract } from "../../../testing/contracts/catalog/JsonSchemasContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { asInput, someProvider } from "../../support/checks/SchemaUses.ts"

contractOver("JsonSchemas over Ajv", jsonSchemasContract, AjvJsonSchemas.layer)

const problemOf = Effect.fnUntraced(function* (schema: JsonSchemaObject) {
  return (yield* Effect.flip((yield* JsonSchemas).check(schema, someProvider()))).message
})

const faults = Effect.fnUntraced(function* (schema: JsonSchemaObject, value: unknown) {
  const schemas = yield* JsonSchemas
  yield* schemas.check(schema, someProvider())
  return (yield* schemas.violations(schema, value, asInput())).map(
    ({ message, path }) => `/${path.join("/")}: ${message}`
  )
})

/** Processor time: wall-clock time counts other processes too. */
const workedMs = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const before = process.threadCpuUsage()
  yield* effect
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1_000
})

const nested = (levels: number): JsonSchemaObject =>
  JSON.parse(`${`{"not":`.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`) as JsonSchemaObject

it.layer(AjvJsonSchemas.layer)("AjvJsonSchemas", (it) => {
  it.effect("accepts schemas of draft 2020-12, declared or not, and of draft-07 where declared", () =>
    Effect.gen(function* () {
      const tuple2020 = { prefixItems: [{ type: "string" }], items: false }
      const tuple07 = { items: [{ type: "string" }], additionalItems: false }
      for (const $schema of [
        undefined,
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft/2020-12/schema#"
      ]) {
        const schema = $schema === undefined ? tuple2020 : { $schema, ...tuple2020 }
        assert.lengthOf(yield* faults(schema, ["a"]), 0)
        assert.lengthOf(yield* faults(schema, ["a", "b"]), 1)
      }
      for (const $schema of ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"]) {
        assert.lengthOf(yield* faults({ $schema, ...tuple07 }, ["a"]), 0)
        assert.lengthOf(yield* faults({ $schema, ...tuple07 }, ["a", "b"]), 1)
      }
    })
  )

  it.effect("rejects other drafts and names the accepted ones", () =>
    Effect.gen(function* () {
      for (const $schema of ["http://json-schema.org/draft-04/schema#", "https://example.com/mine", "", 7, null]) {
        assert.match(yield* problemOf({ $schema }), /\$schema is neither draft 2020-12 nor draft-07/u)
      }
    })
  )

  it.effect("rejects an invalid schema, and names the place", () =>
    Effect.gen(function* () {
      assert.match(yield* problemOf({ type: "text" }), /schema\/type/u)
      assert.match(yield* problemOf({ properties: { a: { minimum: "1" } } }), /schema\/properties\/a\/minimum/u)
      assert.match(yield* problemOf({ required: "a" }), /schema\/required/u)
      assert.match(yield* problemOf({ $schema: "http://json-schema.org/draft-07/schema#", items: 5 }), /schema\/items/u)
      assert.match(yield* problemOf({ pattern: "(" }), /pattern|regular expression/iu)
      assert.match(yield* problemOf({ $async: true }), /\$async/u)
    })
  )

  it.effect("treats unknown keywords and formats as annotations", () =>
    Effect.gen(function* () {
      const schema = { type: "string", format: "email", "x-unit": "cm", example: 5, deprecated: true }
      assert.deepStrictEqual(yield* faults(schema, "not an email address"), [])
    })
  )

  it.effect("bounds size and depth, also of a hundred thousand nested levels", () =>
    Effect.gen(function* () {
      const schemas = yield* JsonSchemas
      const ofBytes = (bytes: number) => ({
        description: "x".repeat(bytes - JSON.stringify({ description: "" }).length)
      })
      yield* schemas.check(ofBytes(JSON_SCHEMA_BYTES_MAX), someProvider())
      assert.match(yield* problemOf(ofBytes(JSON_SCHEMA_BYTES_MAX + 1)), /65537 bytes/u)
      assert.match(yield* problemOf({ description: "é".repeat(JSON_SCHEMA_BYTES_MAX / 2) }), /bytes/u)
      yield* schemas.check(nested(JSON_SCHEMA_DEPTH_MAX), someProvider())
      assert.match(yield* problemOf(nested(JSON_SCHEMA_DEPTH_MAX + 1)), /more than 64 levels/u)
      assert.match(yield* problemOf(nested(100_000)), /more than 64 levels/u)
    })
  )

  it.effect("follows references inside the schema, and none outside", () =>
    Effect.gen(function* () {
      const tree = {
        $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["v"] } },
        $ref: "#/$defs/node"
      }
      assert.deepStrictEqual(yield* faults(tree, { v: 1, next: { v: 2 } }), [])
      assert.deepStrictEqual(yield* faults(tree, { v: 1, next: {} }), ["/next/v: must have required property 'v'"])
      const named = { $id: "https://example.com/a", $defs: { b: { $anchor: "here", type: "number" } }, $ref: "#here" }
      assert.lengthOf(yield* faults(named, "x"), 1)
      for (const $ref of [
        "https://example.com/schema.json",
        "http://127.0.0.1:1/",
        "file:///etc/passwd",
        "other.json",
        "#/$defs/missing",
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#"
      ]) {
        assert.match(yield* problemOf({ properties: { a: { $ref } } }), /not inside the schema/u)
      }
    })
  )

  it.effect("lets no schema refer to another provider's", () =>
    Effect.gen(function* () {
      const schemas = yield* JsonSchemas
      const $id = "https://example.com/shared"
      yield* schemas.check(
        { $id, $defs: { inner: { $id: "https://example.com/inner", type: "string" } } },
        someProvider()
      )
      yield* schemas.check({ $id, type: "number" }, someProvider())
      for (const $ref of [$id, "https://example.com/inner"]) {
        assert.match(yield* problemOf({ properties: { a: { $ref } } }), /not inside the schema/u)
      }
    })
  )

  it.effect("names every invalid field with its path", () =>
    Effect.gen(function* () {
      const schema = {
        type: "object",
        properties: { name: { type: "string" }, "a/b~c": { minimum: 3 }, list: { items: { type: "integer" } } },
        required: ["id"],
        additionalProperties: false
      }
      const value = { name: 5, "a/b~c": 1, list: [1, "2", 3.5], extra: null }
      assert.sameMembers(yield* faults(schema, value), [
        "/id: must have required property 'id'",
        "/extra: must NOT have additional properties",
        "/name: must be string",
        "/a/b~c: must be >= 3",
        "/list/1: must be integer",
        "/list/2: must be integer"
      ])
    })
  )

  it.effect("returns at most a hundred faults", () =>
    Effect.gen(function* () {
      assert.lengthOf(
        yield* faults(
          { items: { type: "string" } },
          Array.from({ length: 10_000 }, () => 1)
        ),
        100
      )
    })
  )

  it.effect("reads a value's own properties only, and changes nothing", () =>
    Effect.gen(function* () {
      assert.lengthOf(yield* faults({ required: ["toString", "constructor", "__proto__"] }, {}), 3)
      const value = JSON.parse(`{"__proto__":{"a":1},"b":"1"}`) as object
      const schema = { properties: { b: { type: "number" }, c: { default: 5 } }, additionalProperties: false }
      assert.deepStrictEqual(yield* faults(schema, value), [
        "/__proto__: must NOT have additional properties",
        "/b: must be number"
      ])
      assert.strictEqual(JSON.stringify(value), `{"__proto__":{"a":1},"b":"1"}`)
      assert.isUndefined(({} as Record<string, unknown>)["a"])
    })
  )

  it.effect("names a pattern that backtracks, and what to change", () =>
    Effect.gen(function* () {
      const problem = yield* problemOf({ properties: { name: { type: "string", pattern: "^(a+)+$" } } })
      assert.match(problem, /the pattern "\^\(a\+\)\+\$" .*linear time.*let each repeated part end/u)
      assert.match(yield* problemOf({ patternProperties: { "a*a*b": {} } }), /the pattern "a\*a\*b".*Start it with \^/u)
    })
  )

  it.effect("checks all of a stored schema but its patterns that backtrack, and says why", () =>
    Effect.gen(function* () {
      const { unchecked, violations } = yield* JsonSchemas
      const hostile = { type: "string", pattern: "^(a+)+$" }
      const text = `${"a".repeat(50_000)}!`
      const providerId = someProvider()
      const paths = Effect.fnUntraced(function* (schema: JsonSchemaObject, value: unknown) {
        return (yield* violations(schema, value, asInput(providerId))).map(({ path }) => path.join("/"))
      })
      const schema = { properties: { a: hostile, b: { type: "string", pattern: "^b+$" } }, required: ["c"] }
      assert.sameMembers(yield* paths(schema, { a: text, b: text }), ["c", "b"])
      assert.lengthOf(yield* unchecked(schema, providerId), 1)
      // A pattern that matches everything would turn these around.
      for (const reversed of [
        { properties: { a: { not: hostile } } },
        { properties: { a: { oneOf: [hostile, { type: "string" }] } } },
        { if: { properties: { a: hostile } }, else: false },
        { patternProperties: { "^(a+)+$": true }, additionalProperties: false }
      ]) {
        assert.deepStrictEqual(yield* paths(reversed, { a: text }), [], JSON.stringify(reversed))
        assert.match((yield* unchecked(reversed, providerId)).join(), /nothing is checked/u)
      }
      const large = { ...schema, enum: Array.from({ length: 1_000 }, (_, n) => n) }
      assert.lengthOf(yield* unchecked(large, providerId), 1, "also by the worker thread")
    })
  )

  it.effect(
    "is not blocked by schemas that grow when references are expanded, or compare everything with everything",
    () =>
      Effect.gen(function* () {
        const schemas = yield* JsonSchemas
        const levels = 40
        const doubling = Object.fromEntries(
          Array.from({ length: levels }, (_, n) => {
            const $ref = `#/$defs/l${n + 1}`
            return [`l${n}`, { allOf: [{ $ref }, { $ref }] }]
          })
        )
        const branching = {
          anyOf: [{ properties: { n: { $ref: "#" } } }, { properties: { n: { $ref: "#" } } }],
          not: {}
        }
        let deep: unknown = {}
        for (let n = 0; n < 60; n++) deep = { n: deep }
        const manyItems = Array.from({ length: 30_000 }, (_, n) => ({ n }))
        for (const [schema, value] of [
          [{ $defs: { ...doubling, [`l${levels}`]: { type: "number" } }, $ref: "#/$defs/l0" }, 5],
          [branching, deep],
          [{ uniqueItems: true }, manyItems],
          [{ items: { enum: Array.from({ length: 1_000 }, (_, n) => ({ n: `${n}` })) } }, manyItems]
        ] as const) {
          yield* schemas.check(schema, someProvider())
          assert.isBelow(yield* workedMs(schemas.violations(schema, value, asInput())), 1_500)
        }
      })
  )

  it.effect("does not try a check for long whose schema ran out of time repeatedly, until a minute has passed", () =>
    Effect.gen(function* () {
      const schemas = yield* JsonSchemas
      const use = asInput()
      const branch = { properties: { n: { $ref: "#" } } }
      const schema = { type: "object", required: ["v"], anyOf: [branch, branch] }
      let costly: object = {}
      for (let n = 0; n < 60; n++) costly = { v: n, n: costly }
      const check = Effect.gen(function* () {
        // The provider's budget recovers.
        yield* TestClock.adjust("5 seconds")
        const before = process.cpuUsage()
        assert.match((yield* schemas.violations(schema, costly, use))[0]!.message, /within 100 ms/u)
        const { system, user } = process.cpuUsage(before)
        return (system + user) / 1_000
      })
      for (let n = 0; n < 3; n++) assert.isAbove(yield* check, 50)
      // Other work of the process at that moment does not count: the least of three measurements.
      assert.isBelow(Math.min(...(yield* Effect.replicateEffect(check, 3))), 50)
      assert.deepStrictEqual(yield* schemas.violations(schema, { v: 1, n: { v: 2 } }, use), [])
      yield* TestClock.adjust("1 minute")
      assert.isAbove(yield* check, 50)
    })
  )

  it.effect("accepts values nested deeper than the stack", () =>
    Effect.gen(function* () {
      const value: unknown = JSON.parse(`${`{"n":`.repeat(100_000)}1${"}".repeat(100_000)}`)
      const found = yield* faults({ properties: { n: { $ref: "#" } } }, value)
      assert.lengthOf(found, 1)
    })
  )

  it.effect("rejects a schema with infinite references to itself", () =>
    Effect.gen(function* () {
      const schemas = yield* JsonSchemas
      const schema = { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }
      const outcome = yield* Effect.result(
        Effect.andThen(schemas.check(schema, someProvider()), schemas.violations(schema, 1, asInput()))
      )
      assert.isTrue(outcome._tag === "Failure" || outcome.success.length > 0)
    })
  )

  it.effect("bounds the parts of a schema", () =>
    Effect.gen(function* () {
      const ofParts = (parts: number) => ({ enum: Array.from({ length: parts - 2 }, (_, n) => n) })
      yield* (yield* JsonSchemas).check(ofParts(JSON_SCHEMA_PARTS_MAX), someProvider())
      assert.match(yield* problemOf(ofParts(JSON_SCHEMA_PARTS_MAX + 1)), /more than 4000 parts/u)
    })
  )
})
