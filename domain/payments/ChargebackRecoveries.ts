/**
 * Prevents that a call is recovered twice: while a chargeback covers a load, calls that were settled since that load
 * was credited cannot be disputed.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { ChargebackStore } from "./AccountFreezes.ts"
import { LoadStore } from "./Loads.ts"

/** The bank already gave the payment back, so the call's cost cannot be refunded a second time. */
export class RecoveredByChargeback extends Schema.TaggedError<RecoveredByChargeback>()("RecoveredByChargeback", {
  chargebackId: Schema.String
}) {
  override get message() {
    return (
      `This call cannot be disputed: the payment that covers it was charged back (${this.chargebackId}). You can dispute ` +
      `it if the chargeback is won.`
    )
  }
}

export class ChargebackRecoveries extends Context.Service<
  ChargebackRecoveries,
  {
    /** Fails if a chargeback covers a call of this consumer settled at that time. */
    mayBeDisputed(
      consumerId: ConsumerId,
      settledAt: DateTime.Utc
    ): Effect.Effect<void, RecoveredByChargeback | StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/ChargebackRecoveries") {
  static readonly layer = Layer.effect(
    ChargebackRecoveries,
    Effect.gen(function* () {
      const chargebacks = yield* ChargebackStore
      const loads = yield* LoadStore

      const mayBeDisputed = Effect.fn("ChargebackRecoveries.mayBeDisputed")(function* (
        consumerId: ConsumerId,
        settledAt: DateTime.Utc
      ) {
        for (const { funds, id, loadId } of yield* chargebacks.ofConsumer(consumerId)) {
          if (funds !== "withdrawn") continue
          const load = Option.getOrUndefined(yield* loads.find(loadId))
          const creditedAt = load?.paidAt ?? load?.createdAt
          if (creditedAt !== undefined && DateTime.isGreaterThanOrEqualTo(settledAt, creditedAt)) {
            return yield* new RecoveredByChargeback({ chargebackId: id })
          }
        }
      })

      return ChargebackRecoveries.of({ mayBeDisputed })
    })
  )
}
