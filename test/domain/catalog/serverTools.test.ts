/**
 * What is read of a server's list of tools, which is not trusted.
 */
import { assert, describe, it } from "@effect/vitest"
import { readServerTools } from "../../../domain/catalog/ImportPlan.ts"
import { tool, toolList } from "../../support/servers/FakeServers.ts"

describe("A hostile list", () => {
  it("is rejected name by name: patterns, duplicates, hidden characters, sizes, depth", () => {
    const deep = (levels: number): unknown => (levels === 0 ? {} : { a: deep(levels - 1) })
    const definitions = [
      tool("fine"),
      tool("acme tool"),
      tool("a\u202eb"),
      tool("n\0ul"),
      tool("x".repeat(129)),
      tool(""),
      tool("twice"),
      tool("twice", { description: "other" }),
      tool("array", { inputSchema: [] }),
      tool("deep", { inputSchema: deep(5_000) }),
      tool("huge", { inputSchema: { description: "x".repeat(300_000) } }),
      tool("__proto__"),
      tool("out", { outputSchema: "object" }),
      tool("../up"),
      tool("title", { title: "a\u202eb" }),
      tool("lines", { title: "a\nb" }),
      tool("hint", { annotations: { title: "a\u200bb" } }),
      tool("text", { description: "a\u{e0041}b" }),
      tool("argument", { inputSchema: { type: "object", properties: { q: { description: "a\u2066b" } } } })
    ]
    const { rejected, tools } = readServerTools(toolList(definitions).tools, 1_000)
    assert.deepStrictEqual(
      tools.map(({ toolName }) => toolName),
      ["fine", "__proto__"]
    )
    assert.lengthOf(rejected, 16)
    assert.deepInclude(rejected, {
      toolName: "title",
      reason: "its definition must not contain the control, bidirectional or zero-width character U+202E in a `title`"
    })
    assert.include(
      rejected.map(({ toolName }) => toolName),
      "a[U+202E]b"
    )
    for (const { reason, toolName } of rejected) {
      assert.isNotEmpty(reason)
      // oxlint-disable-next-line no-control-regex
      assert.notMatch(toolName, /[\u0000-\u001f\u202e]/u)
      assert.isAtMost(toolName.length, 128)
    }
  })

  it("reads at most 1,000 of 5,000 tools", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => tool(`t${n}`))
    const { rejected, tools } = readServerTools(toolList(many).tools, 1_000)
    assert.deepStrictEqual([tools.length, rejected.length], [1_000, 4_000])
  })

  it("cuts titles and descriptions to their limits, and keeps newlines, tabs and joiners of a description", () => {
    const [read] = readServerTools(
      toolList([
        tool("t", {
          title: `A title${"x".repeat(500)}`,
          description: ` 👩\u200d🚀\r\n\t${"d".repeat(3_992)}😀 tail`,
          annotations: { title: "ignored", readOnlyHint: "yes", destructiveHint: false }
        })
      ]).tools,
      10
    ).tools
    const { annotations, description, displayName } = read!.definition
    assert.isTrue(displayName.startsWith("A title"))
    assert.isTrue(description.startsWith("👩\u200d🚀\n\td"))
    assert.isAtMost(displayName.length, 200)
    assert.isAtMost(description.length, 4_000)
    assert.isTrue(description.isWellFormed())
    assert.deepStrictEqual(annotations, { destructiveHint: false })
  })
})
