/**
 * A node of another mode that was started before the first load: it must not spend money that other nodes receive
 * afterwards.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Book } from "../../../domain/ledger/Book.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { TransferId } from "../../../domain/ledger/Transfer.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { OPENED_AT } from "../../contracts/ledgerSamples.ts"
import { aConsumer, type Member } from "../../support/market/Market.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../../support/metering/Core.ts"
import { fine, forwarded, providing } from "../../support/metering/Provider.ts"
import { anOffer, buy, METER, receiptsOf, walletOf } from "../../support/metering/Shop.ts"

const LIVE_BOOK: Book = { mode: "live", accountId: "acct_1" }
const LOADED = 1_000_000

/** As a node in live mode posts it. */
const loadedElsewhere = Effect.fnUntraced(function* (consumer: Member) {
  const { uuid } = yield* Entropy
  yield* (yield* LedgerStore).post({
    book: LIVE_BOOK,
    transferId: TransferId.make(yield* uuid),
    reference: `load:${yield* uuid}`,
    legs: [
      {
        kind: "load",
        debit: "processor",
        credit: "wallet",
        amount: Microcents.make(BigInt(LOADED)),
        consumerId: ConsumerId.make(consumer.id)
      }
    ],
    effectiveAt: OPENED_AT,
    recordedAt: OPENED_AT
  })
})

it.layer(memoryCore, LIVE)("A dry-run node on a ledger of live money", (it) => {
  it.effect("forwards no paid call, accepts no report, and charges nothing", () =>
    Effect.gen(function* () {
      const provider = yield* providing(fine)
      const offer = yield* anOffer(provider.url)
      const free = yield* anOffer(provider.url, { tool_name: "free", price_microcents: 0 })
      const consumer = yield* aConsumer()
      yield* loadedElsewhere(consumer)
      for (let again = 0; again < 2; again++) {
        const answer = yield* buy(consumer, offer)
        assert.strictEqual(answer.status, 503, answer.text)
      }
      assert.strictEqual(forwarded(provider), 0)
      assert.deepStrictEqual(yield* walletOf(consumer), { balance: LOADED, held: 0, available: LOADED })
      for (const { cost_microcents } of yield* receiptsOf(consumer)) assert.strictEqual(cost_microcents, 0)

      const report = { tool_id: offer.toolId, status: "success", duration_ms: 1 }
      assert.strictEqual((yield* send({ path: METER, key: consumer.key, json: report })).status, 503)
      assert.strictEqual((yield* walletOf(consumer)).balance, LOADED)
      assert.strictEqual((yield* buy(consumer, free)).status, 200)
    })
  )
})
