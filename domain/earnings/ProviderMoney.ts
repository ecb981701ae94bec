/**
 * A provider's money by state.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import { Ledger } from "../ledger/Ledger.ts"
import type { ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { CurrentEarningsPolicy, type EarningStates, earningStatesOf } from "./EarningStates.ts"
import { PayeeStore } from "./PayoutStore.ts"

/** A provider's earnings that were not paid out, by what they wait for. */
export interface ProviderHoldings extends EarningStates {
  readonly frozenMicrocents: bigint
  /** All four states together. */
  readonly pendingMicrocents: bigint
  readonly reserveLifted: boolean
  /** Nothing is paid out, whatever is available. */
  readonly isFrozen: boolean
}

export class ProviderMoney extends Context.Service<
  ProviderMoney,
  {
    holdings(providerId: ProviderId): Effect.Effect<ProviderHoldings, StoreUnavailable>
    /** The operator lifts or restores the rolling reserve of a provider. */
    setReserveLifted(providerId: ProviderId, lifted: boolean): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/ProviderMoney") {
  static readonly layer = Layer.effect(
    ProviderMoney,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const accounts = yield* AccountStore
      const payees = yield* PayeeStore
      const policy = yield* CurrentEarningsPolicy

      const holdings = Effect.fn("ProviderMoney.holdings")(function* (providerId: ProviderId) {
        const now = yield* DateTime.now
        const lots = yield* ledger.lots(providerId)
        const { frozen } = yield* ledger.provider(providerId)
        const payee = Option.getOrUndefined(yield* payees.find(providerId))
        const provider = Option.getOrUndefined(yield* accounts.findProvider(providerId))
        const reserveLifted = payee?.reserveLifted ?? false
        const states = earningStatesOf(lots, { policy, registeredAt: provider?.createdAt ?? now, reserveLifted }, now)
        const { availableMicrocents, maturingMicrocents, reservedMicrocents } = states
        return {
          ...states,
          frozenMicrocents: frozen,
          pendingMicrocents: maturingMicrocents + reservedMicrocents + availableMicrocents + frozen,
          reserveLifted,
          isFrozen: provider?.frozen !== undefined
        }
      })

      const setReserveLifted = Effect.fn("ProviderMoney.setReserveLifted")(function* (
        providerId: ProviderId,
        lifted: boolean
      ) {
        yield* payees.putReserveLifted(providerId, lifted, yield* DateTime.now)
      })

      return ProviderMoney.of({ holdings, setReserveLifted })
    })
  )
}
