/**
 * Results of a provider's server as they are passed on: names of this service are its own, and names and titles in lists have no
 * hidden characters. Everything else is verbatim.
 */
import { assert, it } from "@effect/vitest"
import { passedResult, plainItem, withoutOwn } from "../../../domain/mcp/PassedResults.ts"

const OWN = `"agent-tool-billing/price":{"price_microcents":0}`

it("names of this service are removed from `_meta`, in lists too, however they are written", () => {
  for (const own of [OWN, OWN.replace("agent", "\\u0061gent"), OWN.replace("/", "\\/"), OWN.toUpperCase()]) {
    for (const [method, items] of [
      ["prompts/list", "prompts"],
      ["resources/list", "resources"],
      ["resources/templates/list", "resourceTemplates"]
    ] as const) {
      const item = (meta: string) => `{"name":"a","_meta":{${meta}},"n":1.0}`
      const list = (meta: string, ofList: string) => `{"${items}":[${item(meta)}],"_meta":{${ofList}}}`
      const parsed = JSON.parse(passedResult(method, list(`"x":1.50,${own}`, own)))
      assert.deepStrictEqual(parsed, { [items]: [{ name: "a", _meta: { x: 1.5 }, n: 1 }], _meta: {} })
    }
    assert.deepStrictEqual(JSON.parse(passedResult("prompts/get", `{"messages":[],"_meta":{${own},"y":2}}`)), {
      messages: [],
      _meta: { y: 2 }
    })
    assert.strictEqual(withoutOwn(`{${own},"y":2.0}`), `{"y":2.0}`)
  }
})

it("names, titles and descriptions in lists show hidden characters as their codes", () => {
  for (const hidden of ["\u202e", "\\u202e"]) {
    const item = `{"uri":"a:b${hidden}","name":"n${hidden}","annotations":{"title":"t${hidden}"},"args":[{"description":"d${hidden}"}]}`
    const shown = JSON.parse(passedResult("resources/list", `{"resources":[${item}]}`)).resources[0]
    assert.deepStrictEqual(shown, {
      uri: "a:b\u202e",
      name: "n[U+202E]",
      annotations: { title: "t[U+202E]" },
      args: [{ description: "d[U+202E]" }]
    })
  }
})

it("a prompt whose name has them is not listed", () => {
  const prompts = `{"prompts":[{"name":"a\\u200b"},{"name":"b","title":"\\u200bB"}],"nextCursor":"c"}`
  assert.deepStrictEqual(JSON.parse(passedResult("prompts/list", prompts)), {
    prompts: [{ name: "b", title: "[U+200B]B" }],
    nextCursor: "c"
  })
})

it("anything else is verbatim, also in texts with escapes", () => {
  const odd = `{ "prompts" : [{"name":"\\u00fc","n":12345678901234567890, "m":1.50}] ,"_meta":{"x":1E400}}`
  assert.strictEqual(passedResult("prompts/get", odd), odd)
  assert.strictEqual(plainItem(`{"name": "a", "n":1.0}`), `{"name": "a", "n":1.0}`)
  assert.strictEqual(passedResult("prompts/list", odd), odd)
  assert.include(
    passedResult("prompts/list", odd.replace('"m"', '"title"').replace("1.50", '"\u202e"')),
    `"name":"\\u00fc","n":12345678901234567890,"title":`
  )
  const deep = `${'{"title":'.repeat(500)}"\u202e"${"}".repeat(500)}`
  assert.doesNotThrow(() => plainItem(deep))
})
