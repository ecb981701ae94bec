/**
 * The operator's lists name the accounts that they are about, in one read a page.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { accountNames } from "../../../adapters/http/accounts/Accounts.ts"
import { OperatorKey } from "../../../domain/accounts/Authentication.ts"
import { ClaimId, ClaimStore } from "../../../domain/earnings/Claims.ts"
import { PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { ChargebackStore } from "../../../domain/payments/AccountFreezes.ts"
import { type Load, LoadStore } from "../../../domain/payments/Loads.ts"
import { ConsumerId, LoadId, PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { OPERATOR_KEY } from "../../support/checks/EndpointTable.ts"
import { aConsumer, aProvider, expecting, listAt, textAt, valueAt } from "../../support/market/Market.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { buy, load, offerOf } from "../../support/metering/Shop.ts"

const read = (path: string) => expecting(200, { path: `/api/v1/operator${path}`, key: OPERATOR_KEY })
const AT = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")
const AGENT = "Agent <b>& Söhne</b>"
const SHOP = 'Paper "tools"'

const rowOf = (path: string, list: string, field: string, id: string) =>
  Effect.map(read(`${path}?limit=100`), (answer) => {
    const found = listAt(answer, list).find((one) => valueAt(one, field) === id)
    assert.isDefined(found, `${id} is not in ${path}`)
    return (...fields: ReadonlyArray<string>) => fields.map((one) => valueAt(found, one))
  })

const service = memoryCore.pipe(Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR_KEY))))

it.layer(service, LIVE)("The operator's lists", (it) => {
  it.effect("name the parties of a dispute, also in its details", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const provider = yield* aProvider({ name: SHOP, endpoint_url: url })
      const consumer = yield* aConsumer({ name: AGENT })
      yield* load(consumer, 500)
      const receipt = textAt(yield* buy(consumer, yield* offerOf(provider)), "meta", "receipt_id")
      const json = { receipt_id: receipt, reason: "quality", description: "wrong" }
      const filed = yield* expecting(201, { path: "/api/v1/market/disputes", key: consumer.key, json })
      const id = textAt(filed, "dispute_id")
      const action = { action: "contest", message: "It was right." }
      yield* expecting(200, { path: `/api/v1/market/disputes/${id}/respond`, key: provider.key, json: action })
      const fields = ["consumer_name", "provider_name", "agent_id", "provider_id"]
      const expected = [AGENT, SHOP, consumer.id, provider.id]
      assert.deepStrictEqual((yield* rowOf("/disputes", "disputes", "dispute_id", id))(...fields), expected)
      const whole = (yield* read(`/disputes/${id}`)).json
      assert.deepStrictEqual(
        fields.map((field) => valueAt(whole, field)),
        expected
      )
      // The parties see no more of each other than before.
      const own = yield* expecting(200, { path: `/api/v1/market/disputes/${id}`, key: consumer.key })
      assert.notInclude(own.text, "provider_name")
    })
  )

  it.effect("name who gets a payout, who owes and is owed a claim, and whose payment was charged back", () =>
    Effect.gen(function* () {
      const provider = ProviderId.make((yield* aProvider({ name: SHOP })).id)
      const consumer = ConsumerId.make((yield* aConsumer({ name: AGENT })).id)
      const claims = yield* ClaimStore
      const claim = {
        subject: randomUUID(),
        amount: Microcents.make(500n),
        credit: Microcents.make(0n),
        paid: Microcents.make(0n),
        createdAt: AT
      }
      const [full, advanced] = [ClaimId.make(randomUUID()), ClaimId.make(randomUUID())]
      const unknown = ConsumerId.make(randomUUID())
      const orphan = ClaimId.make(randomUUID())
      yield* claims.insert({ ...claim, id: full, debtor: provider, creditor: consumer })
      yield* claims.insert({ ...claim, id: advanced, debtor: provider, creditor: undefined })
      yield* claims.insert({ ...claim, id: orphan, debtor: undefined, creditor: unknown })
      const names = ["debtor_name", "creditor_name"]
      const namesIn = (id: string) =>
        Effect.map(rowOf("/claims", "claims", "claim_id", id), (fieldsOf) => fieldsOf(...names))
      assert.deepStrictEqual(yield* namesIn(full), [SHOP, AGENT])
      assert.deepStrictEqual(yield* namesIn(advanced), [SHOP, null])
      assert.deepStrictEqual(yield* namesIn(orphan), [null, unknown])

      const payout = PayoutId.make(randomUUID())
      yield* (yield* PayoutStore).insert({
        id: payout,
        providerId: provider,
        accountId: "acct_1",
        amountCents: 1_000,
        state: "requested",
        transferId: undefined,
        failure: undefined,
        reversedCents: 0,
        attempts: 0,
        nextAttemptAt: AT,
        createdAt: AT,
        paidAt: undefined
      })
      const payoutRow = yield* rowOf("/payouts", "payouts", "payout_id", payout)
      assert.deepStrictEqual(payoutRow("provider_name", "provider_id"), [SHOP, provider])

      const paid = yield* aLoad(consumer)
      const chargeback = `dp_${randomUUID()}`
      yield* (yield* ChargebackStore).put({
        id: chargeback,
        loadId: paid.id,
        consumerId: consumer,
        amountCents: 100,
        state: "open",
        funds: "none",
        released: false,
        openedAt: AT,
        updatedAt: AT
      })
      const chargebackRow = yield* rowOf("/chargebacks", "chargebacks", "chargeback_id", chargeback)
      assert.deepStrictEqual(chargebackRow("consumer_name", "consumer_id"), [AGENT, consumer])
      const account = (yield* read(`/consumers/${consumer}`)).json
      assert.strictEqual(valueAt(account, "chargebacks", 0, "consumer_name"), AGENT)
    })
  )

  it.effect("read the accounts of a page once, each of them once", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* aConsumer({ name: "One" }), yield* aConsumer({ name: "Two" })]
      const seller = ProviderId.make((yield* aProvider({ name: SHOP })).id)
      const [first, second] = [ConsumerId.make(one.id), ConsumerId.make(two.id)]
      const search = yield* AccountSearch
      const asked: Array<ReadonlyArray<string>> = []
      const namesOf = yield* Effect.provideService(accountNames, AccountSearch, {
        ...search,
        consumersOf: (ids) => (asked.push(ids), search.consumersOf(ids)),
        providersOf: (ids) => (asked.push(ids), search.providersOf(ids))
      })
      const nameOf = yield* namesOf({ consumers: [first, second, first, undefined], providers: [seller, seller] })
      assert.deepStrictEqual([first, second, seller].map(nameOf), ["One", "Two", SHOP])
      assert.deepStrictEqual(asked, [[first, second], [seller]])
      yield* namesOf({ consumers: [undefined] })
      assert.strictEqual(asked.length, 2)
    })
  )
})

const aLoad = Effect.fnUntraced(function* (consumerId: ConsumerId) {
  const id = LoadId.make(randomUUID())
  const paid: Load = {
    id,
    consumerId,
    amountCents: 100,
    state: "paid",
    sessionId: undefined,
    checkoutUrl: undefined,
    paymentId: `pi_${id}`,
    feeCents: undefined,
    createdAt: AT,
    paidAt: AT,
    updatedAt: AT
  }
  yield* (yield* LoadStore).insert(paid)
  return paid
})
