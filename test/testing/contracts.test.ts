/**
 * The contracts of the testing kit find adapters that do not keep them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MemoryLedger } from "../../adapters/memory/ledger/MemoryLedger.ts"
import * as MemoryLedgerStores from "../../adapters/memory/ledger/MemoryLedgerStores.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/shared/MemoryUnitOfWork.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { GatewayScript } from "../../testing/ScriptedGateway.ts"
import { ledgerStoreContract } from "../../testing/contracts/ledger/LedgerStoreContract.ts"
import { paymentGatewayContract } from "../../testing/contracts/ledger/PaymentGatewayContract.ts"
import type { LedgerStores } from "../../testing/contracts/shared/LedgerSamples.ts"
import { contractOver } from "../contracts/contractOver.ts"

const stores = Layer.merge(MemoryLedgerStores.layer, MemoryUnitOfWork.layer).pipe(Layer.provide(MemoryLedger.layer))

/** The titles of the rules that the adapter does not keep. */
const brokenRules = (ports: Layer.Layer<LedgerStores>) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(ports)
    const broken: Array<string> = []
    for (const { check, title } of ledgerStoreContract) {
      const exit = yield* Effect.exit(Effect.provide(check, context))
      if (exit._tag === "Failure") broken.push(title)
    }
    return broken
  }).pipe(Effect.scoped)

const changed = (change: (store: LedgerStore["Service"]) => Partial<LedgerStore["Service"]>) =>
  Layer.effect(
    LedgerStore,
    Effect.map(LedgerStore, (store) => ({ ...store, ...change(store) }))
  ).pipe(Layer.provideMerge(stores))

const paid = (sessionId: string) =>
  Effect.map(GatewayScript, ({ checkouts, loadsOfPayments }) => {
    const paymentId = `pi_${sessionId}`
    const checkout = checkouts.get(sessionId)!
    checkouts.set(sessionId, { ...checkout, state: "paid", paymentId })
    loadsOfPayments.set(paymentId, checkout.loadId)
    return paymentId
  })

contractOver(
  "The scripted PaymentGateway",
  paymentGatewayContract({ ready: () => Effect.void, pay: paid }),
  ScriptedGateway.layer
)

describe("the contract of the ledger", () => {
  it.effect("is kept by the store in memory, without accounts and calls", () =>
    Effect.gen(function* () {
      assert.isAbove(ledgerStoreContract.length, 12)
      assert.deepStrictEqual(yield* brokenRules(stores), [])
    })
  )

  it.effect("is not kept by a store that posts the same reference again", () =>
    Effect.gen(function* () {
      let posted = 0
      const broken = yield* brokenRules(
        changed((store) => ({
          post: (posting) => store.post({ ...posting, reference: `${posting.reference} ${++posted}` })
        }))
      )
      assert.include(broken, "rejects a reference of another posting")
    })
  )

  it.effect("is not kept by a store that does not take part in units of work", () =>
    Effect.gen(function* () {
      const broken = yield* brokenRules(
        Layer.merge(stores, Layer.succeed(UnitOfWork, { atomically: (effect) => effect }))
      )
      assert.include(broken, "undoes a posting with its unit of work")
    })
  )

  it.effect("is not kept by a store that forgets legs", () =>
    Effect.gen(function* () {
      const broken = yield* brokenRules(
        changed((store) => ({ post: (posting) => store.post({ ...posting, legs: posting.legs.slice(0, 1) }) }))
      )
      assert.include(broken, "posts linked transfers all or nothing")
    })
  )
})
