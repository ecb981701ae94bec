/**
 * What a JsonSchemas adapter must do with untrusted schemas.
 */
import assert from "node:assert/strict"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { JSON_SCHEMA_BYTES_MAX, JSON_SCHEMA_DEPTH_MAX, JsonSchemas } from "../../../domain/catalog/JsonSchemas.ts"
import type { JsonSchemaObject } from "../../../domain/catalog/Tool.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Contract, rule } from "../shared/Contract.ts"

/** Each with a budget of its own. */
const someProvider = () => ProviderId.make(randomUUID())

const rejected = Effect.fnUntraced(function* (schema: JsonSchemaObject) {
  const error = yield* Effect.flip((yield* JsonSchemas).check(schema, someProvider()))
  assert.equal(error._tag, "InvalidJsonSchema")
})

/** The places of what violates the schema. */
const faultyPaths = Effect.fnUntraced(function* (schema: JsonSchemaObject, value: unknown) {
  const schemas = yield* JsonSchemas
  const providerId = someProvider()
  yield* schemas.check(schema, providerId)
  const found = yield* schemas.violations(schema, value, { providerId, of: "input" })
  for (const { message } of found) assert.ok(message !== "")
  return found.map(({ path }) => `/${path.join("/")}`).toSorted()
})

const nested = (levels: number): JsonSchemaObject =>
  JSON.parse(`${`{"not":`.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`) as JsonSchemaObject

export const jsonSchemasContract: Contract<JsonSchemas> = [
  rule(
    "accepts schemas of draft 2020-12, and of draft-07 where declared",
    Effect.gen(function* () {
      const [one, two] = [["a"], ["a", "b"]]
      const tuple = { prefixItems: [{ type: "string" }], items: false }
      assert.deepEqual([yield* faultyPaths(tuple, one), (yield* faultyPaths(tuple, two)).length], [[], 1])
      const $schema = "http://json-schema.org/draft-07/schema#"
      const tuple07 = { $schema, items: [{ type: "string" }], additionalItems: false }
      assert.deepEqual([yield* faultyPaths(tuple07, one), (yield* faultyPaths(tuple07, two)).length], [[], 1])
      yield* rejected({ $schema: "https://example.com/mine" })
    })
  ),

  rule(
    "rejects an invalid schema",
    Effect.forEach(
      [{ type: "text" }, { properties: { a: { minimum: "1" } } }, { required: "a" }, { pattern: "(" }],
      rejected,
      { discard: true }
    )
  ),

  rule(
    "bounds the size and depth of a schema",
    Effect.gen(function* () {
      const schemas = yield* JsonSchemas
      const ofBytes = (bytes: number) => ({
        description: "x".repeat(bytes - JSON.stringify({ description: "" }).length)
      })
      yield* schemas.check(ofBytes(JSON_SCHEMA_BYTES_MAX), someProvider())
      yield* schemas.check(nested(JSON_SCHEMA_DEPTH_MAX), someProvider())
      yield* rejected(ofBytes(JSON_SCHEMA_BYTES_MAX + 1))
      yield* rejected({ description: "é".repeat(JSON_SCHEMA_BYTES_MAX / 2) })
      yield* rejected(nested(JSON_SCHEMA_DEPTH_MAX + 1))
      yield* rejected(nested(100_000))
    })
  ),

  rule(
    "follows references inside the schema, and none outside",
    Effect.gen(function* () {
      const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["v"] }
      const tree = { $defs: { node }, $ref: "#/$defs/node" }
      assert.deepEqual(yield* faultyPaths(tree, { v: 1, next: { v: 2 } }), [])
      assert.deepEqual(yield* faultyPaths(tree, { v: 1, next: {} }), ["/next/v"])
      for (const $ref of ["https://example.com/schema.json", "file:///etc/passwd", "other.json", "#/$defs/missing"]) {
        yield* rejected({ properties: { a: { $ref } } })
      }
    })
  ),

  rule(
    "names the path of every invalid field",
    Effect.gen(function* () {
      const schema = {
        type: "object",
        properties: { name: { type: "string" }, "a/b~c": { minimum: 3 }, list: { items: { type: "integer" } } },
        required: ["id"],
        additionalProperties: false
      }
      const value = { name: 5, "a/b~c": 1, list: [1, "2", 3.5], extra: null }
      assert.deepEqual(
        yield* faultyPaths(schema, value),
        ["/id", "/extra", "/name", "/a/b~c", "/list/1", "/list/2"].toSorted()
      )
    })
  ),

  rule(
    "reads a value's own properties only, and changes nothing",
    Effect.gen(function* () {
      assert.equal((yield* faultyPaths({ required: ["toString", "constructor", "__proto__"] }, {})).length, 3)
      const text = `{"__proto__":{"a":1},"b":"1"}`
      const value = JSON.parse(text) as object
      const schema = { properties: { b: { type: "number" }, c: { default: 5 } }, additionalProperties: false }
      assert.deepEqual(yield* faultyPaths(schema, value), ["/__proto__", "/b"])
      assert.equal(JSON.stringify(value), text)
    })
  ),

  rule(
    "rejects a regular expression that backtracks, and does not check by a stored one",
    Effect.gen(function* () {
      const { unchecked, violations } = yield* JsonSchemas
      // An engine that tries every way needs 2^60 steps.
      const schema = { properties: { name: { type: "string", pattern: "^(a+)+$" }, size: { type: "number" } } }
      yield* rejected(schema)
      const providerId = someProvider()
      const value = { name: `${"a".repeat(60)}!`, size: "1" }
      const found = yield* violations(schema, value, { providerId, of: "input" })
      assert.deepEqual(
        found.map(({ path }) => path),
        [["size"]]
      )
      assert.equal((yield* unchecked(schema, providerId)).length, 1)
      assert.deepEqual(yield* unchecked({ pattern: "^a+$" }, providerId), [])
    })
  )
]
