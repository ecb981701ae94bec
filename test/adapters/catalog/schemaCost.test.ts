import { assert, describe, it } from "@effect/vitest"
import { costOfSchema, stepsOfCheck } from "../../../adapters/jsonschema/SchemaCost.ts"

const MILLION = 1_000_000

describe("SchemaCost", () => {
  const costOf = (schema: unknown) => costOfSchema(schema, (pattern) => pattern.length)
  const steps = (schema: unknown, value: unknown) => stepsOfCheck(costOf(schema), value, MILLION)

  it("rates an ordinary call by an ordinary schema as fast", () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string", minLength: 1, maxLength: 100, pattern: "^[\\p{L} -]+$" },
        days: { type: "integer", minimum: 1, maximum: 14 },
        units: { enum: ["metric", "imperial"] },
        tags: { type: "array", items: { $ref: "#/$defs/tag" } }
      },
      required: ["city"],
      $defs: { tag: { type: "string", maxLength: 20 } }
    }
    assert.isBelow(steps(schema, { city: "São Paulo", days: 3, units: "metric", tags: ["a", "b"] }), 100_000)
  })

  it("expands references, as often as they occur", () => {
    const double = { $defs: { a: { allOf: [true, true] } }, allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] }
    const once = { $defs: { a: { allOf: [true, true] } }, allOf: [{ $ref: "#/$defs/a" }] }
    assert.isAbove(costOf(double).parts, costOf(once).parts + 3)
    const escaped = { $defs: { "a/b~c %": { pattern: "(a+)+" } }, $ref: "#/$defs/a~1b~0c%20%25" }
    assert.strictEqual(costOf(escaped).patterns, 2)
  })

  it("rates as unbounded schemas that contain themselves, and references that it does not follow", () => {
    for (const schema of [
      { $ref: "#" },
      { properties: { next: { $ref: "#" } } },
      { $defs: { a: { $ref: "#/$defs/b" }, b: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" },
      { $ref: "#name" },
      { $ref: "#/nowhere" },
      { $ref: "#/%ZZ" },
      { $dynamicRef: "#x" }
    ]) {
      assert.isAbove(steps(schema, {}), MILLION)
    }
  })

  it("grows with the value, and with its square where items are compared with each other", () => {
    const items = Array.from({ length: 1_000 }, (_, n) => n)
    assert.isBelow(steps({ items: { type: "number" } }, items), 10_000)
    assert.isAbove(steps({ uniqueItems: true }, items), MILLION)
  })

  it("stops counting where it is too much already", () => {
    const endless: Array<unknown> = []
    endless.push(endless)
    assert.isAbove(steps({ type: "array" }, endless), MILLION)
  })

  it("applies patterns to the names of properties too", () => {
    const schema = { patternProperties: { "^a+$": {} } }
    assert.isAbove(steps(schema, { ["a".repeat(300_000)]: 1 }), MILLION)
    assert.isBelow(steps(schema, 5), MILLION)
  })
})
