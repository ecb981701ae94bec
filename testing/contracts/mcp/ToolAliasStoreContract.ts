/**
 * What a ToolAliasStore must do, with the tools that have the aliases.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import type { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { ToolAliasStore } from "../../../domain/mcp/ToolAliases.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { uuid } from "../shared/LedgerSamples.ts"
import { aTool, upserted } from "../shared/ToolSamples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")
const RACERS = 20

const aStoredTool = Effect.gen(function* () {
  const provider = yield* aProvider()
  const tool = yield* aTool(provider)
  yield* upserted(tool)
  return { provider, toolId: tool.id }
})

const anAlias = Effect.map(uuid, (id) => `alias_${id.replaceAll("-", "").slice(-20)}`)

export const toolAliasStoreContract: Contract<AccountStore | CatalogStore | ToolAliasStore> = [
  rule(
    "gives an alias to one tool, and a tool one alias",
    Effect.gen(function* () {
      const store = yield* ToolAliasStore
      const [first, second] = [yield* aStoredTool, yield* aStoredTool]
      const [alias, another] = [yield* anAlias, yield* anAlias]
      assert.deepEqual(yield* store.toolOf(alias), Option.none())
      assert.equal(yield* store.claim(alias, first.toolId, AT), true)
      assert.equal(yield* store.claim(alias, second.toolId, AT), false)
      assert.equal(yield* store.claim(another, first.toolId, AT), false)
      assert.deepEqual(yield* store.toolOf(alias), Option.some(first.toolId))
      assert.deepEqual(yield* store.toolOf(another), Option.none())
      assert.deepEqual(yield* store.toolOf(alias.toUpperCase()), Option.none())
      assert.deepEqual(yield* store.ofTools([first.toolId, second.toolId]), new Map([[first.toolId, alias]]))
      assert.deepEqual(yield* store.ofTools([]), new Map())
    })
  ),

  rule(
    "gives an alias to one of concurrent tools",
    Effect.gen(function* () {
      const store = yield* ToolAliasStore
      const alias = yield* anAlias
      const tools = yield* Effect.all(Array.from({ length: RACERS }, () => aStoredTool))
      const claimed = yield* Effect.forEach(tools, ({ toolId }) => store.claim(alias, toolId, AT), {
        concurrency: "unbounded"
      })
      const winner = tools[claimed.indexOf(true)]!.toolId
      assert.equal(claimed.filter((won) => won).length, 1)
      assert.deepEqual(yield* store.toolOf(alias), Option.some(winner))
    })
  ),

  rule(
    "gives the aliases of an erased provider to no other tool",
    Effect.gen(function* () {
      const store = yield* ToolAliasStore
      const [erased, other] = [yield* aStoredTool, yield* aStoredTool]
      const [alias, kept] = [yield* anAlias, yield* anAlias]
      yield* store.claim(alias, erased.toolId, AT)
      yield* store.claim(kept, other.toolId, AT)
      yield* store.erase(erased.provider.id)
      assert.deepEqual(yield* store.toolOf(alias), Option.none())
      assert.deepEqual(yield* store.ofTools([erased.toolId, other.toolId]), new Map([[other.toolId, kept]]))
      const thief = yield* aStoredTool
      assert.equal(yield* store.claim(alias, thief.toolId, AT), false)
      assert.equal(yield* store.claim(yield* anAlias, erased.toolId, AT), false)
    })
  )
]
