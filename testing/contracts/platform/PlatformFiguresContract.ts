/**
 * What PlatformFigures must do, with the accounts, tools and calls that they count, on stores of their own.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import type { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { PlatformFigures } from "../../../domain/platform/PlatformStats.ts"
import { aConsumer, aProvider, instant } from "../shared/AccountSamples.ts"
import type { Books } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { consumerWith, ledgerRule } from "../shared/LedgerSamples.ts"
import { aListedTool, called } from "../shared/ToolSamples.ts"

export const platformFiguresContract: Contract<PlatformFigures | AccountStore | CatalogStore | Books> = [
  ledgerRule(
    "count totals and additions since an hour",
    Effect.gen(function* () {
      const figures = yield* PlatformFigures
      assert.deepEqual(yield* figures.count(), { providers: 0, consumers: 0, tools: 0, invocations: 0 })
      const old = instant("2026-11-18T10:00:00.000Z")
      const consumer = yield* consumerWith(10_000)
      const provider = yield* aProvider({ createdAt: instant("2999-01-01T00:00:00.000Z") })
      yield* aProvider({ createdAt: old })
      yield* aConsumer({ createdAt: old })
      yield* aConsumer({ createdAt: instant("2026-11-20T11:00:00.000Z") })
      const tool = yield* aListedTool(provider, "a")
      yield* called(consumer, tool, "2026-11-18T10:59:59.999Z")
      yield* called(consumer, tool, "2026-11-20T11:00:00.000Z")
      yield* called(consumer, tool, "2026-11-20T11:59:59.999Z", { cost: 0, status: "error" })
      const all = yield* figures.count()
      assert.deepEqual(all, { providers: 2, consumers: 2, tools: 1, invocations: 3 })
      const recent = yield* figures.count(instant("2026-11-20T11:00:00.000Z"))
      assert.deepEqual([recent.providers, recent.consumers, recent.invocations], [1, 1, 2])
      const future = yield* figures.count(instant("2999-01-01T01:00:00.000Z"))
      assert.deepEqual(future, { providers: 0, consumers: 0, tools: 0, invocations: 0 })

      // Tools of a frozen provider cannot be bought.
      const accounts = yield* AccountStore
      const rival = yield* aProvider()
      yield* aListedTool(rival, "b")
      assert.equal((yield* figures.count()).tools, 2)
      yield* accounts.setFrozen(rival.id, { reason: "Fraud is suspected.", at: old })
      assert.equal((yield* figures.count()).tools, 1)
      yield* accounts.setFrozen(rival.id, undefined)
      assert.equal((yield* figures.count()).tools, 2)
    })
  )
]
