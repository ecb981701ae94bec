/**
 * Contract of stores of the waitlist, submissions and platform figures.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as PostgresAccountStore from "../../adapters/sql/accounts/PostgresAccountStore.ts"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresPlatformFigures from "../../adapters/sql/platform/PostgresPlatformFigures.ts"
import * as PostgresSubmissionStore from "../../adapters/sql/platform/PostgresSubmissionStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import * as PostgresWaitlistStore from "../../adapters/sql/platform/PostgresWaitlistStore.ts"
import type { AccountStore } from "../../domain/accounts/AccountStore.ts"
import type { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import type { CallStore } from "../../domain/metering/CallStore.ts"
import { PlatformFigures } from "../../domain/platform/PlatformFigures.ts"
import type { SubmissionStore } from "../../domain/platform/SubmissionStore.ts"
import type { WaitlistStore } from "../../domain/platform/WaitlistStore.ts"
import type { Entropy } from "../../domain/shared/Entropy.ts"
import type { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { memoryStores } from "../../src/layers/MemoryStores.ts"
import { LIVE, PostgresTest } from "../support/PostgresTest.ts"
import { consumerWith } from "./ledgerSamples.ts"
import { aListedTool, called } from "./meteringSamples.ts"
import { aConsumer, aProvider, instant } from "./samples.ts"

type Ports =
  | AccountStore
  | CallStore
  | CatalogStore
  | Entropy
  | Ledger
  | PlatformFigures
  | SubmissionStore
  | UnitOfWork
  | WaitlistStore

const memoryPorts: Layer.Layer<Ports> = Ledger.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(memoryStores, NodeEntropy.layer))
)
const postgresPorts: Layer.Layer<Ports> = Ledger.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      PostgresAccountStore.layer,
      PostgresCallStore.layer,
      PostgresCatalogStore.layer,
      PostgresLedgerStore.layer,
      PostgresPlatformFigures.layer,
      PostgresSubmissionStore.layer,
      PostgresUnitOfWork.layer,
      PostgresWaitlistStore.layer,
      NodeEntropy.layer
    )
  ),
  Layer.provideMerge(PostgresTest.layer)
)

export const everyPlatform: ReadonlyArray<readonly [name: string, ports: Layer.Layer<Ports>]> = [
  ["memory", memoryPorts],
  ["PostgreSQL", postgresPorts]
]

export const platformFiguresContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`PlatformFigures over ${name}`, (it) => {
    it.effect("count totals and additions since an hour", () =>
      Effect.gen(function* () {
        const figures = yield* PlatformFigures
        assert.deepStrictEqual(yield* figures.count(), { providers: 0, consumers: 0, tools: 0, invocations: 0 })
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
        assert.deepStrictEqual(all, { providers: 2, consumers: 2, tools: 1, invocations: 3 })
        const recent = yield* figures.count(instant("2026-11-20T11:00:00.000Z"))
        assert.deepStrictEqual([recent.providers, recent.consumers, recent.invocations], [1, 1, 2])
        const future = yield* figures.count(instant("2999-01-01T01:00:00.000Z"))
        assert.deepStrictEqual(future, { providers: 0, consumers: 0, tools: 0, invocations: 0 })
      })
    )
  })
