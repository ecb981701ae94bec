import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { withMembers } from "../../domain/mcp/PassedResults.ts"
import { elementsOf, membersOf, rawMessage, rawResult, replacedAt } from "../../domain/shared/JsonText.ts"

const SPACES = ["", "", " ", "\n", "\r\n\t", "  "]

/** JSON in one of its many forms: with any white space, and with escapes where none are needed. */
const written = (value: unknown, pick: (many: number) => number): string => {
  const space = () => SPACES[pick(SPACES.length)]!
  const text = (it: string) =>
    pick(2) === 0
      ? JSON.stringify(it)
      : `"${Array.from({ length: it.length }, (_, n) => `\\u${it.charCodeAt(n).toString(16).padStart(4, "0")}`).join("")}"`
  const part = (it: unknown): string => {
    if (typeof it === "string") return text(it)
    if (Array.isArray(it)) return `[${space()}${it.map(part).join(`${space()},${space()}`)}${space()}]`
    if (typeof it === "object" && it !== null) {
      const members = Object.entries(it).map(([name, one]) => `${text(name)}${space()}:${space()}${part(one)}`)
      return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`
    }
    return JSON.stringify(it)
  }
  return part(value)
}

const pickerOf = (seed: number) => {
  let state = seed | 1
  return (many: number): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) ^ (state << 7)
    return (state >>> 8) % many
  }
}

describe("The text of a result", () => {
  it.prop(
    "is found for any value, in any form and context",
    { around: Schema.Json, result: Schema.Json, seed: Schema.Int },
    ({ around, result, seed }) => {
      const pick = pickerOf(seed)
      const inside = written(result, pick)
      const beside = () => written({ around, nested: { result: around } }, pick).slice(1, -1)
      const message = `{${beside()},"id":1,"result" : ${inside} , ${beside()}}`
      assert.deepStrictEqual(JSON.parse(message).result, JSON.parse(inside), "the test writes JSON")
      assert.strictEqual(rawResult(message, 0), inside)
      const other = written({ result: around }, pick)
      assert.strictEqual(rawResult(`\uFEFF [ 1,${other} , "{" ,[{}],\n${message}, ${other}]`, 1), inside)
    }
  )

  const tricky = [
    [
      "of numbers that no double holds",
      `{"result":[12345678901234567890,1.50,-0,1E400]}`,
      `[12345678901234567890,1.50,-0,1E400]`
    ],
    ["that is a bare number", `{"result":1e5}`, "1e5"],
    ["that is a bare number before space", `{"result":1e5 \n,"id":1}`, "1e5"],
    [
      "with quotes, brackets and backslashes in its strings",
      `{"result":{"a":"}]\\"\\\\"},"id":1}`,
      `{"a":"}]\\"\\\\"}`
    ],
    ["whose name is written with escapes", `{"r\\u0065sult":{"a":1}}`, `{"a":1}`],
    ["of which there are two: the last, which JSON.parse takes too", `{"result":1,"result":2}`, "2"],
    ["among names that look like it", `{"result\\u0000":0,"resul":0,"results":0,"Result":0,"result":{}}`, "{}"],
    ["that is missing", `{"id":1,"error":{"result":1}}`, undefined],
    ["of an empty message", " { } ", undefined]
  ] as const

  it.each(tricky)("%s", (_, message, result) => {
    const parsed = JSON.parse(message).result
    assert.deepStrictEqual(result === undefined ? undefined : JSON.parse(result), parsed)
    assert.strictEqual(rawResult(message, 0), result)
  })

  it("is undefined in a batch that has too few messages", () => {
    assert.isUndefined(rawResult(`[{"result":1},2]`, 1))
    assert.isUndefined(rawResult("[]", 0))
  })

  it("is found in linear time, for any text", () => {
    const hostile = [
      `"${'\\"'.repeat(1e6)}"`,
      `"${"\\\\".repeat(1e6)}"`,
      `${"[".repeat(1e6)}${"]".repeat(1e6)}`,
      " ".repeat(2e6) + "1"
    ]
    for (const value of hostile) {
      const before = process.cpuUsage()
      assert.strictEqual(rawResult(`{"result":${value}}`, 0), value.trimStart())
      const { system, user } = process.cpuUsage(before)
      assert.isBelow((system + user) / 1_000, 1_000)
    }
  })
})

describe("The parts of a text", () => {
  it.prop("are all found, in any form", { value: Schema.Json, seed: Schema.Int }, ({ seed, value }) => {
    const pick = pickerOf(seed)
    const text = ` ${written({ first: value, list: [value, value], 'with "quotes"': value }, pick)} `
    const members = membersOf(text)
    assert.deepStrictEqual(
      Object.fromEntries(members.map((member) => [member.name, JSON.parse(member.text)])),
      JSON.parse(text)
    )
    const elements = elementsOf(members[1]!.text)
    assert.deepStrictEqual(
      elements.map((element) => JSON.parse(element)),
      JSON.parse(members[1]!.text)
    )
  })

  it("are none of another value", () => {
    for (const text of ["1", "[]", '"{}"', "null"]) assert.deepStrictEqual(membersOf(text), [])
    for (const text of ["1", "{}", '"[]"', " [ ] "]) assert.deepStrictEqual(elementsOf(text), [])
  })

  it("are replaced one at a time, and everything else stays as it was", () => {
    const text = `{"params" : {"progressToken":7 , "progress":1.50}, "id":12345678901234567890}`
    assert.strictEqual(replacedAt(text, ["params", "progressToken"], `"abc"`), text.replace("7 ,", `"abc" ,`))
    for (const path of [["params", "other"], ["id", "other"], ["nothing"], []]) {
      assert.strictEqual(replacedAt(text, path, "0"), text)
    }
  })

  it("are the messages of a batch", () => {
    const batch = ` [ {"id":1.0} , 5, {"id":2} ] `
    assert.deepStrictEqual(
      [rawMessage(batch, 0), rawMessage(batch, 1), rawMessage(batch, 2)],
      [`{"id":1.0}`, `{"id":2}`, undefined]
    )
  })
})

describe("Members that are added to an object", () => {
  const Names = Schema.Literals(["a", "_meta", "x/y", "ours.z/billing"])

  it.prop(
    "replace those of the same names, in any form",
    {
      object: Schema.Record(Names, Schema.Json),
      others: Schema.Json,
      name: Names,
      value: Schema.Json,
      seed: Schema.Int
    },
    ({ name, object, others, seed, value }) => {
      const pick = pickerOf(seed)
      const text = written({ ...object, others }, pick).replaceAll("/", () => (pick(2) === 0 ? "\\/" : "/"))
      const added = JSON.stringify(value)
      const expected = { ...JSON.parse(text), [name]: JSON.parse(added) }
      const result = withMembers(text, { [name]: added })
      assert.deepStrictEqual(JSON.parse(result), expected)
      assert.strictEqual(membersOf(result).length, Object.keys(expected).length, "no name is there twice")
    }
  )

  it("leave the others as they are written", () => {
    assert.strictEqual(withMembers(`{ "n" : 1.50 , "m":[ 1E400 ] }`, { a: "1" }), `{ "n" : 1.50 , "m":[ 1E400 ],"a":1}`)
    assert.strictEqual(withMembers(`{ }`, { a: "1" }), `{"a":1}`)
  })
})
