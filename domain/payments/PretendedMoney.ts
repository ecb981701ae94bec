/**
 * Money that nobody paid, as a dry run loads it. It must never be paid out: the same books hold either pretended money or
 * money that was paid.
 */
import { Effect, Schema } from "effect"
import { LedgerStore } from "../ledger/LedgerStore.ts"

/** How the references of pretended loads begin. */
export const PRETENDED = "dry_run:"

export class PretendedMoney extends Schema.TaggedError<PretendedMoney>()("PretendedMoney", {}) {
  override get message() {
    return "Balances here were loaded in a dry run: nobody paid for them, and with payments they could be paid out. Begin with an empty database or data folder, or go on with PAYMENTS=dry_run."
  }
}

/** Before a processor is put to these books. */
export const onlyPaidMoney = Effect.gen(function* () {
  const ledger = yield* LedgerStore
  if (yield* ledger.hasReferences(PRETENDED)) return yield* new PretendedMoney()
})
