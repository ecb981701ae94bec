import { assert, describe, it } from "@effect/vitest"
import { costOf, stepsOf } from "../../adapters/jsonschema/PatternCost.ts"
import { costOfSchema, stepsOfCheck } from "../../adapters/jsonschema/SchemaCost.ts"

const MILLION = 1_000_000

describe("PatternCost", () => {
  it("rates common patterns as fast on common texts", () => {
    for (const pattern of [
      "^[a-z0-9_-]+$",
      "^\\d{4}-\\d{2}-\\d{2}$",
      "^https?://",
      "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
      "^(\\+\\d{1,3})?\\d+$",
      "^(?:red|green|blue)$",
      "[A-Z]{3}"
    ]) {
      assert.isBelow(stepsOf(costOf(pattern), 100), MILLION, pattern)
    }
  })

  it("rates as unbounded a repeated group that can match in several ways", () => {
    for (const pattern of [
      "(a+)+",
      "(a*)*",
      "(?:a|b)+",
      "(a|a)*",
      "(a?){50}",
      "((ab)?c)*",
      "([a-z]+,)+",
      "(a{1,2}){3,}",
      "(?:x(?:y|z))*",
      "(?=(a+)+)b"
    ]) {
      assert.strictEqual(costOf(pattern).factor, Infinity, pattern)
    }
  })

  it("rates as unbounded back references, lookbehinds, and very long patterns", () => {
    for (const pattern of ["(a)\\1", "(?<n>a)\\k<n>", "(?<=a)b", "(?<!a)b", "a".repeat(1_001)]) {
      assert.strictEqual(costOf(pattern).factor, Infinity, pattern)
    }
  })

  it("counts every part of variable length, and the search for the start", () => {
    for (const [pattern, degree] of [
      ["^abc$", 0],
      ["abc", 1],
      ["^a*$", 1],
      ["a*", 2],
      ["^a*b*c{2,}d{1,9}$", 4],
      ["^(?:ab)*$", 1],
      ["^a?$", 0]
    ] as const) {
      assert.strictEqual(costOf(pattern).degree, degree, pattern)
    }
  })

  it("reads classes and escapes correctly", () => {
    for (const pattern of ["^[(+*)|{2}]$", "^\\(\\+\\)\\*$", "^[\\]()+*]$", "^\\[\\(a\\+\\)\\]$"]) {
      assert.strictEqual(costOf(pattern).degree, 0, pattern)
    }
  })

  it("counts fixed repetitions as if they were written out", () => {
    assert.isAtLeast(costOf("^a{500}$").factor, 500)
    assert.isAtLeast(costOf("^((a{10}){10}){10}$").factor, 1_000)
  })
})

describe("SchemaCost", () => {
  const steps = (schema: unknown, value: unknown) => stepsOfCheck(costOfSchema(schema), value, MILLION)

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
    assert.isAbove(costOfSchema(double).parts, costOfSchema(once).parts + 3)
    const escaped = { $defs: { "a/b~c %": { pattern: "(a+)+" } }, $ref: "#/$defs/a~1b~0c%20%25" }
    assert.strictEqual(costOfSchema(escaped).patterns, 2)
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
    const schema = { patternProperties: { "(a+)+": {} } }
    assert.isAbove(steps(schema, { aaaa: 1 }), MILLION)
    assert.isBelow(steps(schema, 5), MILLION)
  })
})
