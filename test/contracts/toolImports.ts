/**
 * Drafts, versions of definitions, and what is known of providers' servers.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, type Layer, Option } from "effect"
import { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { type ImportRecord, ImportStore } from "../../domain/catalog/ImportStore.ts"
import { definitionOf, nextVersion, type ToolVersion } from "../../domain/catalog/ToolVersions.ts"
import { Entropy } from "../../domain/shared/Entropy.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { Ports } from "./ports.ts"
import { aDeclaration, aProvider, aTool, instant } from "./samples.ts"

const [FIRST, SECOND, THIRD] = [
  instant("2026-11-21T00:00:00.000Z"),
  instant("2026-11-22T00:00:00.000Z"),
  instant("2026-11-23T00:00:00.000Z")
]

const bytesOf = ({ definition }: ToolVersion): number => JSON.stringify(definition).length

const page = { limit: 10, offset: 0, after: undefined }

export const toolImportsContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`Imported tools over ${name}`, (it) => {
    it.effect("keeps a draft off every list but its provider's, without prices, until it is listed", () =>
      Effect.gen(function* () {
        const store = yield* CatalogStore
        const provider = yield* aProvider()
        const toolName = `draft-${yield* (yield* Entropy).hex(8)}`
        const annotations = { readOnlyHint: true, openWorldHint: false }
        const draft = yield* aTool(provider, { toolName, annotations }, { price: Microcents.make(100n), draft: true })
        const before = yield* store.count
        yield* store.upsert(draft)
        const { tool } = Option.getOrThrow(yield* store.find(draft.id))
        assert.deepInclude(tool, { draft: true, withdrawnByServer: false, annotations })
        assert.deepStrictEqual(tool.withdrawnAt, draft.at)
        const ofProvider = { category: undefined, providerId: provider.id, maxPrice: undefined, tokens: [] }
        const names = (state?: "any" | "draft" | "listed" | "withdrawn") =>
          Effect.map(store.search({ ...ofProvider, state }, "name", page), ({ items }) =>
            items.map((entry) => entry.tool.toolName)
          )
        assert.deepStrictEqual(
          [yield* names(), yield* names("withdrawn"), yield* names("draft"), yield* names("any")],
          [[], [], [toolName], [toolName]]
        )
        assert.deepStrictEqual(yield* store.findByName(toolName, 5), [])
        assert.notInclude(yield* store.similarNames(toolName, provider.id, 10), toolName)
        assert.strictEqual(yield* store.count, before)
        assert.deepStrictEqual(yield* store.prices(draft.id, 10), [])
        assert.deepStrictEqual(yield* store.withdraw(provider.id, draft.id, SECOND), Option.some(draft.at))
        assert.isTrue(Option.getOrThrow(yield* store.find(draft.id)).tool.draft)

        const listed = yield* aTool(provider, { toolName }, { price: Microcents.make(900n), at: SECOND })
        assert.deepInclude(yield* store.upsert(listed), { id: draft.id, action: "updated", priceVersion: 1 })
        assert.deepStrictEqual(
          (yield* store.prices(draft.id, 10)).map((one) => [one.version, one.price, one.effectiveFrom]),
          [[1, 900n, SECOND]]
        )
        assert.deepStrictEqual(yield* names(), [toolName])
        assert.deepInclude(Option.getOrThrow(yield* store.find(draft.id)).tool, {
          draft: false,
          withdrawnAt: undefined,
          annotations: undefined
        })
      })
    )

    it.effect("removes a draft of its provider, and nothing else", () =>
      Effect.gen(function* () {
        const store = yield* CatalogStore
        const [provider, stranger] = [yield* aProvider(), yield* aProvider()]
        const toolName = `removed-${yield* (yield* Entropy).hex(8)}`
        const draft = yield* aTool(provider, { toolName }, { draft: true })
        const listed = yield* aTool(provider, { toolName: `${toolName}-listed` })
        for (const tool of [draft, listed]) yield* store.upsert(tool)
        assert.isFalse(yield* store.removeDraft(stranger.id, draft.id))
        assert.isFalse(yield* store.removeDraft(provider.id, listed.id))
        assert.isTrue(yield* store.removeDraft(provider.id, draft.id))
        assert.isFalse(yield* store.removeDraft(provider.id, draft.id))
        assert.isTrue(Option.isNone(yield* store.find(draft.id)))
        assert.isTrue(Option.isNone(yield* store.findOf(provider.id, toolName)))
        assert.strictEqual(yield* store.countOf(provider.id), 1)
        const again = yield* aTool(provider, { toolName })
        assert.deepInclude(yield* store.upsert(again), { id: again.id, action: "created" })
      })
    )

    it.effect("records that the sync withdrew a tool, until the provider withdraws or lists it", () =>
      Effect.gen(function* () {
        const store = yield* CatalogStore
        const provider = yield* aProvider()
        const tool = yield* aTool(provider)
        const bySync = Effect.map(store.find(tool.id), (found) => Option.getOrThrow(found).tool.withdrawnByServer)
        yield* store.upsert(tool)
        assert.isFalse(yield* bySync)
        yield* store.withdraw(provider.id, tool.id, FIRST, true)
        assert.isTrue(yield* bySync)
        yield* store.upsert(tool)
        assert.isFalse(yield* bySync)
        yield* store.withdraw(provider.id, tool.id, FIRST, true)
        assert.deepStrictEqual(yield* store.withdraw(provider.id, tool.id, SECOND), Option.some(FIRST))
        assert.isFalse(yield* bySync)
        yield* store.withdraw(provider.id, tool.id, THIRD, true)
        assert.isFalse(yield* bySync)
      })
    )

    it.effect("keeps the newest versions of a definition, newest first", () =>
      Effect.gen(function* () {
        const store = yield* CatalogStore
        const provider = yield* aProvider()
        const tool = yield* aTool(provider)
        yield* store.upsert(tool)
        const versions: Array<ToolVersion> = []
        for (const [n, at] of [FIRST, SECOND, THIRD].entries()) {
          const definition = definitionOf(
            aDeclaration({ description: `v${n}`, inputSchema: { z: 1, a: n }, annotations: { readOnlyHint: true } })
          )
          const next = nextVersion(versions.at(-1), definition, n === 0 ? "provider" : "server", at)!
          versions.push(next)
          yield* store.addVersion(tool.id, next, { versionsMax: 2, bytesMax: 10_000 })
        }
        assert.deepStrictEqual(yield* store.versions(tool.id, 10), [versions[2]!, versions[1]!])
        assert.deepStrictEqual(yield* store.versions(tool.id, 1), [versions[2]!])
        assert.deepStrictEqual(versions[2]!.changed, ["description", "inputSchema"])
        assert.isUndefined(nextVersion(versions[2], versions[2]!.definition, "server", THIRD))
        const long = definitionOf(aDeclaration({ description: "x".repeat(900) }))
        const fourth = nextVersion(versions[2], long, "server", THIRD)!
        yield* store.addVersion(tool.id, fourth, { versionsMax: 10, bytesMax: bytesOf(fourth) + bytesOf(versions[2]!) })
        assert.deepStrictEqual(
          (yield* store.versions(tool.id, 10)).map(({ version }) => version),
          [4, 3],
          "the versions that fit into the bytes"
        )
        const fifth = nextVersion(fourth, definitionOf(aDeclaration({})), "server", THIRD)!
        yield* store.addVersion(tool.id, fifth, { versionsMax: 10, bytesMax: 10 })
        assert.deepStrictEqual(yield* store.versions(tool.id, 10), [fifth], "the newest always stays")
        yield* store.removeVersions(provider.id)
        assert.deepStrictEqual(yield* store.versions(tool.id, 10), [])
      })
    )

    it.effect("claims a due sync once, the longest due first, and only of providers that turned it on", () =>
      Effect.gen(function* () {
        const imports = yield* ImportStore
        const [first, second, off] = [yield* aProvider(), yield* aProvider(), yield* aProvider()]
        const settings = { enabled: true, listed: false, defaultPrice: Microcents.make(5n) }
        const old = instant("2001-01-01T00:00:00.000Z")
        const older = instant("2000-01-01T00:00:00.000Z")
        yield* imports.configure(first.id, settings, old)
        yield* imports.configure(second.id, settings, older)
        yield* imports.configure(off.id, { ...settings, enabled: false }, older)
        const until = instant("2100-01-01T00:00:00.000Z")
        const now = instant("2002-01-01T00:00:00.000Z")
        assert.deepStrictEqual(yield* imports.claimDue(older, until, 10), [second.id])
        assert.deepStrictEqual(yield* imports.claimDue(now, until, 10), [first.id])
        assert.deepStrictEqual(yield* imports.claimDue(now, until, 10), [])
        yield* imports.configure(first.id, { ...settings, listed: true, defaultPrice: undefined }, THIRD)
        yield* imports.checked(first.id, SECOND, "no answer")
        assert.deepStrictEqual(
          yield* imports.sync(first.id),
          Option.some({
            enabled: true,
            listed: true,
            defaultPrice: undefined,
            nextAt: THIRD,
            checkedAt: SECOND,
            problem: "no answer"
          })
        )
        yield* imports.checked(first.id, THIRD, undefined)
        assert.deepInclude(Option.getOrThrow(yield* imports.sync(first.id)), { checkedAt: THIRD, problem: undefined })
      })
    )

    it.effect("keeps what a server listed, and the newest records, until the provider is erased", () =>
      Effect.gen(function* () {
        const imports = yield* ImportStore
        const entropy = yield* Entropy
        const [provider, other] = [yield* aProvider(), yield* aProvider()]
        const definition = definitionOf(aDeclaration({ inputSchema: { const: "\0 \ud800" }, annotations: {} }))
        const tools = [
          { toolName: "a", definition, missingSince: undefined },
          { toolName: "b", definition: { ...definition, description: "B" }, missingSince: FIRST }
        ]
        yield* imports.putImported(provider.id, tools)
        yield* imports.putImported(other.id, tools.slice(1))
        const found = Effect.map(imports.imported(provider.id), (all) =>
          all.toSorted((a, b) => (a.toolName < b.toolName ? -1 : 1))
        )
        assert.deepStrictEqual(yield* found, tools)
        yield* imports.putImported(provider.id, [{ ...tools[1]!, missingSince: undefined }])
        assert.isUndefined((yield* found)[1]!.missingSince)
        yield* imports.forgetImported(provider.id, ["a", "nothing"])
        assert.deepStrictEqual(
          (yield* found).map(({ toolName }) => toolName),
          ["b"]
        )

        const empty = {
          created: [],
          drafts: [],
          changed: [],
          restored: [],
          missing: [],
          withdrawn: [],
          removedDrafts: []
        }
        const counts = { created: 1, drafts: 0, changed: 0, restored: 0, missing: 0, withdrawn: 0, rejected: 0 }
        const records: Array<ImportRecord> = []
        for (let n = 0; n < 4; n++) {
          const record: ImportRecord = {
            id: yield* entropy.uuid,
            importedAt: DateTime.add(FIRST, { minutes: n }),
            source: n === 0 ? "provider" : "server",
            result: { ...empty, created: [`t${n}`], held: [], rejected: [], unchanged: n, counts }
          }
          records.push(record)
          yield* imports.addRecord(provider.id, record, 3)
        }
        const newest = records.slice(1).toSorted((a, b) => (a.id < b.id ? 1 : -1))
        assert.deepStrictEqual(yield* imports.records(provider.id, 10), newest)
        assert.deepStrictEqual(yield* imports.records(provider.id, 1), newest.slice(0, 1))

        const { atomically } = yield* UnitOfWork
        yield* atomically(Effect.andThen(imports.remove(provider.id), Effect.fail("undone" as const))).pipe(Effect.flip)
        assert.lengthOf(yield* imports.records(provider.id, 10), 3)
        yield* imports.remove(provider.id)
        assert.deepStrictEqual(
          [yield* imports.imported(provider.id), yield* imports.records(provider.id, 10)],
          [[], []]
        )
        assert.isTrue(Option.isNone(yield* imports.sync(provider.id)))
        assert.lengthOf(yield* imports.imported(other.id), 1)
      })
    )
  })
