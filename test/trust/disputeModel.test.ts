/**
 * Random parties that call, file, accept, contest, decide and wait, against a model of their balances. The ledger
 * balances after every step that is checked.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import * as PostgresEarningsStores from "../../adapters/sql/earnings/PostgresEarningsStores.ts"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresPaidFunds from "../../adapters/sql/ledger/PostgresPaidFunds.ts"
import * as PostgresDisputeStore from "../../adapters/sql/trust/PostgresDisputeStore.ts"
import type { ClaimStore } from "../../domain/earnings/Claims.ts"
import type { PayeeStore } from "../../domain/earnings/PayoutStore.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import type { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import type { PaidFunds } from "../../domain/ledger/PaidFunds.ts"
import { FEE_BASIS_POINTS_MAX, feeOf } from "../../domain/ledger/PlatformFee.ts"
import { ChargebackRecoveries } from "../../domain/payments/ChargebackRecoveries.ts"
import type { Receipt } from "../../domain/receipts/Receipts.ts"
import type { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { type Dispute, type DisputeStore, isOpen } from "../../domain/trust/DisputeStore.ts"
import { Disputes } from "../../domain/trust/Disputes.ts"
import { recovery } from "../../src/layers/Core.ts"
import { aCall, aProviderId, consumerWith, money, platformWith, settled } from "../contracts/ledgerSamples.ts"
import { type LogPorts, memoryLogPorts, postgresLogPorts } from "../contracts/logPorts.ts"
import { when } from "../support/metering/TestTime.ts"
import { overBoth } from "../support/servers/PostgresTest.ts"

type Ports = LogPorts | DisputeStore | ClaimStore | LedgerStore | PaidFunds | PayeeStore

const START = Date.parse("2026-11-20T10:00:00.000Z")
const LOADED = 1_000_000_000n
const PARTIES = 6
const SEED = 1

/** Seeded: chance decides neither what is tried nor whether all outcomes are reached. */
const randomFrom = (seed: number) => {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const play = Effect.fnUntraced(function* (steps: number, seed: number, lookEvery: number) {
  const random = randomFrom(seed)
  const ledger = yield* Ledger
  const disputes = yield* Disputes
  yield* platformWith(LOADED)
  const consumers = yield* Effect.forEach(Array.from({ length: PARTIES }), () => consumerWith(LOADED))
  const providers = yield* Effect.forEach(Array.from({ length: PARTIES }), () => aProviderId)
  const wallets = new Map<ConsumerId, bigint>(consumers.map((id) => [id, LOADED]))
  const earnings = new Map<ProviderId, bigint>(providers.map((id) => [id, 0n]))
  const receipts: Array<Receipt> = []
  const known = new Map<string, Dispute>()
  /** By receipt: each call is held with another one. */
  const fees = new Map<string, bigint>()
  let nowMs = START

  const move = (
    receipt: { readonly consumerId: ConsumerId; readonly providerId: ProviderId },
    toConsumer: bigint,
    toProvider: bigint
  ) => {
    wallets.set(receipt.consumerId, wallets.get(receipt.consumerId)! + toConsumer)
    earnings.set(receipt.providerId, earnings.get(receipt.providerId)! + toProvider)
  }
  const pick = <A>(from: ReadonlyArray<A>): A => from[random(from.length)]!

  const refunded = (dispute: Dispute) => move(dispute, dispute.cost, fees.get(dispute.receiptId)! - dispute.cost)

  const learn = Effect.fnUntraced(function* (dispute: Dispute) {
    const before = known.get(dispute.id)
    known.set(dispute.id, dispute)
    if ((before === undefined || isOpen(before)) && !isOpen(dispute)) {
      if (dispute.status === "resolved_refund") refunded(dispute)
      if (dispute.status === "resolved_credit") move(dispute, dispute.decision!.amount, 0n)
    }
    return yield* Effect.void
  })

  for (let step = 0; step < steps; step++) {
    nowMs += random(4) === 0 ? random(36 * 3_600_000) : random(60_000)
    const iso = new Date(nowMs).toISOString()
    const open = [...known.values()].filter(isOpen)
    const act: Effect.Effect<unknown, unknown, LogPorts | Disputes> = Effect.gen(function* () {
      const choice = random(10)
      if (choice < 3 || receipts.length === 0) {
        const [consumerId, providerId] = [pick(consumers), pick(providers)]
        const cost = random(5) === 0 ? 0 : random(3_000) + 1
        const feeBasisPoints = pick([1_000, 0, 1, 777, FEE_BASIS_POINTS_MAX])
        const fee = feeOf(BigInt(cost), feeBasisPoints)
        const call = yield* aCall(consumerId, {
          providerId,
          feeBasisPoints,
          openedAt: DateTime.makeUnsafe(iso),
          holdAmount: money(cost)
        })
        const { receipt } = yield* settled(call, {
          cost,
          status: pick(["success", "success", "error", "timeout"] as const)
        })
        receipts.push(receipt)
        fees.set(receipt.receipt_id, fee)
        return move({ consumerId, providerId }, BigInt(-cost), BigInt(cost) - fee)
      }
      if (choice < 6) {
        const receipt = pick(receipts)
        const owner =
          random(5) === 0
            ? ({ role: "provider", ownerId: receipt.provider_id } as const)
            : ({ role: "consumer", ownerId: receipt.agent_id } as const)
        const filing = {
          receiptId: receipt.receipt_id,
          reason: "quality",
          text: undefined,
          evidence: undefined
        } as const
        return yield* learn(yield* disputes.file(owner, filing))
      }
      if (choice === 6) {
        yield* disputes.work
        for (const dispute of open) yield* learn(yield* disputes.find(dispute.id))
        return undefined
      }
      if (open.length === 0) return undefined
      const dispute = pick(open)
      if (choice < 9) {
        const action = random(2) === 0 ? ("accept" as const) : ("contest" as const)
        const answer = { action, text: "so", evidence: undefined }
        return yield* learn(yield* disputes.respond(dispute.providerId, dispute.id, answer))
      }
      const resolution = pick(["resolved_refund", "resolved_denied", "resolved_credit"] as const)
      const amount = dispute.cost > 0n ? money(1 + random(Number(dispute.cost) * 2)) : undefined
      return yield* learn(yield* disputes.resolve(dispute.id, { resolution, note: undefined, amount }))
    })
    yield* Effect.result(when(iso)(act))

    if (step % lookEvery === 0 || step === steps - 1) {
      for (const [id, expected] of wallets)
        assert.strictEqual((yield* ledger.wallet(id)).available, expected, `step ${step}`)
      for (const [id, expected] of earnings)
        assert.strictEqual((yield* ledger.provider(id)).balance, expected, `step ${step}`)
      assert.isTrue((yield* ledger.trialBalance).balanced, `step ${step}`)
    }
  }
  assert.deepStrictEqual((yield* ledger.audit).discrepancies, [])
  return Map.groupBy(known.values(), ({ status }) => status)
})

const noChargebacks = Layer.succeed(ChargebackRecoveries, { mayBeDisputed: () => Effect.void })

const postgresPorts: Layer.Layer<Ports> = Layer.mergeAll(
  PostgresDisputeStore.layer,
  PostgresEarningsStores.layer,
  PostgresLedgerStore.layer,
  PostgresPaidFunds.layer
).pipe(Layer.provideMerge(postgresLogPorts))

const RUNS = { memory: [10_000, 100], PostgreSQL: [500, 50] } as const

for (const [name, ports] of overBoth(memoryLogPorts as Layer.Layer<Ports>, postgresPorts)) {
  const [steps, lookEvery] = RUNS[name]
  it.layer(Disputes.layer.pipe(Layer.provide(noChargebacks), Layer.provideMerge(recovery), Layer.provideMerge(ports)), {
    timeout: "120 seconds",
    excludeTestServices: true
  })(`Random disputes over ${name}`, (it) => {
    it.effect(
      "leave every party with its balance",
      () =>
        Effect.gen(function* () {
          const ended = yield* play(steps, SEED, lookEvery)
          // The steps reached every outcome often enough.
          assert.isAbove(ended.get("resolved_refund")?.length ?? 0, 2)
          if (steps >= 10_000)
            for (const status of ["resolved_denied", "resolved_credit"] as const) assert.isTrue(ended.has(status))
        }),
      { timeout: 240_000 }
    )
  })
}
