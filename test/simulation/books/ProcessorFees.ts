/**
 * What the processor kept for payments and chargebacks, as far as the service has recorded it. The processor determines each
 * fee.
 */
import { Context, Effect, Option } from "effect"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { LoadStore } from "../../../domain/payments/Loads.ts"
import { wrong } from "../world/Asking.ts"
import { CHARGEBACK_FEE_CENTS, feeIdOf, paymentFeeCents } from "../parts/Processor.ts"
import type { World } from "../world/World.ts"

const CENT = 10_000n

export const makeFeesKnown = ({ processor, stores }: World) => {
  const loads = Context.get(stores, LoadStore)
  const ledger = Context.get(stores, LedgerStore)
  const known = new Set<string>()
  let sum = 0n

  const ofPayments = Effect.gen(function* () {
    for (const { amountCents, loadId, state } of processor.checkouts.values()) {
      if (state !== "paid" || known.has(loadId)) continue
      const feeCents = Option.getOrUndefined(yield* loads.find(loadId))?.feeCents
      if (feeCents === undefined) continue
      const kept = paymentFeeCents(amountCents)
      if (feeCents !== kept) return yield* wrong("fees are known", `${loadId}: ${feeCents}, the processor kept ${kept}`)
      known.add(loadId)
      sum += BigInt(feeCents) * CENT
    }
  })

  const ofChargebacks = Effect.gen(function* () {
    for (const { cause, id, takenBy } of processor.goneBack.values()) {
      if (cause !== "dispute" || known.has(id) || !processor.heard.has(takenBy)) continue
      if ((yield* ledger.byReference(`dispute:${id}:fee:${feeIdOf(id)}`)).length === 0) continue
      known.add(id)
      sum += BigInt(CHARGEBACK_FEE_CENTS) * CENT
    }
  })

  return Effect.gen(function* () {
    yield* ofPayments
    yield* ofChargebacks
    return { sum, known }
  })
}
