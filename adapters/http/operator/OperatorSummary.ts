/**
 * The operator's summary over HTTP.
 */
import { DateTime, Effect } from "effect"
import { type PayoutState, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { Health } from "../../../domain/platform/Health.ts"
import { COUNTED_MAX } from "../../../domain/shared/Page.ts"
import { format } from "../../../domain/shared/Time.ts"
import { Disputes } from "../../../domain/trust/Disputes.ts"
import { route } from "../pipeline/Route.ts"
import { RateLimits, READS_AT_ONCE_MAX } from "../pipeline/Stages.ts"
import { healthView, solvencyReport } from "../platform/Platform.ts"
import { OperatorApi } from "./OperatorApi.ts"

/** For the first row and the total. */
const FIRST = { limit: 1, offset: 0, after: undefined }

export const operatorSummaryRoutes = Effect.gen(function* () {
  const solvencyNow = yield* solvencyReport
  const disputes = yield* Disputes
  const freezes = yield* FreezeStore
  const payouts = yield* PayoutStore
  const health = yield* Health
  const limits = yield* RateLimits

  const payoutsIn = (state: PayoutState) =>
    Effect.map(payouts.list({ state, providerId: undefined }, FIRST), ({ total }) => total)

  return [
    route(OperatorApi.endpoints.summary, function* () {
      const found = yield* Effect.all(
        {
          solvency: solvencyNow(),
          contested: disputes.contested(FIRST),
          frozen: freezes.frozen(undefined, COUNTED_MAX),
          requested: payoutsIn("requested"),
          transferring: payoutsIn("transferring"),
          failed: payoutsIn("failed"),
          report: health.check([limits.probe])
        },
        { concurrency: READS_AT_ONCE_MAX }
      )
      const decideBy = found.contested.items[0]?.decideBy
      return {
        solvency: found.solvency,
        waiting: {
          disputes: found.contested.total,
          next_decision_at: decideBy === undefined ? null : format(decideBy),
          frozen_consumers: found.frozen.length,
          open_payouts: found.requested + found.transferring,
          failed_payouts: found.failed
        },
        health: healthView(found.report),
        timestamp: format(yield* DateTime.now)
      }
    })
  ]
})
