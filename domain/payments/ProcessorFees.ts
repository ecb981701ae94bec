/**
 * The processor's fees for payments and chargebacks. Platform funds pay them; what they do not cover is a recorded
 * loss.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Ledger, legsOf } from "../ledger/Ledger.ts"
import { type PaymentFailed, PaymentGateway } from "../ledger/PaymentGateway.ts"
import type { Leg } from "../ledger/Transfer.ts"
import type { LoadId } from "../shared/Ids.ts"
import { fromCents, Microcents } from "../shared/Microcents.ts"
import { round } from "../shared/Round.ts"
import { dieUnlessUnavailable, type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { type Load, LoadStore } from "./Loads.ts"

export const FEES_ASKED_AT_ONCE_MAX = 100
/** A fee that is not known by then is only requested when it is needed. */
const DAYS_ASKED = 30
const REPLANS_MAX = 10

export class ProcessorFees extends Context.Service<
  ProcessorFees,
  {
    /** Charges once per reference. Below zero: the processor returned it. */
    charge(reference: string, cents: number): Effect.Effect<void, StoreUnavailable>
    /** Asks for the fee of a paid load and records it; undefined if the processor does not know it yet. */
    ofLoad(load: Load): Effect.Effect<number | undefined, PaymentFailed | StoreUnavailable>
    /** One round over loads with unknown fees; returns how many fees were recorded. */
    readonly work: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/ProcessorFees") {
  static readonly layer = Layer.effect(
    ProcessorFees,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const gateway = yield* PaymentGateway
      const store = yield* LoadStore
      const { atomically } = yield* UnitOfWork

      const chargeOnce = Effect.fnUntraced(function* (reference: string, cents: number) {
        if (cents === 0 || (yield* ledger.byReference(reference)).length > 0) return
        const funds = yield* ledger.platformFunds
        yield* ledger.post({ reference, legs: feeLegs(cents, funds) })
      })

      /** Platform funds may have changed since they were read: then read them again. */
      const charge = Effect.fn("ProcessorFees.charge")((reference: string, cents: number) =>
        atomically(chargeOnce(reference, cents)).pipe(
          Effect.retry({ while: (error) => error._tag !== "StoreUnavailable", times: REPLANS_MAX }),
          dieUnlessUnavailable
        )
      )

      const record = Effect.fnUntraced(function* (id: LoadId, feeCents: number) {
        const load = Option.getOrThrow(yield* store.lock(id))
        if (load.feeCents !== undefined) return load.feeCents
        yield* charge(`load:${id}:processor_fee`, feeCents)
        yield* store.update({ ...load, feeCents })
        return feeCents
      }, atomically)

      const ofLoad = Effect.fn("ProcessorFees.ofLoad")(function* (load: Load) {
        if (load.feeCents !== undefined || load.paymentId === undefined) return load.feeCents
        const cents = yield* gateway.paymentFee(load.paymentId)
        return cents === undefined ? undefined : yield* record(load.id, cents)
      })

      const work = Effect.gen(function* () {
        const since = DateTime.subtract(yield* DateTime.now, { days: DAYS_ASKED })
        const loads = yield* store.withoutFee(since, FEES_ASKED_AT_ONCE_MAX)
        const fees = yield* round(loads, {
          failing: "Processor fees that could not be recorded",
          work: (load) =>
            ofLoad(load).pipe(
              Effect.catchTag("PaymentFailed", (error) =>
                Effect.as(Effect.logWarning(`The fee of load ${load.id} is not known yet: ${error.message}`), undefined)
              )
            )
        })
        return fees.filter((fee) => fee !== undefined).length
      }).pipe(Effect.withSpan("ProcessorFees.work"))

      return ProcessorFees.of({ charge, ofLoad, work })
    })
  )
}

const feeLegs = (cents: number, platformFunds: bigint): ReadonlyArray<Leg> => {
  const amount = fromCents(Math.abs(cents))
  if (cents < 0) return [{ kind: "processor_fee", debit: "processor", credit: "platform_fee", amount }]
  const paid = platformFunds < amount ? platformFunds : amount
  return legsOf(
    { kind: "processor_fee", debit: "platform_fee", credit: "processor", amount: Microcents.make(paid) },
    { kind: "processor_fee", debit: "loss", credit: "processor", amount: Microcents.make(amount - paid) }
  )
}
