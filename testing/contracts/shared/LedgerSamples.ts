/**
 * Owners and balances for rules about a ledger, with new ids: nothing else must exist, accounts and calls neither.
 */
import { DateTime, Effect, Layer } from "effect"
import * as NodeEntropy from "../../../adapters/crypto/NodeEntropy.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import type { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { type Leg, lotDayOf } from "../../../domain/ledger/Transfer.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { rule } from "./Contract.ts"

/** The ports of the ledger's contracts: nothing else is needed, accounts and calls neither. */
export type LedgerStores = LedgerStore | UnitOfWork

/** The Ledger over the stores, and ids. */
export const overStores = Layer.provideMerge(Ledger.layer, NodeEntropy.layer)

/** A rule about the Ledger over the stores. */
export const ledgerRule = <E, Ports>(title: string, check: Effect.Effect<void, E, Ports>) =>
  rule(title, Effect.provide(check, overStores))

export const OPENED_AT = DateTime.makeUnsafe("2026-11-20T10:11:12.345Z")

/** The settlement day of calls opened at OPENED_AT. */
export const LOT = lotDayOf(OPENED_AT)

export const money = (amount: bigint | number): Microcents => Microcents.make(BigInt(amount))

export const uuid = Effect.flatMap(Entropy, (entropy) => entropy.uuid)

export const aConsumerId = Effect.map(uuid, (id) => ConsumerId.make(id))
export const aProviderId = Effect.map(uuid, (id) => ProviderId.make(id))

/** A consumer whose wallet was loaded with the amount. */
export const consumerWith = Effect.fnUntraced(function* (amount: bigint | number) {
  const consumerId = yield* aConsumerId
  if (BigInt(amount) > 0n) {
    yield* (yield* Ledger).load({ consumerId, amount: money(amount), reference: `load ${yield* uuid}` })
  }
  return consumerId
})

/** A deposit of the operator into platform funds. */
export const platformWith = Effect.fnUntraced(function* (amount: bigint | number) {
  const leg = { kind: "deposit", debit: "processor", credit: "platform_fee", amount: money(amount) } as const
  yield* (yield* Ledger).post({ reference: `deposit ${yield* uuid}`, legs: [leg] })
})

/** A provider that has these amounts, each in the lot of its day. */
export const providerWith = Effect.fnUntraced(function* (lots: Readonly<Record<string, bigint | number>>) {
  const providerId = yield* aProviderId
  for (const [lot, amount] of Object.entries(lots)) {
    yield* platformWith(amount)
    const leg = { kind: "adjustment", debit: "platform_fee", credit: "provider", providerId, lot } as const
    yield* (yield* Ledger).post({ reference: `earned ${yield* uuid}`, legs: [{ ...leg, amount: money(amount) }] })
  }
  return providerId
})

/** A payout from the lot of OPENED_AT, as it starts. */
export const payoutLeg = (providerId: Leg["providerId"], amount: bigint | number): Leg => ({
  kind: "payout",
  debit: "provider",
  credit: "payout_clearing",
  amount: money(amount),
  providerId,
  lot: LOT
})

/** As concurrently as the store allows. */
export const atOnce = <A, E, R>(many: number, one: (n: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: many }, (_, n) => n),
    one,
    { concurrency: "unbounded" }
  )
