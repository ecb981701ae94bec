/**
 * What is read of a server's list of tools, which is not trusted.
 */
import { assert, describe, it } from "@effect/vitest"
import { readServerTools } from "../../domain/catalog/ServerTool.ts"
import { tool, toolList } from "../support/FakeServers.ts"

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
      tool("out", { outputSchema: "object" })
    ]
    const { rejected, tools } = readServerTools(toolList(definitions).tools, 1_000)
    assert.deepStrictEqual(
      tools.map(({ toolName }) => toolName),
      ["fine", "__proto__"]
    )
    assert.lengthOf(rejected, 10)
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

  it("shows titles and descriptions without hidden characters, cut to their limits", () => {
    const [read] = readServerTools(
      toolList([
        tool("t", {
          title: `A\u202e\u200btitle\nof \u{e0041}two lines${"x".repeat(500)}`,
          description: `${"d".repeat(3_999)}😀 tail \ud800`,
          annotations: { title: "ignored", readOnlyHint: "yes", destructiveHint: false }
        })
      ]).tools,
      10
    ).tools
    const { annotations, description, displayName } = read!.definition
    assert.isTrue(displayName.startsWith("Atitle of two lines"))
    assert.isAtMost(displayName.length, 200)
    assert.isAtMost(description.length, 4_000)
    assert.isTrue(description.isWellFormed())
    assert.deepStrictEqual(annotations, { destructiveHint: false })
  })
})
