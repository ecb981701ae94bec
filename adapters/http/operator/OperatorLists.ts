/**
 * Disputes for a decision, payouts, claims, chargebacks and jobs over HTTP.
 */
import { DateTime, Effect } from "effect"
import { Claims, ClaimStore } from "../../../domain/earnings/Claims.ts"
import { PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { ChargebackStore } from "../../../domain/payments/AccountFreezes.ts"
import { Heartbeats } from "../../../domain/platform/Health.ts"
import { format } from "../../../domain/shared/Time.ts"
import type { Dispute } from "../../../domain/trust/DisputeStore.ts"
import { Disputes } from "../../../domain/trust/Disputes.ts"
import { accountNames } from "../accounts/Accounts.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { routesWith } from "../pipeline/Route.ts"
import { disputeProblems, disputeView, filerView } from "../trust/Disputes.ts"
import { OperatorListsApi } from "./OperatorListsApi.ts"
import { chargebackView, claimView, jobView, payoutView } from "./OperatorViews.ts"

const { route } = routesWith(disputeProblems)

const { endpoints } = OperatorListsApi

export const operatorListsRoutes = Effect.gen(function* () {
  const disputes = yield* Disputes
  const claims = yield* Claims
  const claimStore = yield* ClaimStore
  const payouts = yield* PayoutStore
  const chargebacks = yield* ChargebackStore
  const heartbeats = yield* Heartbeats
  const namesOf = yield* accountNames

  const namesOfParties = (all: ReadonlyArray<Dispute>) =>
    namesOf({
      consumers: all.map(({ consumerId }) => consumerId),
      providers: all.map(({ providerId }) => providerId)
    })

  return [
    route(endpoints.disputes, function* ({ query }) {
      const list = query.status === undefined ? "contested-disputes" : "disputes"
      const page = yield* pageRequest(list, query)
      const found = yield* query.status === undefined
        ? disputes.contested(page)
        : disputes.list(undefined, query.status, page)
      const owed = yield* claims.ofSubjects(found.items.map(({ id }) => id))
      const nameOf = yield* namesOfParties(found.items)
      return {
        disputes: found.items.map((one) => ({ ...disputeView(one, owed.get(one.id)), ...partiesOf(one, nameOf) })),
        ...pageFields(list, page, found)
      }
    }),
    route(endpoints.dispute, function* ({ params: { id } }) {
      const dispute = yield* disputes.find(id)
      const details = filerView(yield* disputes.recordOf(dispute))
      const nameOf = yield* namesOfParties([dispute])
      return {
        ...disputeView(dispute, (yield* claims.ofSubjects([id])).get(id)),
        ...partiesOf(dispute, nameOf),
        details
      }
    }),
    route(endpoints.payouts, function* ({ query }) {
      const page = yield* pageRequest("payouts", query)
      const found = yield* payouts.list({ state: query.state, providerId: query.provider_id }, page)
      const nameOf = yield* namesOf({ providers: found.items.map(({ providerId }) => providerId) })
      return {
        payouts: found.items.map((one) => payoutView(one, nameOf(one.providerId))),
        ...pageFields("payouts", page, found)
      }
    }),
    route(endpoints.claims, function* ({ query }) {
      const page = yield* pageRequest("claims", query)
      const found = yield* claimStore.list(query.open === "true", page)
      const nameOf = yield* namesOf({
        consumers: found.items.map(({ creditor }) => creditor),
        providers: found.items.map(({ debtor }) => debtor)
      })
      return {
        claims: found.items.map((one) => claimView(one, nameOf)),
        ...pageFields("claims", page, found)
      }
    }),
    route(endpoints.chargebacks, function* ({ query }) {
      const page = yield* pageRequest("chargebacks", query)
      const found = yield* chargebacks.list(page)
      const nameOf = yield* namesOf({ consumers: found.items.map(({ consumerId }) => consumerId) })
      return {
        chargebacks: found.items.map((one) => chargebackView(one, nameOf(one.consumerId))),
        ...pageFields("chargebacks", page, found)
      }
    }),
    route(endpoints.jobs, function* () {
      return { jobs: (yield* heartbeats.read).map(jobView), timestamp: format(yield* DateTime.now) }
    })
  ]
})

type NameOf = (id: Dispute["consumerId"] | Dispute["providerId"]) => string

const partiesOf = ({ consumerId, providerId }: Dispute, nameOf: NameOf) => ({
  consumer_name: nameOf(consumerId),
  provider_name: nameOf(providerId)
})
