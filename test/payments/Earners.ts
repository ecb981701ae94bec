/**
 * Providers with earnings, and what became of their payouts.
 */
import { Effect } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { PlatformFunds } from "../../domain/ledger/PlatformFunds.ts"
import { Payouts } from "../../domain/earnings/Payouts.ts"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { fromCents, Microcents } from "../../domain/shared/Microcents.ts"
import * as ScriptedGateway from "../../testing/ScriptedGateway.ts"
import { aProvider } from "../support/market/Market.ts"

export const CENTS = 1_234
export const REST = 5_678n

/** A provider that has earned $12.34 and a fraction, and can be paid. */
export const anEarner = Effect.gen(function* () {
  const providerId = ProviderId.make((yield* aProvider()).id)
  yield* earn(providerId, Microcents.make(fromCents(CENTS) + REST))
  yield* (yield* Payouts).connect(providerId, { returnUrl: "https://a.example", refreshUrl: "https://a.example" })
  return providerId
})

export const earn = (providerId: ProviderId, amount: Microcents) =>
  Effect.gen(function* () {
    const reference = `earned:${providerId}:${amount}`
    yield* (yield* PlatformFunds).deposit({ amount, reference })
    yield* (yield* Ledger).adjust({ owner: { providerId }, direction: "credit", amount, reference })
  })

export const balanceOf = (providerId: ProviderId) =>
  Effect.flatMap(Ledger, (ledger) => Effect.map(ledger.provider(providerId), ({ balance }) => balance))

export const statesOf = (providerId: ProviderId) =>
  Effect.flatMap(Payouts, (payouts) =>
    Effect.map(payouts.history(providerId), (history) => history.map(({ state }) => state))
  )

export const transfersMade = Effect.map(ScriptedGateway.GatewayScript, ({ orders }) => orders.transfer)
