/**
 * What an ImportStore must do, with the accounts of its providers.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { definitionOf } from "../../../domain/catalog/CatalogStore.ts"
import { type ImportRecord, ImportStore } from "../../../domain/catalog/ImportStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aDeclaration } from "../shared/ToolSamples.ts"

const [FIRST, SECOND, THIRD] = [
  instant("2026-11-21T00:00:00.000Z"),
  instant("2026-11-22T00:00:00.000Z"),
  instant("2026-11-23T00:00:00.000Z")
]

export const importStoreContract: Contract<AccountStore | ImportStore | UnitOfWork> = [
  rule(
    "claims a due sync once, the longest due first, and only of providers that turned it on",
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
      assert.deepEqual(yield* imports.claimDue(older, until, 10), [second.id])
      assert.deepEqual(yield* imports.claimDue(now, until, 10), [first.id])
      assert.deepEqual(yield* imports.claimDue(now, until, 10), [])
      yield* imports.configure(first.id, { ...settings, listed: true, defaultPrice: undefined }, THIRD)
      yield* imports.checked(first.id, SECOND, "no answer")
      assert.deepEqual(
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
      assert.partialDeepStrictEqual(Option.getOrThrow(yield* imports.sync(first.id)), {
        checkedAt: THIRD,
        problem: undefined
      })
    })
  ),

  rule(
    "keeps that a draft was dismissed until the tool is imported again",
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const { id } = yield* aProvider()
      const tool = { toolName: "search", definition: definitionOf(aDeclaration()), missingSince: undefined }
      for (const stored of [{ ...tool, dismissed: true as const }, tool]) {
        yield* imports.putImported(id, [stored])
        assert.deepEqual(yield* imports.imported(id), [stored])
      }
    })
  ),

  rule(
    "hastens the sync of an enabled provider, but not before its server may be read again",
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const [provider, off, unknown] = [yield* aProvider(), yield* aProvider(), yield* aProvider()]
      const settings = { enabled: true, listed: false, defaultPrice: undefined }
      const next = instant("2002-01-01T01:00:00.000Z")
      const now = instant("2002-01-01T00:00:30.000Z")
      yield* imports.configure(provider.id, settings, next)
      yield* imports.configure(off.id, { ...settings, enabled: false }, next)
      for (const { id } of [off, unknown]) yield* imports.hasten(id, now, 60_000)
      const nextOf = (id: typeof off.id) => Effect.map(imports.sync(id), (found) => Option.getOrThrow(found).nextAt)
      assert.deepEqual(yield* nextOf(off.id), next)
      assert.ok(Option.isNone(yield* imports.sync(unknown.id)))
      yield* imports.checked(provider.id, instant("2002-01-01T00:00:00.000Z"), undefined)
      yield* imports.hasten(provider.id, now, 60_000)
      assert.deepEqual(yield* nextOf(provider.id), instant("2002-01-01T00:01:00.000Z"))
      yield* imports.hasten(provider.id, now, 1_000)
      assert.deepEqual(yield* nextOf(provider.id), now)
      yield* imports.hasten(provider.id, next, 1_000)
      assert.deepEqual(yield* nextOf(provider.id), now)
    })
  ),

  rule(
    "keeps what a server listed, and the newest records, until the provider is erased",
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
      assert.deepEqual(yield* found, tools)
      yield* imports.putImported(provider.id, [{ ...tools[1]!, missingSince: undefined }])
      assert.equal((yield* found)[1]!.missingSince, undefined)
      yield* imports.forgetImported(provider.id, ["a", "nothing"])
      assert.deepEqual(
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
      assert.deepEqual(yield* imports.records(provider.id, 10), newest)
      assert.deepEqual(yield* imports.records(provider.id, 1), newest.slice(0, 1))

      const { atomically } = yield* UnitOfWork
      yield* atomically(Effect.andThen(imports.remove(provider.id), Effect.fail("undone" as const))).pipe(Effect.flip)
      assert.equal((yield* imports.records(provider.id, 10)).length, 3)
      yield* imports.remove(provider.id)
      assert.deepEqual([yield* imports.imported(provider.id), yield* imports.records(provider.id, 10)], [[], []])
      assert.equal(Option.isNone(yield* imports.sync(provider.id)), true)
      assert.equal((yield* imports.imported(other.id)).length, 1)
    })
  )
]
