/**
 * Closing a month: documents equal the ledger, to the microcent; numbers have no gap, through interruptions and
 * concurrent runs.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Refunds } from "../../domain/earnings/Refunds.ts"
import { type Invoice, InvoiceStore, type Month } from "../../domain/invoices/Invoice.ts"
import { Invoicing } from "../../domain/invoices/Invoicing.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { callOfTransfer } from "../../domain/ledger/Transfer.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import type { PageRequest } from "../../domain/shared/Page.ts"
import { clearingIsEmpty } from "../payments/LedgerChecks.ts"
import { putTools } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { everyCore } from "../support/metering/Core.ts"
import { fine, providing, resulting } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, callOf, FEE, type Offer, PRICE } from "../support/metering/Shop.ts"
import { when } from "../support/metering/TestTime.ts"

const ALL: PageRequest = { limit: 100, offset: 0, after: undefined }

let year = 2040
/** A month that no other test uses. */
const aMonth = () => {
  const month = `${++year}-03` as Month
  return { month, during: when(`${month}-15T12:00:00.000Z`), after: when(`${year}-04-01T00:06:00.000Z`) }
}

const documentsOf = (id: string) =>
  Effect.flatMap(InvoiceStore, (store) =>
    Effect.map(store.list(ConsumerId.make(id), ALL), ({ items }) => items.toReversed())
  )

const close = (month: Month) => Effect.flatMap(Invoicing, (invoicing) => invoicing.close(month))

const countsOf = (documents: ReadonlyArray<Invoice>, series: string): ReadonlyArray<number> =>
  documents
    .filter(({ number }) => number.startsWith(series))
    .map(({ number }) => Number(number.slice(series.length + 1)))
    .toSorted((a, b) => a - b)

for (const [name, service] of everyCore) {
  it.layer(service, LIVE)(`A month over ${name}`, (it) => {
    it.effect("is closed with the amounts of the ledger: prices, free calls and failures", () =>
      Effect.gen(function* () {
        const { after, during, month } = aMonth()
        const failing = yield* resulting({ content: [], isError: true })
        const offer = yield* anOffer((yield* providing(fine)).url, { free_tier_calls: 2 })
        const broken = yield* anOffer(failing.url)
        const [one, other] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
        yield* during(
          Effect.gen(function* () {
            for (let n = 0; n < 5; n++) yield* send(callOf(one, offer))
            yield* send(callOf(one, broken))
            yield* putTools(offer.provider, { tool_name: "echo", price_microcents: 777, free_tier_calls: 2 })
            for (let n = 0; n < 3; n++) yield* send(callOf(one, offer))
            for (let n = 0; n < 4; n++) yield* send(callOf(other, offer))
          })
        )
        const closed = yield* after(close(month))
        assert.isTrue(closed.agrees)
        assert.strictEqual(closed.ledger, BigInt(3 * PRICE + 3 * 777 + 2 * 777))
        const [invoice, ...more] = yield* documentsOf(one.id)
        assert.deepStrictEqual(more, [])
        assert.deepStrictEqual(
          [invoice!.kind, invoice!.total, invoice!.net],
          ["invoice", BigInt(3 * PRICE + 3 * 777), BigInt(3 * PRICE + 3 * 777)]
        )
        const lines = invoice!.lines
          .filter(({ toolId }) => toolId === offer.toolId)
          .map(({ amount, billedCalls, calls, freeCalls, unitPrice }) => [
            calls,
            billedCalls,
            freeCalls,
            unitPrice,
            amount
          ])
        assert.deepStrictEqual(lines, [
          [5, 3, 2, BigInt(PRICE), BigInt(3 * PRICE)],
          [3, 3, 0, 777n, 3n * 777n]
        ])
        const failed = invoice!.lines.find(({ toolId }) => toolId === broken.toolId)!
        assert.deepStrictEqual([failed.calls, failed.failedCalls, failed.amount], [1, 1, 0n])
        const [statement] = yield* documentsOf(offer.provider.id)
        assert.deepStrictEqual(
          [statement!.kind, statement!.total, statement!.net],
          ["statement", closed.ledger, closed.ledger - statement!.fee]
        )
      })
    )

    it.effect("is closed once under concurrent runs, and numbers have no gap", () =>
      Effect.gen(function* () {
        const { after, during, month } = aMonth()
        const offer = yield* anOffer((yield* providing(fine)).url)
        const buyers = yield* Effect.all(Array.from({ length: 12 }, () => aFundedConsumer()))
        yield* during(Effect.forEach(buyers, (buyer) => send(callOf(buyer, offer))))
        const runs = yield* after(
          Effect.all(
            Array.from({ length: 4 }, () => close(month)),
            { concurrency: "unbounded" }
          )
        )
        assert.strictEqual(
          runs.reduce((sum, { issued }) => sum + issued, 0),
          13
        )
        const documents = (yield* Effect.forEach(buyers, ({ id }) => documentsOf(id))).flat()
        const counts = countsOf(documents, `INV-${month.slice(0, 4)}`)
        assert.deepStrictEqual(
          counts,
          Array.from({ length: 12 }, (_, n) => n + 1)
        )
        assert.strictEqual((yield* after(close(month))).issued, 0)
      })
    )

    it.effect("continues where an earlier run was interrupted", () =>
      Effect.gen(function* () {
        const { after, during, month } = aMonth()
        const offer = yield* anOffer((yield* providing(fine)).url)
        const buyers = yield* Effect.all(Array.from({ length: 5 }, () => aFundedConsumer()))
        yield* during(Effect.forEach(buyers, (buyer) => send(callOf(buyer, offer))))
        const store = yield* InvoiceStore
        const start = DateTime.makeUnsafe(`${month}-01T00:00:00.000Z`)
        const span = { month, start, end: DateTime.add(start, { months: 1 }) }
        // As a run that died after its first two documents, during the next ones.
        yield* store.stage(span)
        const [first, second] = yield* store.pending(span, 2)
        const drafts = [first!, second!].map((owner, n) => ({
          kind: "invoice" as const,
          id: `00000000-0000-7000-8000-${month.slice(2, 4)}000000000${n}` as Invoice["id"],
          month,
          owner: owner.owner,
          lines: owner.lines,
          movements: [],
          total: BigInt(PRICE),
          fee: 0n,
          net: BigInt(PRICE)
        }))
        yield* store.finalise(month, drafts, start)
        const died = Effect.andThen(
          store.finalise(month, [{ ...drafts[0]!, id: "not a uuid" as Invoice["id"], corrects: drafts[0]!.id }], start),
          Effect.die("The process died here")
        )
        if (name === "PostgreSQL") yield* Effect.exit(died)
        const closed = yield* after(close(month))
        assert.isTrue(closed.agrees)
        const documents = (yield* Effect.forEach(buyers, ({ id }) => documentsOf(id))).flat()
        assert.deepStrictEqual(countsOf(documents, `INV-${month.slice(0, 4)}`), [1, 2, 3, 4, 5])
      })
    )

    it.effect("that was closed too early is opened again by one of several nodes at the same time", () =>
      Effect.gen(function* () {
        const { after, during, month } = aMonth()
        const offer = yield* anOffer((yield* providing(fine)).url)
        const buyer = yield* aFundedConsumer()
        const call = during(send(callOf(buyer, offer)))
        yield* call
        yield* after(close(month))
        yield* call
        const start = DateTime.makeUnsafe(`${month}-01T00:00:00.000Z`)
        const { reopen } = yield* InvoiceStore
        const reopened = yield* Effect.all(
          Array.from({ length: 4 }, () => reopen({ month, start, end: DateTime.add(start, { months: 1 }) })),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          reopened.filter((isOpen) => isOpen),
          1
        )
        assert.isTrue((yield* after(close(month))).agrees)
      })
    )

    it.effect("that was closed too early gets documents for the rest, once", () =>
      Effect.gen(function* () {
        const { after, during, month } = aMonth()
        const offer = yield* anOffer((yield* providing(fine)).url)
        const [early, both, late] = [yield* aFundedConsumer(), yield* aFundedConsumer(), yield* aFundedConsumer()]
        yield* during(Effect.forEach([early, both], (buyer) => send(callOf(buyer, offer))))
        // Closed by a node whose clock was ahead: the month continues.
        yield* after(close(month))
        yield* during(Effect.forEach([both, both, late], (buyer) => send(callOf(buyer, offer))))
        const { supplement } = yield* Invoicing
        assert.strictEqual((yield* Effect.flip(during(supplement(month))))._tag, "MonthNotOver")
        assert.isFalse((yield* after(close(month))).agrees, "closing it again changes nothing")
        const closed = yield* after(supplement(month))
        assert.deepStrictEqual([closed.agrees, closed.issued, closed.ledger], [true, 3, BigInt(5 * PRICE)])
        // Both were issued at one instant of the test's clock: sorted by total, not by time.
        const totals = (id: string) =>
          Effect.map(documentsOf(id), (documents) =>
            documents
              .toSorted((a, b) => Number(a.total - b.total))
              .map(({ kind, reason, total }) => [kind, total, reason])
          )
        const again = `Supplement: recorded after ${month} was closed.`
        assert.deepStrictEqual(yield* totals(early.id), [["invoice", BigInt(PRICE), undefined]])
        assert.deepStrictEqual(yield* totals(both.id), [
          ["invoice", BigInt(PRICE), undefined],
          ["invoice", BigInt(2 * PRICE), again]
        ])
        assert.deepStrictEqual(yield* totals(late.id), [["invoice", BigInt(PRICE), again]])
        assert.deepStrictEqual(yield* totals(offer.provider.id), [
          ["statement", BigInt(2 * PRICE), undefined],
          ["statement", BigInt(3 * PRICE), again]
        ])
        const documents = (yield* Effect.forEach([early, both, late], ({ id }) => documentsOf(id))).flat()
        assert.deepStrictEqual(countsOf(documents, `INV-${month.slice(0, 4)}`), [1, 2, 3, 4])
        const repeated = yield* after(supplement(month))
        assert.deepStrictEqual([repeated.agrees, repeated.issued], [true, 0])
      })
    )

    it.effect("is closed after its end, when its last call has ended", () =>
      Effect.gen(function* () {
        const { after, during, month } = aMonth()
        assert.strictEqual((yield* Effect.flip(during(close(month))))._tag, "MonthNotOver")
        const offer = yield* anOffer((yield* providing(fine)).url)
        const buyer = yield* aFundedConsumer()
        const calls = yield* CallStore
        const openedAt = DateTime.makeUnsafe(`${month}-31T23:59:59.000Z`)
        yield* calls.open({
          invocationId: `rcpt_${month.replace("-", "").padStart(32, "a")}` as never,
          consumerId: ConsumerId.make(buyer.id),
          providerId: ProviderId.make(offer.provider.id),
          toolId: offer.toolId as never,
          toolName: "echo",
          priceVersion: 1,
          holdAmount: Microcents.make(1n),
          feeBasisPoints: 1_000,
          freeTierCalls: 0,
          origin: "proxy",
          openedAt,
          deadlineAt: DateTime.add(openedAt, { years: 100 }),
          idempotency: undefined
        })
        const refused = yield* Effect.flip(after(close(month)))
        assert.deepInclude(refused, { _tag: "MonthNotOver", openCalls: 1 })
      })
    )

    it.effect("has a credit note for its refunds, and the statement lists them too", () =>
      Effect.gen(function* () {
        // A year of its own: the open call above blocks every month after it.
        const { during, month } = { during: when("2039-03-15T12:00:00.000Z"), month: "2039-03" as Month }
        const offer = yield* anOffer((yield* providing(fine)).url)
        const buyer = yield* aFundedConsumer()
        yield* during(buyTwice(buyer, offer))
        yield* during(
          Effect.flatMap(Refunds, (refunds) =>
            refunds.refund({
              subject: randomUUID(),
              receiptId: callOfTransfer(randomUUID()),
              consumerId: ConsumerId.make(buyer.id),
              providerId: ProviderId.make(offer.provider.id),
              lot: "2039-03-15",
              cost: Microcents.make(BigInt(PRICE)),
              fee: Microcents.make(BigInt(FEE)),
              frozen: Microcents.make(0n)
            })
          )
        )
        const closed = yield* when("2039-04-02T00:00:00.000Z")(close(month))
        assert.isTrue(closed.agrees)
        const documents = yield* documentsOf(buyer.id)
        const invoice = documents.find(({ kind }) => kind === "invoice")
        const credit = documents.find(({ kind }) => kind === "credit_note")
        assert.deepStrictEqual(
          [invoice!.total, credit!.kind, credit!.total],
          [BigInt(2 * PRICE), "credit_note", BigInt(PRICE)]
        )
        const [statement] = yield* documentsOf(offer.provider.id)
        assert.strictEqual(statement!.net, BigInt(PRICE - FEE))
      })
    )

    it.effect("is corrected by credit notes, at most by the invoice's total, and the money moves", () =>
      Effect.gen(function* () {
        const during = when("2038-03-15T12:00:00.000Z")
        const offer = yield* anOffer((yield* providing(fine)).url)
        const buyer = yield* aFundedConsumer()
        yield* during(buyTwice(buyer, offer))
        yield* when("2038-04-02T00:00:00.000Z")(close("2038-03" as Month))
        const [invoice] = yield* documentsOf(buyer.id)
        const ledger = yield* Ledger
        const before = (yield* ledger.wallet(ConsumerId.make(buyer.id))).available
        const { correct } = yield* Invoicing
        const wanted = Microcents.make(BigInt(PRICE + 1))
        const tries = yield* Effect.all(
          Array.from({ length: 8 }, () => Effect.result(correct(invoice!.id, wanted, "Counted twice"))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(tries.filter((one) => one._tag === "Success").length, 1)
        assert.strictEqual((yield* ledger.wallet(ConsumerId.make(buyer.id))).available - before, wanted)
        const credit = (yield* documentsOf(buyer.id)).find(({ kind }) => kind === "credit_note")!
        assert.deepStrictEqual(
          [credit.kind, credit.corrects, credit.reason],
          ["credit_note", invoice!.id, "Counted twice"]
        )
        yield* clearingIsEmpty
      })
    )
  })
}

const buyTwice = (buyer: Effect.Success<ReturnType<typeof aFundedConsumer>>, offer: Offer) =>
  Effect.all([buy(buyer, offer, {}), buy(buyer, offer, {})])
