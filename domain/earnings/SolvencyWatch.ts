/**
 * Checks solvency periodically, so that metrics and alerts can report it without reading the ledger.
 */
import { Context, Effect, Layer } from "effect"
import type { Solvency } from "../ledger/Ledger.ts"
import { PlatformFunds } from "../ledger/PlatformFunds.ts"
import { formatAmount } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { Claims, type ClaimTotals } from "./Claims.ts"

/** Says whether received money covers all balances, with the claims that are still to be paid. */
export interface SolvencyReading extends Solvency {
  readonly claims: ClaimTotals
}

export class SolvencyWatch extends Context.Service<
  SolvencyWatch,
  {
    /** Reads the whole ledger. Logs an error if spendable money is unbacked, a warning if there is a shortfall. */
    readonly check: Effect.Effect<SolvencyReading, StoreUnavailable>
    /** Undefined before the first check. */
    readonly last: Effect.Effect<SolvencyReading | undefined>
  }
>()("agent-tool-billing/domain/earnings/SolvencyWatch") {
  static readonly layer = Layer.effect(
    SolvencyWatch,
    Effect.gen(function* () {
      const funds = yield* PlatformFunds
      const claims = yield* Claims
      let last: SolvencyReading | undefined

      const check = Effect.gen(function* () {
        const reading = { ...(yield* funds.solvency), claims: yield* claims.totals }
        last = reading
        const { shortfallMicrocents, unbackedMicrocents } = reading
        if (unbackedMicrocents > 0n) {
          yield* Effect.logError(
            `${formatAmount(unbackedMicrocents)} can be spent or withdrawn and was never received. Stop payouts and run \`audit\`.`
          )
        }
        if (shortfallMicrocents > 0n) {
          yield* Effect.logWarning(
            `Recorded losses of ${formatAmount(shortfallMicrocents)} are not covered. Record a deposit of the operator and cover them.`
          )
        }
        return reading
      }).pipe(Effect.withSpan("SolvencyWatch.check"))

      return SolvencyWatch.of({ check, last: Effect.sync(() => last) })
    })
  )
}
