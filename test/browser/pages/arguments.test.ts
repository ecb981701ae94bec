/**
 * Form fields from a tool's input schema, and the input that is read from them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ApiError } from "../../../adapters/site/kit/ApiRequest.browser.ts"
import {
  argumentFields,
  previewInput,
  readInput,
  withFieldErrors
} from "../../../adapters/site/catalog/ArgumentFields.browser.ts"

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
const all = argumentFields(SCHEMA)
const NAMES = Object.keys(SCHEMA.properties)
const typed = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(NAMES.map((name, index) => [`a${index}`, texts[name] ?? ""]))
const errorsOf = (values: Readonly<Record<string, string>>) => {
  try {
    return readInput(all, values)
  } catch (error) {
    return (error as ApiError).fieldErrors.map(({ message, path }) => `${path.join(".")} ${message}`)
  }
}

describe("argument fields", () => {
  it("have a type per property", () => {
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
    assert.strictEqual(all[0]!.field.hint, "What for. At most 20 characters.")
    assert.strictEqual(all[1]!.field.value, "3")
    assert.deepStrictEqual([all[7]!.field.hint, all[7]!.field.placeholder], ["Mine", "hello"])
  })

  it("send typed values and omit empty fields", () => {
    const texts = { q: "7", n: "-5", x: "1.5e3", yes: "false", one: "null", list: "[1]", any: '"x"', maybe: "12" }
    assert.deepStrictEqual<unknown>(readInput(all, typed(texts)), {
      q: "7",
      n: -5,
      x: 1_500,
      yes: false,
      one: null,
      list: [1],
      any: "x",
      maybe: 12
    })
    assert.deepStrictEqual<unknown>(readInput(all, typed({ q: "a" })), { q: "a" })
  })

  it("report invalid values and API errors per field", () => {
    assert.deepStrictEqual<unknown>(
      errorsOf(typed({ q: "a", n: "1.5", x: "much", list: "[", maybe: "99999999999999999999" })),
      ["a1 Enter a whole number.", "a2 Enter a number, such as 1.5.", "a5 Invalid JSON.", "a8 Enter a whole number."]
    )
    const error = withFieldErrors(
      all,
      new ApiError(422, {
        details: [
          { path: ["input", "list", 0, "x"], message: "must be shorter" },
          { path: ["input"], message: "must have q" },
          { path: ["tool_id"], message: "no such" }
        ]
      })
    )
    assert.deepStrictEqual(
      error.fieldErrors.map(({ message, path }) => [path[0], message]),
      [
        ["a5", "0.x: must be shorter"],
        ["", "must have q"],
        ["", "no such"]
      ]
    )
  })

  it("preview valid values, with samples for missing required ones", () => {
    const values = typed({ n: "x", list: "[2]" })
    assert.deepStrictEqual<unknown>(previewInput(all, values, { q: "…", n: 1 }), { q: "…", list: [2] })
  })

  it("fall back to one JSON field without properties", () => {
    for (const schema of [null, {}, { type: "object" }, { properties: {} }, { properties: [] }]) {
      const [whole, ...more] = argumentFields(schema)
      assert.lengthOf(more, 0)
      assert.deepStrictEqual<unknown>(readInput([whole!], { all: '{"a": [1]}' }), { a: [1] })
      assert.throws(() => readInput([whole!], { all: "[1]" }))
      assert.throws(() => readInput([whole!], { all: "{" }))
    }
    assert.deepStrictEqual(argumentFields({ properties: {}, additionalProperties: false }), [])
    const many = Object.fromEntries(Array.from({ length: 61 }, (_, n) => [`p${n}`, {}]))
    assert.lengthOf(argumentFields({ properties: many }), 1)
  })

  it("accept property names such as __proto__", () => {
    const odd = argumentFields(
      JSON.parse(
        '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"required":["__proto__"]}'
      )
    )
    const sent = readInput(odd, { a0: "x", a1: "1" })
    assert.strictEqual(JSON.stringify(sent), '{"__proto__":"x","constructor":1}')
    assert.strictEqual(JSON.stringify(previewInput(odd, { a0: "", a1: "" }, {})), "{}")
  })

  it.prop("accept any JSON as a schema", { properties: Schema.Json, other: Schema.Json }, ({ other, properties }) => {
    for (const schema of [
      { properties },
      { properties: { a: properties, b: other } },
      { properties, required: other }
    ]) {
      const found = argumentFields(schema)
      const names = found.map(({ field }) => field.name)
      assert.lengthOf(new Set(names), names.length)
      assert.isObject(previewInput(found, {}, {}))
    }
  })
})
