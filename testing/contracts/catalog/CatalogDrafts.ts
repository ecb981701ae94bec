/**
 * Drafts of tools, what a sync withdrew, and versions of definitions.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { CatalogStore, definitionOf, nextVersion, type ToolVersion } from "../../../domain/catalog/CatalogStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aDeclaration, aTool, upserted } from "../shared/ToolSamples.ts"

const [FIRST, SECOND, THIRD] = [
  instant("2026-11-21T00:00:00.000Z"),
  instant("2026-11-22T00:00:00.000Z"),
  instant("2026-11-23T00:00:00.000Z")
]

const bytesOf = ({ definition }: ToolVersion): number => JSON.stringify(definition).length

const page = { limit: 10, offset: 0, after: undefined }

export const draftsOfCatalog: Contract<AccountStore | CatalogStore> = [
  rule(
    "keeps a draft off every list but its provider's, without prices, until it is listed",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const toolName = `draft-${yield* (yield* Entropy).hex(8)}`
      const annotations = { readOnlyHint: true, openWorldHint: false }
      const draft = yield* aTool(provider, { toolName, annotations }, { price: Microcents.make(100n), draft: true })
      const before = yield* store.count
      yield* upserted(draft)
      const { tool } = Option.getOrThrow(yield* store.find(draft.id))
      assert.partialDeepStrictEqual(tool, { draft: true, withdrawnByServer: false, annotations })
      assert.deepEqual(tool.withdrawnAt, draft.at)
      const ofProvider = { category: undefined, providerId: provider.id, maxPrice: undefined, tokens: [] }
      const names = (state?: "any" | "draft" | "listed" | "withdrawn") =>
        Effect.map(store.search({ ...ofProvider, state }, "name", page), ({ items }) =>
          items.map((entry) => entry.tool.toolName)
        )
      assert.deepEqual(
        [yield* names(), yield* names("withdrawn"), yield* names("draft"), yield* names("any")],
        [[], [], [toolName], [toolName]]
      )
      assert.deepEqual(yield* store.findByName(toolName, 5), [])
      assert.ok(!(yield* store.similarNames(toolName, provider.id, 10)).includes(toolName))
      assert.equal(yield* store.count, before)
      assert.deepEqual(yield* store.prices(draft.id, 10), [])
      assert.deepEqual(yield* store.withdraw(provider.id, draft.id, SECOND), Option.some(draft.at))
      assert.equal(Option.getOrThrow(yield* store.find(draft.id)).tool.draft, true)

      const listed = yield* aTool(provider, { toolName }, { price: Microcents.make(900n), at: SECOND })
      assert.partialDeepStrictEqual(yield* upserted(listed), { id: draft.id, action: "updated", priceVersion: 1 })
      assert.deepEqual(
        (yield* store.prices(draft.id, 10)).map((one) => [one.version, one.price, one.effectiveFrom]),
        [[1, 900n, SECOND]]
      )
      assert.deepEqual(yield* names(), [toolName])
      assert.partialDeepStrictEqual(Option.getOrThrow(yield* store.find(draft.id)).tool, {
        draft: false,
        withdrawnAt: undefined,
        annotations: undefined
      })
    })
  ),

  rule(
    "removes a draft of its provider, and nothing else",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const [provider, stranger] = [yield* aProvider(), yield* aProvider()]
      const toolName = `removed-${yield* (yield* Entropy).hex(8)}`
      const draft = yield* aTool(provider, { toolName }, { draft: true })
      const listed = yield* aTool(provider, { toolName: `${toolName}-listed` })
      yield* store.upsert([draft, listed])
      assert.equal(yield* store.removeDraft(stranger.id, draft.id), false)
      assert.equal(yield* store.removeDraft(provider.id, listed.id), false)
      assert.equal(yield* store.removeDraft(provider.id, draft.id), true)
      assert.equal(yield* store.removeDraft(provider.id, draft.id), false)
      assert.equal(Option.isNone(yield* store.find(draft.id)), true)
      assert.equal(Option.isNone(yield* store.findOf(provider.id, toolName)), true)
      assert.equal(yield* store.countOf(provider.id), 1)
      const again = yield* aTool(provider, { toolName })
      assert.partialDeepStrictEqual(yield* upserted(again), { id: again.id, action: "created" })
    })
  ),

  rule(
    "records that the sync withdrew a tool, until the provider withdraws or lists it",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const tool = yield* aTool(provider)
      const bySync = Effect.map(store.find(tool.id), (found) => Option.getOrThrow(found).tool.withdrawnByServer)
      yield* upserted(tool)
      assert.equal(yield* bySync, false)
      yield* store.withdraw(provider.id, tool.id, FIRST, true)
      assert.equal(yield* bySync, true)
      yield* upserted(tool)
      assert.equal(yield* bySync, false)
      yield* store.withdraw(provider.id, tool.id, FIRST, true)
      assert.deepEqual(yield* store.withdraw(provider.id, tool.id, SECOND), Option.some(FIRST))
      assert.equal(yield* bySync, false)
      yield* store.withdraw(provider.id, tool.id, THIRD, true)
      assert.equal(yield* bySync, false)
    })
  ),

  rule(
    "keeps the newest versions of a definition, newest first",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const tool = yield* aTool(provider)
      yield* upserted(tool)
      const versions: Array<ToolVersion> = []
      for (const [n, at] of [FIRST, SECOND, THIRD].entries()) {
        const definition = definitionOf(
          aDeclaration({ description: `v${n}`, inputSchema: { z: 1, a: n }, annotations: { readOnlyHint: true } })
        )
        const next = nextVersion(versions.at(-1), definition, n === 0 ? "provider" : "server", at)!
        versions.push(next)
        yield* store.addVersions([[tool.id, next]], { versionsMax: 2, bytesMax: 10_000 })
      }
      assert.deepEqual(yield* store.versions(tool.id, 10), [versions[2]!, versions[1]!])
      assert.deepEqual(yield* store.versions(tool.id, 1), [versions[2]!])
      assert.deepEqual(versions[2]!.changed, ["description", "inputSchema"])
      assert.equal(nextVersion(versions[2], versions[2]!.definition, "server", THIRD), undefined)
      const long = definitionOf(aDeclaration({ description: "x".repeat(900) }))
      const fourth = nextVersion(versions[2], long, "server", THIRD)!
      yield* store.addVersions([[tool.id, fourth]], {
        versionsMax: 10,
        bytesMax: bytesOf(fourth) + bytesOf(versions[2]!)
      })
      assert.deepEqual(
        (yield* store.versions(tool.id, 10)).map(({ version }) => version),
        [4, 3],
        "the versions that fit into the bytes"
      )
      const fifth = nextVersion(fourth, definitionOf(aDeclaration({})), "server", THIRD)!
      yield* store.addVersions([[tool.id, fifth]], { versionsMax: 10, bytesMax: 10 })
      assert.deepEqual(yield* store.versions(tool.id, 10), [fifth], "the newest always stays")
      yield* store.removeVersions(provider.id)
      assert.deepEqual(yield* store.versions(tool.id, 10), [])
    })
  ),

  rule(
    "adds versions to many tools at once, and finds the newest of each",
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const provider = yield* aProvider()
      const kept = { versionsMax: 2, bytesMax: 10_000 }
      const tools = [
        yield* aTool(provider, { toolName: "one" }),
        yield* aTool(provider, { toolName: "two" }),
        yield* aTool(provider, { toolName: "none" })
      ]
      yield* store.upsert(tools)
      const [one, two, none] = tools.map(({ id }) => id)
      const versionOf = (n: number, text: string): ToolVersion => ({
        ...nextVersion(undefined, definitionOf(aDeclaration({ description: text })), "server", FIRST)!,
        version: n
      })
      yield* store.addVersions([], kept)
      for (const n of [1, 2]) yield* store.addVersions([[one!, versionOf(n, "one")]], kept)
      yield* store.addVersions(
        [
          [one!, versionOf(3, "one's third")],
          [two!, versionOf(1, "two's first")]
        ],
        kept
      )
      const last = yield* store.lastVersions([none!, two!, one!])
      assert.deepEqual(last.get(one!), versionOf(3, "one's third"))
      assert.deepEqual(last.get(two!), versionOf(1, "two's first"))
      assert.equal(last.size, 2)
      assert.deepEqual(
        (yield* store.versions(one!, 10)).map(({ version }) => version),
        [3, 2]
      )
      assert.equal((yield* store.lastVersions([])).size, 0)
    })
  )
]
