/**
 * Loading a balance. In dry run the money is invented and says so; real payments need a processor.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { fromCents } from "../shared/Microcents.ts"
import { Ledger } from "./Ledger.ts"

export const LOAD_CENTS_MIN = 100
export const LOAD_CENTS_MAX = 100_000

/** How balances are loaded: pretended, or not at all until a payment processor is configured. */
export const PaymentsMode = Context.Reference<"dry_run" | "none">("agent-tool-billing/domain/ledger/PaymentsMode", {
  defaultValue: () => "dry_run"
})

export class PaymentsNotConfigured extends Schema.TaggedError<PaymentsNotConfigured>()("PaymentsNotConfigured", {}) {
  override get message() {
    return "No payment processor is configured here, so balances cannot be loaded. Set PAYMENTS=dry_run to try it out."
  }
}

export interface Loaded {
  readonly previousMicrocents: bigint
  readonly addedMicrocents: bigint
  readonly newMicrocents: bigint
}

export class Loads extends Context.Service<
  Loads,
  {
    load(consumerId: ConsumerId, cents: number): Effect.Effect<Loaded, PaymentsNotConfigured>
  }
>()("agent-tool-billing/domain/ledger/Loads") {
  static readonly layer = Layer.effect(
    Loads,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const entropy = yield* Entropy
      const mode = yield* PaymentsMode

      const load = Effect.fn("Loads.load")(function* (consumerId: ConsumerId, cents: number) {
        if (mode === "none") return yield* new PaymentsNotConfigured()
        const amount = fromCents(cents)
        const reference = `dry_run:${yield* entropy.uuid}`
        yield* ledger.load({ consumerId, amount, reference }).pipe(Effect.orDie)
        const { credits, debits } = yield* ledger.wallet(consumerId)
        const balance = credits - debits
        return { previousMicrocents: balance - amount, addedMicrocents: amount, newMicrocents: balance }
      })

      return Loads.of({ load })
    })
  )
}
