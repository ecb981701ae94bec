/**
 * Disputes for a decision, payouts, claims, chargebacks and jobs over HTTP.
 */
import { DateTime, Effect } from "effect"
import { ChargebackStore } from "../../../domain/payments/ChargebackStore.ts"
import { PayoutStore } from "../../../domain/payouts/PayoutStore.ts"
import { Heartbeats } from "../../../domain/platform/Heartbeats.ts"
import { Claims } from "../../../domain/refunds/Claims.ts"
import { ClaimStore } from "../../../domain/refunds/ClaimStore.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import { Disputes } from "../../../domain/trust/Disputes.ts"
import { OperatorListsApi } from "../api/OperatorListsApi.ts"
import { pageFields, pageRequest } from "../pipeline/Cursor.ts"
import { route } from "../pipeline/Route.ts"
import { disputeView, filerView } from "./DisputeViews.ts"
import { chargebackView, claimView, jobView, payoutView } from "./OperatorViews.ts"

const { endpoints } = OperatorListsApi

export const operatorListsRoutes = Effect.gen(function* () {
  const disputes = yield* Disputes
  const claims = yield* Claims
  const claimStore = yield* ClaimStore
  const payouts = yield* PayoutStore
  const chargebacks = yield* ChargebackStore
  const heartbeats = yield* Heartbeats

  return [
    route(endpoints.disputes, function* ({ query }) {
      const list = query.status === undefined ? "contested-disputes" : "disputes"
      const page = yield* pageRequest(list, query)
      const found = yield* query.status === undefined
        ? disputes.contested(page)
        : disputes.list(undefined, query.status, page)
      const owed = yield* claims.ofSubjects(found.items.map(({ id }) => id))
      return {
        disputes: found.items.map((one) => disputeView(one, owed.get(one.id))),
        ...pageFields(list, page, found)
      }
    }),
    route(endpoints.dispute, function* ({ params: { id } }) {
      const dispute = yield* disputes.find(id)
      const details = filerView(yield* disputes.recordOf(dispute))
      return { ...disputeView(dispute, (yield* claims.ofSubjects([id])).get(id)), details }
    }),
    route(endpoints.payouts, function* ({ query }) {
      const page = yield* pageRequest("payouts", query)
      const found = yield* payouts.list({ state: query.state, providerId: query.provider_id }, page)
      return { payouts: found.items.map(payoutView), ...pageFields("payouts", page, found) }
    }),
    route(endpoints.claims, function* ({ query }) {
      const page = yield* pageRequest("claims", query)
      const found = yield* claimStore.list(query.open === "true", page)
      return { claims: found.items.map(claimView), ...pageFields("claims", page, found) }
    }),
    route(endpoints.chargebacks, function* ({ query }) {
      const page = yield* pageRequest("chargebacks", query)
      const found = yield* chargebacks.list(page)
      return { chargebacks: found.items.map(chargebackView), ...pageFields("chargebacks", page, found) }
    }),
    route(endpoints.jobs, function* () {
      return { jobs: (yield* heartbeats.read).map(jobView), timestamp: format(yield* DateTime.now) }
    })
  ]
})
