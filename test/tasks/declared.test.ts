/**
 * What sides declare of tasks: those of the modern era are offered, those of the legacy era are not.
 */
import { assert, describe, it } from "@effect/vitest"
import { declaresTasks, isTaskMethod, withoutSessionTasks, withoutTasks } from "../../domain/upstream/Protocol.ts"

describe("Capabilities without tasks", () => {
  it.each([
    [`{}`, `{}`],
    [`{"tools":{"n":12345678901234567890}}`, `{"tools":{"n":12345678901234567890}}`],
    [`{"tools":{},"tasks":{"list":{}}}`, `{"tools":{}}`],
    [`{"\\u0074asks":{},"sampling":{}}`, `{"sampling":{}}`],
    [`{"extensions":{"io.modelcontextprotocol/tasks":{},"x":{"y":1.50}}}`, `{"extensions":{"x":{"y":1.50}}}`],
    [`{"extensions":{"io.modelcontextprotocol\\/tasks":{}}}`, `{"extensions":{}}`],
    [`{"extensions":"tasks"}`, `{"extensions":"tasks"}`]
  ])("of %s are %s", (given, expected) => {
    assert.strictEqual(withoutTasks(given), expected)
  })

  it.each([
    [`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, true],
    [`{"\\u0065xtensions":{"io.modelcontextprotocol\\/tasks":{}}}`, true],
    [`{"extensions":{"io.modelcontextprotocol/tasks":true}}`, false],
    [`{"tasks":{},"extensions":{"tasks":{}}}`, false],
    [`{"extensions":"io.modelcontextprotocol/tasks"}`, false],
    [undefined, false]
  ])("are told from others: %s", (capabilities, expected) => {
    assert.strictEqual(declaresTasks(capabilities), expected)
  })

  it("of the modern era keep the extension", () => {
    const extensions = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
    assert.strictEqual(withoutSessionTasks(`{${extensions},"tasks":{"list":{}}}`), `{${extensions}}`)
    assert.strictEqual(withoutSessionTasks(`{ ${extensions}}`), `{ ${extensions}}`)
  })

  it("are those that no method of tasks belongs to", () => {
    assert.deepStrictEqual(["tasks/get", "Tasks/get", "tasks/result", "tools/call", "tasks"].map(isTaskMethod), [
      true,
      true,
      true,
      false,
      false
    ])
  })
})
