/**
 * What an import changes: the plan alone, and rules that hold for every server.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Schema } from "effect"
import { definitionOf, type ToolDefinition } from "../../../domain/catalog/CatalogStore.ts"
import {
  type ImportPlan,
  type ImportRequest,
  type MarketTool,
  planImport,
  readServerTools
} from "../../../domain/catalog/ImportPlan.ts"
import { applyChange, type ToolDeclaration } from "../../../domain/catalog/Tool.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { aDeclaration, instant } from "../../contracts/samples.ts"
import { type Definition, tool, toolList } from "../../support/servers/FakeServers.ts"

const NOW = instant("2026-11-20T12:00:00.000Z")
const GRACE = Duration.hours(24)
const price = Microcents.make

const planOf = (
  definitions: ReadonlyArray<Definition>,
  market: ReadonlyArray<MarketTool> = [],
  more: Partial<ImportRequest> = {}
): ImportPlan => {
  const read = readServerTools(toolList(definitions).tools, 1_000)
  return planImport({
    listed: read.tools,
    rejected: read.rejected,
    truncated: false,
    market,
    dismissed: new Map(),
    overrides: new Map(),
    defaultPrice: price(500n),
    listNew: false,
    byProvider: false,
    now: NOW,
    grace: GRACE,
    ...more
  })
}

/** A tool as an import of this definition left it, and what was changed since. */
const imported = (
  definition: Definition,
  changes: Partial<ToolDeclaration> = {},
  more: Partial<MarketTool> = {}
): MarketTool => {
  const [read] = readServerTools(toolList([definition]).tools, 1).tools
  return {
    declaration: aDeclaration({ toolName: read!.toolName, price: price(700n), ...read!.definition, ...changes }),
    state: "listed",
    withdrawnByServer: false,
    billedByOutput: false,
    imported: read!.definition,
    missingSince: undefined,
    ...more
  }
}

const hoursAgo = (hours: number) => DateTime.subtract(NOW, { hours })

describe("An import plan", () => {
  it("stores new tools as drafts at the default price, or lists them by choice", () => {
    const definition = tool("search", {
      title: "Paper search",
      annotations: { idempotentHint: true, readOnlyHint: true }
    })
    const [create] = planOf([definition]).creates
    assert.isTrue(create!.draft)
    assert.deepInclude(create!.change, {
      toolName: "search",
      displayName: "Paper search",
      description: "Does search",
      price: price(500n),
      idempotent: true
    })
    assert.deepStrictEqual(create!.change.annotations, { readOnlyHint: true, idempotentHint: true })
    assert.isFalse(planOf([definition], [], { listNew: true }).creates[0]!.draft)
  })

  it("follows the server in fields that were not changed by hand, and keeps the others", () => {
    const before = tool("search", { title: "Search" })
    const after = tool("search", { title: "Better search", description: "New words", outputSchema: { type: "object" } })
    const known = imported(before, { description: "Words of the provider", category: "papers" })
    const { changes } = planOf([after], [known])
    assert.lengthOf(changes, 1)
    assert.deepStrictEqual(changes[0]!.fields.toSorted(), ["displayName", "outputSchema"])
    assert.strictEqual(changes[0]!.terms, "kept")
    const declaration = applyChange(known.declaration, changes[0]!.change)
    assert.deepInclude(declaration, {
      displayName: "Better search",
      description: "Words of the provider",
      category: "papers",
      price: price(700n)
    })
    const next = { ...known, declaration, imported: changes[0]!.imported }
    assert.lengthOf(planOf([after], [next]).changes, 0, "a second sync changes nothing")
  })

  it("fills fields of a hand-made tool that are still at their defaults", () => {
    const known: MarketTool = {
      ...imported(tool("search")),
      declaration: aDeclaration({ toolName: "search", displayName: "search", description: "By hand" }),
      imported: undefined
    }
    const [change] = planOf([tool("search", { title: "Search" })], [known]).changes
    assert.deepStrictEqual(change!.fields.toSorted(), ["displayName", "inputSchema"])
  })

  it("withdraws a tool that the server no longer lists only after the grace period", () => {
    const search = tool("search")
    const market = [imported(search), imported(tool("other"))]
    const first = planOf([tool("other")], market)
    assert.deepStrictEqual(first.withdrawals, [])
    assert.deepStrictEqual(
      first.missing.map(({ since, toolName }) => [toolName, since]),
      [["search", NOW]]
    )
    const waiting = planOf([tool("other")], [imported(search, {}, { missingSince: hoursAgo(23) })])
    assert.lengthOf(waiting.missing, 1)
    const over = planOf([tool("other")], [imported(search, {}, { missingSince: hoursAgo(24) })])
    assert.deepStrictEqual([over.missing, over.withdrawals], [[], ["search"]])
    const draft = imported(search, {}, { missingSince: hoursAgo(24), state: "draft" })
    assert.deepStrictEqual(planOf([], [draft]).removedDrafts, ["search"])
  })

  it("withdraws nothing at once for an empty list, nothing for a shortened one, and never a tool it has not imported", () => {
    const search = imported(tool("search"))
    assert.deepStrictEqual(planOf([], [search]).withdrawals, [])
    const late = imported(tool("search"), {}, { missingSince: hoursAgo(1_000) })
    assert.deepStrictEqual(planOf([tool("x")], [late], { truncated: true }).withdrawals, [])
    const byHand = { ...late, imported: undefined }
    const plan = planOf([tool("x")], [byHand])
    assert.deepStrictEqual([plan.withdrawals, plan.missing], [[], []])
  })

  it("lists a tool again that the sync withdrew, and leaves alone what the provider withdrew", () => {
    const bySync = imported(tool("search"), {}, { state: "withdrawn", withdrawnByServer: true })
    assert.deepStrictEqual(
      planOf([tool("search")], [bySync]).restored.map(({ toolName }) => toolName),
      ["search"]
    )
    const byProvider = { ...bySync, withdrawnByServer: false }
    const plan = planOf([tool("search", { description: "Come back" })], [byProvider], {
      byProvider: true,
      listNew: true
    })
    assert.deepStrictEqual([plan.restored, plan.changes, plan.creates], [[], [], []])
  })

  it("leaves the output schema to the provider where it decides what is billed", () => {
    const before = tool("search", { outputSchema: { type: "object", required: ["answer"] } })
    const known = imported(before, { billingPolicy: "valid_output" }, { billedByOutput: true })
    const loose = tool("search", { outputSchema: {}, description: "Changed" })
    const synced = planOf([loose], [known])
    assert.deepStrictEqual(
      synced.held.map(({ toolName }) => toolName),
      ["search"]
    )
    assert.deepStrictEqual(synced.changes[0]!.fields, ["description"])
    assert.deepStrictEqual(synced.changes[0]!.imported.outputSchema, known.imported!.outputSchema)
    const byProvider = planOf([loose], [known], { byProvider: true })
    assert.deepStrictEqual(byProvider.held, [])
    assert.deepStrictEqual(byProvider.changes[0]!.fields.toSorted(), ["description", "outputSchema"])
  })

  it("prices drafts anew when the provider imports, and lists them by choice", () => {
    const draft = imported(tool("search"), {}, { state: "draft" })
    assert.deepStrictEqual(planOf([tool("search")], [draft]).changes, [])
    const priced = planOf([tool("search")], [draft], { byProvider: true }).changes
    assert.deepStrictEqual(
      priced.map(({ fields, state, terms }) => [fields, state, terms]),
      [[["price"], "draft", "declared"]]
    )
    const listed = planOf([tool("search")], [draft], { byProvider: true, listNew: true }).changes
    assert.strictEqual(listed[0]!.state, "listed")
    assert.deepStrictEqual(planOf([tool("search")], [draft], { listNew: true }).changes, [], "a sync lists no draft")
  })

  it("takes overrides before what the server lists, and rejects one of a tool that it does not list", () => {
    const overrides = new Map([
      ["search", { toolName: "search", price: price(9_000n), description: "Mine" }],
      ["nowhere", { toolName: "nowhere", price: price(1n) }]
    ])
    const plan = planOf([tool("search")], [], { overrides, byProvider: true })
    assert.deepInclude(plan.creates[0]!.change, { price: price(9_000n), description: "Mine" })
    assert.deepStrictEqual(
      plan.rejected.map(({ toolName }) => toolName),
      ["nowhere"]
    )
  })
})

/** Small alphabets, so that lists and markets overlap. */
const Name = Schema.Literals(["a", "b", "c", "d", "bad name", "e"])
const Words = Schema.Literals(["", "one", "two"])
const Listed = Schema.Array(Schema.Struct({ name: Name, description: Words, title: Words, required: Words })).check(
  Schema.isMaxLength(8)
)
const Known = Schema.Array(
  Schema.Struct({
    name: Name,
    before: Words,
    now: Words,
    state: Schema.Literals(["listed", "draft", "withdrawn"]),
    flags: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThan(16)),
    missingHours: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThan(60))
  })
).check(Schema.isMaxLength(6))

const marketOf = (known: typeof Known.Type): ReadonlyArray<MarketTool> => [
  ...new Map(
    known
      .filter(({ name }) => name !== "bad name")
      .map(({ before, flags, missingHours, name, now, state }) => {
        const definition: ToolDefinition = {
          ...definitionOf(aDeclaration({ toolName: name, displayName: name })),
          description: before
        }
        const made: MarketTool = {
          declaration: aDeclaration({ ...definition, toolName: name, description: now, price: price(77n) }),
          state,
          withdrawnByServer: (flags & 1) > 0,
          billedByOutput: (flags & 2) > 0,
          imported: (flags & 4) > 0 ? definition : undefined,
          missingSince: (flags & 8) > 0 ? hoursAgo(missingHours) : undefined
        }
        return [name, made] as const
      })
  ).values()
]

const definitionsOf = (listed: typeof Listed.Type) =>
  listed.map(({ description, name, required, title }) =>
    tool(name, { description, title, inputSchema: { type: "object", required: [required] } })
  )

const applied = (market: ReadonlyArray<MarketTool>, plan: ImportPlan): ReadonlyArray<MarketTool> => {
  const tools = new Map(market.map((one) => [one.declaration.toolName, one]))
  for (const { change, draft, imported: definition, toolName } of plan.creates) {
    tools.set(toolName, {
      declaration: applyChange(undefined, change),
      state: draft ? "draft" : "listed",
      withdrawnByServer: false,
      billedByOutput: false,
      imported: definition,
      missingSince: undefined
    })
  }
  for (const { change, imported: definition, toolName } of [...plan.changes, ...plan.restored]) {
    const known = tools.get(toolName)!
    tools.set(toolName, {
      ...known,
      declaration: applyChange(known.declaration, change),
      state: known.state === "withdrawn" ? "listed" : known.state,
      imported: definition,
      missingSince: undefined
    })
  }
  for (const { imported: definition, toolName } of plan.unchanged) {
    tools.set(toolName, { ...tools.get(toolName)!, imported: definition, missingSince: undefined })
  }
  return [...tools.values()]
}

describe("Every sync", () => {
  it.prop(
    "changes no price, and touches no tool that the provider withdrew",
    { listed: Listed, known: Known },
    ({ known, listed }) => {
      const market = marketOf(known)
      const plan = planOf(definitionsOf(listed), market, { listNew: true })
      const byName = new Map(market.map((one) => [one.declaration.toolName, one]))
      for (const { change, terms, toolName } of plan.changes) {
        assert.strictEqual(terms, "kept")
        const before = byName.get(toolName)!.declaration
        const after = applyChange(before, change)
        for (const field of ["price", "maxCost", "freeTierCalls", "billingPolicy", "onCancel", "timeoutMs"] as const) {
          assert.strictEqual(after[field], before[field])
        }
        assert.notStrictEqual(byName.get(toolName)!.state, "withdrawn")
      }
      for (const { toolName } of plan.restored) assert.isTrue(byName.get(toolName)!.withdrawnByServer)
      for (const { change } of plan.creates) assert.strictEqual(change.price, 500n)
    }
  )

  it.prop(
    "keeps what was changed by hand, and a repetition changes nothing",
    { listed: Listed, known: Known },
    ({ known, listed }) => {
      const market = marketOf(known)
      const definitions = definitionsOf(listed)
      const plan = planOf(definitions, market)
      const byName = new Map(market.map((one) => [one.declaration.toolName, one]))
      for (const { change, toolName } of plan.changes) {
        const before = byName.get(toolName)!
        if (before.imported !== undefined && before.imported.description !== before.declaration.description) {
          assert.strictEqual(applyChange(before.declaration, change).description, before.declaration.description)
        }
      }
      const again = planOf(definitions, applied(market, plan))
      assert.deepStrictEqual([again.creates, again.changes, again.restored], [[], [], []])
    }
  )

  it.prop(
    "places every tool exactly once, and withdraws none that is listed",
    { listed: Listed, known: Known },
    ({ known, listed }) => {
      const market = marketOf(known)
      const plan = planOf(definitionsOf(listed), market)
      const placed = [
        ...[plan.creates, plan.changes, plan.restored, plan.unchanged, plan.missing].flatMap((part) =>
          (part as ReadonlyArray<{ readonly toolName: string }>).map(({ toolName }) => toolName)
        ),
        ...plan.withdrawals,
        ...plan.removedDrafts
      ]
      assert.strictEqual(new Set(placed).size, placed.length)
      const named = new Set(listed.map(({ name }) => name as string))
      for (const name of [...plan.withdrawals, ...plan.removedDrafts]) assert.isFalse(named.has(name))
    }
  )
})
