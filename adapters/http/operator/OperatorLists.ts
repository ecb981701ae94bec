/**
 * Accounts, disputes for a decision, payouts, claims, chargebacks and jobs over HTTP, and their summary.
 */
import { DateTime, Effect, Option } from "effect"
import { AccountStore, type Consumer, type Provider } from "../../../domain/accounts/Account.ts"
import { type Claim, Claims, ClaimStore } from "../../../domain/earnings/Claims.ts"
import { ProviderMoney } from "../../../domain/earnings/Earnings.ts"
import { isOpen, PayeeStore, type Payout, type PayoutState, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { type Chargeback, ChargebackStore, type Freeze, FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { Health, type Heartbeat, Heartbeats } from "../../../domain/platform/Health.ts"
import { PlatformFees } from "../../../domain/providers/PlatformFees.ts"
import { ConsumerId, type ProviderId } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX, pageOf, type PageRequest } from "../../../domain/shared/Page.ts"
import { format } from "../../../domain/shared/Time.ts"
import { type Dispute, DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { Disputes } from "../../../domain/trust/Disputes.ts"
import { accountNames } from "../accounts/Accounts.ts"
import { feeChangesView, feeView } from "../catalog/ToolViews.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { BadRequest, NotFound } from "../pipeline/Failures.ts"
import { routesWith } from "../pipeline/Route.ts"
import { READS_AT_ONCE_MAX } from "../pipeline/Reads.ts"
import { RateLimits } from "../pipeline/Stages.ts"
import { fieldsOf, freezeOf } from "../pipeline/Views.ts"
import { healthView, solvencyReport } from "../platform/Platform.ts"
import { disputeProblems, disputeView, filerView } from "../trust/Disputes.ts"
import { OperatorApi } from "./OperatorApi.ts"
import { OperatorListsApi } from "./OperatorListsApi.ts"

// Payouts, claims, chargebacks and jobs as the operator sees them.

const chargebackView = (one: Chargeback, consumerName: string) => ({
  chargeback_id: one.id,
  consumer_id: one.consumerId,
  consumer_name: consumerName,
  ...fieldsOf(one, "amountCents", "state", "funds", "released", "openedAt", "updatedAt")
})

const payoutView = (payout: Payout, providerName: string) => ({
  payout_id: payout.id,
  provider_id: payout.providerId,
  provider_name: providerName,
  ...fieldsOf(payout, "amountCents", "state", "transferId", "failure", "reversedCents", "attempts"),
  next_attempt_at: isOpen(payout) ? format(payout.nextAttemptAt) : null,
  ...fieldsOf(payout, "createdAt", "paidAt")
})

const claimView = (claim: Claim, nameOf: (id: ConsumerId | ProviderId) => string) => ({
  claim_id: claim.id,
  dispute_id: claim.subject,
  debtor_id: claim.debtor ?? null,
  debtor_name: claim.debtor === undefined ? null : nameOf(claim.debtor),
  creditor_id: claim.creditor ?? null,
  creditor_name: claim.creditor === undefined ? null : nameOf(claim.creditor),
  amount_microcents: claim.amount,
  paid_microcents: claim.paid,
  created_at: format(claim.createdAt)
})

const jobView = ({ durationMs, failure, intervalMs, job, lastMs, late }: Heartbeat) => ({
  job,
  interval_seconds: intervalMs / 1_000,
  last_success_at: durationMs === undefined ? null : timeOf(lastMs),
  duration_ms: durationMs === undefined ? null : Math.round(durationMs * 10) / 10,
  next_run_at: timeOf(lastMs + intervalMs),
  late,
  failed_at: failure === undefined ? null : timeOf(failure.atMs),
  failure: failure?.problem ?? null
})

const timeOf = (epochMs: number) => format(DateTime.makeUnsafe(epochMs))

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

// Accounts as the operator sees them.

export const operatorAccountsRoutes = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const search = yield* AccountSearch
  const freezes = yield* FreezeStore
  const ledger = yield* Ledger
  const money = yield* ProviderMoney
  const payees = yield* PayeeStore
  const fees = yield* PlatformFees
  const claims = yield* Claims
  const disputes = yield* DisputeStore
  const chargebacks = yield* ChargebackStore

  /** Lists them in the order of their ids, which is that of their age. */
  const frozenConsumers = Effect.fnUntraced(function* ({ after, limit, offset }: PageRequest) {
    const from = after === undefined ? undefined : ConsumerId.make(after.id)
    const ids = (yield* freezes.frozen(from, offset + limit + 1)).slice(offset)
    const known = new Map((yield* search.consumersOf(ids)).map((one) => [one.id, one]))
    const total = (yield* freezes.frozen(undefined, COUNTED_MAX)).length
    const page = pageOf(ids, limit, total, (id) => ({ key: "", id }))
    return { ...page, items: page.items.flatMap((id) => known.get(id) ?? []) }
  })

  return [
    route(endpoints.consumers, function* ({ query }) {
      const isFrozen = query.frozen === "true"
      if (isFrozen && query.search !== undefined) {
        return yield* new BadRequest({ reason: "Send either `frozen` or `search`, not both." })
      }
      const list = isFrozen ? "frozen-consumers" : "consumers"
      const page = yield* pageRequest(list, query)
      if (isFrozen && page.after !== undefined && !isConsumerId(page.after.id)) {
        return yield* new BadRequest({ reason: "`cursor` must be the `next_cursor` of this same list." })
      }
      const found = yield* isFrozen ? frozenConsumers(page) : search.consumers(query.search, page)
      const frozen = yield* freezes.findAll(found.items.map(({ id }) => id))
      return {
        consumers: found.items.map((one) => consumerView(one, frozen.get(one.id))),
        ...pageFields(list, page, found)
      }
    }),
    route(endpoints.consumer, function* ({ params: { consumer_id: id } }) {
      const consumer = Option.getOrUndefined(yield* accounts.findConsumer(id))
      if (consumer === undefined) return yield* new NotFound({ what: `Consumer ${id}` })
      const wallet = yield* ledger.wallet(id)
      const { owedMicrocents } = yield* ledger.funds(id)
      const filed = yield* disputes.filedBy({ role: "consumer", ownerId: id }, yield* DateTime.now)
      return {
        ...consumerView(consumer, Option.getOrUndefined(yield* freezes.find(id))),
        ...fieldsOf(consumer, "useCase", "rateLimitRpm"),
        available_microcents: Number(wallet.available),
        held_microcents: Number(wallet.held),
        owed_microcents: Number(owedMicrocents),
        disputes_filed: filed.total,
        disputes_denied: filed.denied,
        chargebacks: (yield* chargebacks.ofConsumer(id)).map((one) => chargebackView(one, consumer.name))
      }
    }),
    route(endpoints.providers, function* ({ query }) {
      const page = yield* pageRequest("providers", query)
      const found = yield* search.providers(query.search, page)
      return { providers: found.items.map(providerView), ...pageFields("providers", page, found) }
    }),
    route(endpoints.provider, function* ({ params: { provider_id: id } }) {
      const provider = Option.getOrUndefined(yield* accounts.findProvider(id))
      if (provider === undefined) return yield* new NotFound({ what: `Provider ${id}` })
      const holdings = yield* money.holdings(id)
      const payee = Option.getOrUndefined(yield* payees.find(id))
      return {
        ...providerView(provider),
        ...feeView(yield* fees.find(id)),
        ...feeChangesView(yield* accounts.feeHistory(id)),
        description: provider.description,
        ...fieldsOf(holdings, "maturingMicrocents", "reservedMicrocents", "availableMicrocents", "frozenMicrocents"),
        owed_microcents: Number(yield* claims.owedBy(id)),
        reserve_lifted: holdings.reserveLifted,
        payout_account: payee?.status?.accountId ?? null,
        automatic_payouts: payee?.automatic ?? false
      }
    })
  ]
})

const isConsumerId = (text: string): boolean => Option.isSome(ConsumerId.makeOption(text))

const consumerView = (consumer: Consumer, freeze: Freeze | undefined) => ({
  consumer_id: consumer.id,
  ...fieldsOf(consumer, "name", "email", "createdAt"),
  ...freezeOf(freeze),
  frozen_by_operator: freeze?.byOperator ?? false
})

const providerView = (provider: Provider) => ({
  provider_id: provider.id,
  ...fieldsOf(provider, "handle", "name", "email", "endpointUrl", "createdAt"),
  ...freezeOf(provider.frozen)
})

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
