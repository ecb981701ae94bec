/**
 * Accounts as the operator sees them.
 */
import { DateTime, Effect, Option } from "effect"
import { AccountStore, type Consumer, type Provider } from "../../../domain/accounts/Account.ts"
import { Claims } from "../../../domain/earnings/Claims.ts"
import { PayeeStore } from "../../../domain/earnings/PayoutStore.ts"
import { ProviderMoney } from "../../../domain/earnings/ProviderMoney.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { ChargebackStore, type Freeze, FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { PlatformFees } from "../../../domain/providers/PlatformFees.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX, pageOf, type PageRequest } from "../../../domain/shared/Page.ts"
import { format } from "../../../domain/shared/Time.ts"
import { DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { feeChangesView, feeView } from "../catalog/ToolViews.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { BadRequest, NotFound } from "../pipeline/Failures.ts"
import { route } from "../pipeline/Route.ts"
import { OperatorListsApi } from "./OperatorListsApi.ts"
import { chargebackView } from "./OperatorViews.ts"

const { endpoints } = OperatorListsApi

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

  /** In the order of their ids, which is that of their age. */
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
        use_case: consumer.useCase,
        rate_limit_rpm: consumer.rateLimitRpm,
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
        maturing_microcents: Number(holdings.maturingMicrocents),
        reserved_microcents: Number(holdings.reservedMicrocents),
        available_microcents: Number(holdings.availableMicrocents),
        frozen_microcents: Number(holdings.frozenMicrocents),
        owed_microcents: Number(yield* claims.owedBy(id)),
        reserve_lifted: holdings.reserveLifted,
        payout_account: payee?.status?.accountId ?? null,
        automatic_payouts: payee?.automatic ?? false
      }
    })
  ]
})

const isConsumerId = (text: string): boolean => Option.isSome(ConsumerId.makeOption(text))

const consumerView = ({ createdAt, email, id, name }: Consumer, freeze: Freeze | undefined) => ({
  consumer_id: id,
  name,
  email,
  created_at: format(createdAt),
  frozen: freeze !== undefined,
  frozen_reason: freeze?.reason ?? null,
  frozen_at: freeze === undefined ? null : format(freeze.at),
  frozen_by_operator: freeze?.byOperator ?? false
})

const providerView = ({ createdAt, email, endpointUrl, frozen, handle, id, name }: Provider) => ({
  provider_id: id,
  handle,
  name,
  email,
  endpoint_url: endpointUrl,
  created_at: format(createdAt),
  frozen: frozen !== undefined,
  frozen_reason: frozen?.reason ?? null,
  frozen_at: frozen === undefined ? null : format(frozen.at)
})
