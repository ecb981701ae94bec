/**
 * References: each names one posting.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { LedgerPorts } from "./ledgerPorts.ts"
import { aConsumerId, aProviderId, atOnce, consumerWith, money, platformWith } from "./ledgerSamples.ts"

export const referencesContract = (name: string, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, LIVE)(`References of postings over ${name}`, (it) => {
    it.effect("posts a load once per reference, however often and concurrently it is requested", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        const load = { consumerId, amount: money(5_000), reference: `stripe:${consumerId}` }
        const answers = yield* atOnce(20, () => ledger.load(load))
        assert.lengthOf(
          answers.filter((posted) => !posted.repeated),
          1
        )
        assert.lengthOf(new Set(answers.map((posted) => posted.transferId)), 1)
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 5_000n)
      })
    )

    it.effect("rejects a reference of another posting", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* aConsumerId
        const load = { consumerId, amount: money(5_000), reference: `stripe:${consumerId}` }
        yield* ledger.load(load)
        for (const other of [{ amount: money(5_001) }, { consumerId: yield* aConsumerId }]) {
          const error = yield* Effect.flip(ledger.load({ ...load, ...other }))
          assert.strictEqual(error._tag, "DuplicateReference")
          assert.include(error.message, load.reference)
        }
        assert.strictEqual((yield* Effect.flip(ledger.credit(load)))._tag, "DuplicateReference")
        assert.strictEqual((yield* ledger.wallet(consumerId)).available, 5_000n)
      })
    )

    it.effect("rejects a reference that covers only some of the legs, and writes none", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const consumerId = yield* consumerWith(10_000)
        const providerId = yield* aProviderId
        yield* platformWith(1_000)
        const common = { kind: "adjustment", debit: "platform_fee" } as const
        const first = { ...common, consumerId, credit: "wallet", amount: money(100) } as const
        const second = { ...common, providerId, credit: "provider", lot: "2026-11-20", amount: money(70) } as const
        for (const [known, other] of [
          [[first], [first, second]],
          [[first, second], [first]]
        ] as const) {
          const reference = `adjustment:${yield* aProviderId}`
          yield* ledger.post({ reference, legs: known })
          const before = [yield* ledger.wallet(consumerId), yield* ledger.provider(providerId)]
          assert.strictEqual((yield* Effect.flip(ledger.post({ reference, legs: other })))._tag, "DuplicateReference")
          assert.lengthOf(yield* ledger.byReference(reference), known.length)
          assert.deepStrictEqual([yield* ledger.wallet(consumerId), yield* ledger.provider(providerId)], before)
        }
        assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
      })
    )
  })
