/**
 * The platform's own money: fees that were not withdrawn, and the operator's deposits. Credits, promotions, corrections
 * and the platform's part of refunds draw on it, never on money of others.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { formatDollars, type Microcents } from "../shared/Microcents.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { Ledger, type Solvency } from "./Ledger.ts"
import type { DuplicateReference, InsufficientBalance, Posted } from "./LedgerStore.ts"

/** The operator moves its own money into or out of the ledger. */
export interface FundsMovement {
  /** Names the movement in the operator's accounting. A repetition is not posted again. */
  readonly reference: string
  readonly amount: Microcents
}

/** The platform has less money of its own than the order needs. Providers' and consumers' money is never used. */
export class FundsTooLow extends Schema.TaggedError<FundsTooLow>()("FundsTooLow", {
  neededMicrocents: Schema.BigInt,
  availableMicrocents: Schema.BigInt
}) {
  override get message() {
    return `Insufficient platform funds: ${formatDollars(this.neededMicrocents)} is needed and ${formatDollars(this.availableMicrocents)} is available. Record a deposit first.`
  }
}

/** Maps a rejection of a posting that only platform funds can be too low for. */
export const fundsTooLow = ({ availableMicrocents, neededMicrocents }: InsufficientBalance) =>
  Effect.fail(new FundsTooLow({ availableMicrocents, neededMicrocents }))

/** The operator covers at most the losses that are recorded. */
export class NoSuchLoss extends Schema.TaggedError<NoSuchLoss>()("NoSuchLoss", {
  amountMicrocents: Schema.BigInt,
  shortfallMicrocents: Schema.BigInt
}) {
  override get message() {
    return `Amount above the recorded losses: ${formatDollars(this.amountMicrocents)} was requested and ${formatDollars(this.shortfallMicrocents)} is not covered.`
  }
}

export class PlatformFunds extends Context.Service<
  PlatformFunds,
  {
    /** The operator added its own money to the processor's account. */
    deposit(movement: FundsMovement): Effect.Effect<Posted, DuplicateReference | StoreUnavailable>
    /** The operator withdrew platform funds. */
    withdraw(movement: FundsMovement): Effect.Effect<Posted, DuplicateReference | FundsTooLow | StoreUnavailable>
    /** Platform funds cover a recorded loss. */
    coverLosses(
      movement: FundsMovement
    ): Effect.Effect<Posted, DuplicateReference | FundsTooLow | NoSuchLoss | StoreUnavailable>
    readonly solvency: Effect.Effect<Solvency, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/PlatformFunds") {
  static readonly layer = Layer.effect(
    PlatformFunds,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork

      const solvency = Effect.map(ledger.trialBalance, (balance) => balance.solvency)

      const deposit = Effect.fn("PlatformFunds.deposit")(({ amount, reference }: FundsMovement) =>
        ledger
          .post({
            reference: `deposit:${reference}`,
            legs: [{ kind: "deposit", debit: "processor", credit: "platform_fee", amount }]
          })
          .pipe(Effect.catchTag("InsufficientBalance", Effect.die))
      )

      const withdraw = Effect.fn("PlatformFunds.withdraw")(({ amount, reference }: FundsMovement) =>
        ledger
          .post({
            reference: `withdrawal:${reference}`,
            legs: [{ kind: "withdrawal", debit: "platform_fee", credit: "processor", amount }]
          })
          .pipe(Effect.catchTag("InsufficientBalance", fundsTooLow))
      )

      const coverLosses = Effect.fn("PlatformFunds.coverLosses")(function* ({ amount, reference }: FundsMovement) {
        const known = yield* ledger.byReference(`cover:${reference}`)
        const { shortfallMicrocents } = yield* solvency
        if (known.length === 0 && amount > shortfallMicrocents) {
          return yield* new NoSuchLoss({ amountMicrocents: amount, shortfallMicrocents })
        }
        return yield* ledger
          .post({
            reference: `cover:${reference}`,
            legs: [{ kind: "loss_cover", debit: "platform_fee", credit: "loss", amount }]
          })
          .pipe(Effect.catchTag("InsufficientBalance", fundsTooLow))
      }, atomically)

      return PlatformFunds.of({ deposit, withdraw, coverLosses, solvency })
    })
  )
}
