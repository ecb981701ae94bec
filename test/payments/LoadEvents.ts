/**
 * A load of a consumer and every event that a processor may report about it.
 */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { AccountFreezes } from "../../domain/payments/AccountFreezes.ts"
import { Loads } from "../../domain/payments/Loads.ts"
import { type CheckoutStatus } from "../../domain/ledger/PaymentGateway.ts"
import { ConsumerId } from "../../domain/shared/Ids.ts"
import { aConsumer } from "../support/market/Market.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"

export const CENTS = 2_000

let events = 0
export const event = <E extends object>(body: E) => ({
  eventId: `evt_${++events}`,
  occurredAt: DateTime.makeUnsafe(0),
  ...body
})

export const aLoad = Effect.gen(function* () {
  const consumerId = ConsumerId.make((yield* aConsumer()).id)
  const loaded = yield* (yield* Loads).load({ consumerId, amountCents: CENTS, key: undefined })
  if (loaded.mode !== "live") return yield* Effect.die("not live")
  const { checkouts, loadsOfPayments } = yield* ScriptedGateway.GatewayScript
  const checkout: CheckoutStatus = { ...checkouts.get(loaded.sessionId)!, paymentId: `pi_${loaded.sessionId}` }
  loadsOfPayments.set(checkout.paymentId!, checkout.loadId)
  return { consumerId, checkout, paymentId: checkout.paymentId! }
})
export type ALoad = Effect.Success<typeof aLoad>

export const newsOf = ({ checkout, paymentId }: ALoad) => ({
  completedUnpaid: event({ _tag: "CheckoutChanged" as const, checkout }),
  completedPaid: event({ _tag: "CheckoutChanged" as const, checkout: { ...checkout, state: "paid" as const } }),
  asyncPaid: event({ _tag: "CheckoutChanged" as const, checkout: { ...checkout, state: "paid" as const } }),
  asyncFailed: event({ _tag: "CheckoutChanged" as const, checkout: { ...checkout, state: "failed" as const } }),
  expired: event({ _tag: "CheckoutChanged" as const, checkout: { ...checkout, state: "expired" as const } }),
  refunded: event({
    _tag: "PaymentRefunded" as const,
    refundId: `re_${paymentId}`,
    paymentId,
    amountCents: 500,
    state: "settled" as const
  }),
  refundFailed: event({
    _tag: "PaymentRefunded" as const,
    refundId: `re_${paymentId}`,
    paymentId,
    amountCents: 500,
    state: "failed" as const
  }),
  opened: event({
    _tag: "PaymentDisputed" as const,
    disputeId: `dp_${paymentId}`,
    paymentId,
    amountCents: CENTS,
    state: "opened" as const
  }),
  won: event({
    _tag: "PaymentDisputed" as const,
    disputeId: `dp_${paymentId}`,
    paymentId,
    amountCents: CENTS,
    state: "won" as const
  }),
  lost: event({
    _tag: "PaymentDisputed" as const,
    disputeId: `dp_${paymentId}`,
    paymentId,
    amountCents: CENTS,
    state: "lost" as const
  }),
  withdrawn: event({
    _tag: "PaymentDisputed" as const,
    disputeId: `dp_${paymentId}`,
    paymentId,
    amountCents: CENTS,
    state: "withdrawn" as const
  }),
  reinstated: event({
    _tag: "PaymentDisputed" as const,
    disputeId: `dp_${paymentId}`,
    paymentId,
    amountCents: CENTS,
    state: "reinstated" as const
  })
})
export type Name = keyof ReturnType<typeof newsOf>

export const CHARGEBACK: ReadonlyArray<Name> = ["opened", "withdrawn", "reinstated", "won", "lost"]

/** The consumer's balance less its debt, after these events arrived in any order. */
export const expectedCents = (names: ReadonlyArray<Name>): number => {
  const has = (name: Name) => names.includes(name)
  const paid = has("completedPaid") || has("asyncPaid") ? CENTS : 0
  const refunded = has("refunded") && !has("refundFailed") ? 500 : 0
  const taken = has("withdrawn") && !has("reinstated") ? CENTS : 0
  return paid - refunded - taken
}

/** Whether the account is frozen, after these events arrived in any order. */
export const expectedFrozen = (names: ReadonlyArray<Name>): boolean => {
  if (names.includes("won") || names.includes("reinstated")) return false
  if (names.includes("lost")) return expectedCents(names) < 0
  return names.includes("opened") || names.includes("withdrawn")
}

export const isFrozen = (consumerId: ConsumerId) =>
  Effect.gen(function* () {
    return Option.isSome(yield* (yield* AccountFreezes).find(consumerId))
  })

export const worthCents = (consumerId: ConsumerId) =>
  Effect.gen(function* () {
    const { availableMicrocents, owedMicrocents } = yield* (yield* Ledger).funds(consumerId)
    assert.isTrue(availableMicrocents >= 0n && owedMicrocents >= 0n)
    return Number(availableMicrocents - owedMicrocents) / 10_000
  })

export const ordersOfThree = (names: ReadonlyArray<Name>): ReadonlyArray<ReadonlyArray<Name>> =>
  names.flatMap((a) =>
    names.filter((b) => b !== a).flatMap((b) => names.filter((c) => c !== a && c !== b).map((c) => [a, b, c]))
  )
