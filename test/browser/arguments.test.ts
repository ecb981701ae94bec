/**
 * Fields from a tool's input schema, and what is sent of what was written into them. No browser is needed for that.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Refused } from "../../adapters/site/kit/Api.browser.ts"
import { argumentsOf, inputNow, inputOf, placedAt } from "../../adapters/site/kit/Arguments.browser.ts"

const SCHEMA = {
  type: "object",
  properties: {
    q: { type: "string", description: "What for", maxLength: 20 },
    n: { type: "integer", default: 3, minimum: 1, maximum: 9 },
    x: { type: ["number", "null"] },
    yes: { type: "boolean" },
    one: { enum: ["a", 2, null] },
    list: { type: "array" },
    any: {},
    link: { $ref: "#/$defs/word", description: "Mine" },
    maybe: { anyOf: [{ type: "null" }, { type: "integer" }] },
    loop: { $ref: "#/properties/loop" }
  },
  required: ["q"],
  $defs: { word: { type: "string", description: "Theirs", examples: ["hello"] } }
}
const all = argumentsOf(SCHEMA)
const NAMES = Object.keys(SCHEMA.properties)
const written = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(NAMES.map((name, index) => [`a${index}`, texts[name] ?? ""]))
const faults = (values: Readonly<Record<string, string>>) => {
  try {
    return inputOf(all, values)
  } catch (error) {
    return (error as Refused).faults.map(({ message, path }) => `${path.join(".")} ${message}`)
  }
}

describe("the arguments of a tool", () => {
  it("have a field each, by what they are", () => {
    assert.deepStrictEqual(
      all.map(({ field, property }) => [property, field.type, field.optional ?? false]),
      [
        ["q", "text", false],
        ["n", "number", true],
        ["x", "number", true],
        ["yes", "select", true],
        ["one", "select", true],
        ["list", "textarea", true],
        ["any", "textarea", true],
        ["link", "text", true],
        ["maybe", "number", true],
        ["loop", "textarea", true]
      ]
    )
    assert.strictEqual(all[0]!.field.hint, "What for At most 20 characters.")
    assert.strictEqual(all[1]!.field.value, "3")
    assert.deepStrictEqual([all[7]!.field.hint, all[7]!.field.placeholder], ["Mine", "hello"])
  })

  it("are sent as what they are, and not at all where nothing was written", () => {
    const texts = { q: "7", n: "-5", x: "1.5e3", yes: "false", one: "null", list: "[1]", any: '"x"', maybe: "12" }
    assert.deepStrictEqual<unknown>(inputOf(all, written(texts)), {
      q: "7",
      n: -5,
      x: 1_500,
      yes: false,
      one: null,
      list: [1],
      any: "x",
      maybe: 12
    })
    assert.deepStrictEqual<unknown>(inputOf(all, written({ q: "a" })), { q: "a" })
  })

  it("are refused beside their field where they cannot be read", () => {
    assert.deepStrictEqual<unknown>(
      faults(written({ q: "a", n: "1.5", x: "much", list: "[", maybe: "99999999999999999999" })),
      [
        "a1 Write a whole number.",
        "a2 Write a number, such as 1.5.",
        "a5 This is not JSON.",
        "a8 Write a whole number."
      ]
    )
    const refused = placedAt(
      all,
      new Refused(422, {
        details: [
          { path: ["input", "list", 0, "x"], message: "must be shorter" },
          { path: ["input"], message: "must have q" },
          { path: ["tool_id"], message: "no such" }
        ]
      })
    )
    assert.deepStrictEqual(
      refused.faults.map(({ message, path }) => [path[0], message]),
      [
        ["a5", "0.x: must be shorter"],
        ["", "must have q"],
        ["", "no such"]
      ]
    )
  })

  it("stand in the command as far as they can be read, what is needed as a suggestion", () => {
    const values = written({ n: "x", list: "[2]" })
    assert.deepStrictEqual<unknown>(inputNow(all, values, { q: "…", n: 1 }), { q: "…", list: [2] })
  })

  it("are written in one text where the schema names none", () => {
    for (const schema of [null, {}, { type: "object" }, { properties: {} }, { properties: [] }]) {
      const [whole, ...more] = argumentsOf(schema)
      assert.lengthOf(more, 0)
      assert.deepStrictEqual<unknown>(inputOf([whole!], { all: '{"a": [1]}' }), { a: [1] })
      assert.throws(() => inputOf([whole!], { all: "[1]" }))
      assert.throws(() => inputOf([whole!], { all: "{" }))
    }
    assert.deepStrictEqual(argumentsOf({ properties: {}, additionalProperties: false }), [])
    const many = Object.fromEntries(Array.from({ length: 61 }, (_, n) => [`p${n}`, {}]))
    assert.lengthOf(argumentsOf({ properties: many }), 1)
  })

  it("of a name that objects have anyway are names like any other", () => {
    const odd = argumentsOf(
      JSON.parse(
        '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"required":["__proto__"]}'
      )
    )
    const sent = inputOf(odd, { a0: "x", a1: "1" })
    assert.strictEqual(JSON.stringify(sent), '{"__proto__":"x","constructor":1}')
    assert.strictEqual(JSON.stringify(inputNow(odd, { a0: "", a1: "" }, {})), "{}")
  })

  it.prop(
    "come out of any JSON whatever without a fault",
    { properties: Schema.Json, other: Schema.Json },
    ({ other, properties }) => {
      for (const schema of [
        { properties },
        { properties: { a: properties, b: other } },
        { properties, required: other }
      ]) {
        const found = argumentsOf(schema)
        const names = found.map(({ field }) => field.name)
        assert.lengthOf(new Set(names), names.length)
        assert.isObject(inputNow(found, {}, {}))
      }
    }
  )
})
