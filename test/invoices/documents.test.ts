/**
 * Documents over HTTP: for their owner and the operator, as JSON, as a page and as a file.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { spawnSync } from "node:child_process"
import { noInvoicePrinter } from "../../adapters/memory/shared/UnconnectedPorts.ts"
import * as PdfInvoicePrinter from "../../adapters/pdf/PdfInvoicePrinter.ts"
import { amountText, type Invoice, InvoicePrinter, type Month } from "../../domain/invoices/Invoice.ts"
import { invoicePrinterContract } from "../../testing/contracts/invoices/InvoicePrinterContract.ts"
import { contractOver } from "../contracts/contractOver.ts"
import { aConsumer, at, expecting, listAt, textAt } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, callOf, memoryMarket } from "../support/metering/Shop.ts"
import { when } from "../support/metering/TestTime.ts"

const OPERATOR_KEY = "the operator's key in tests, 32 characters or more"
const INVOICES = "/api/v1/market/invoices"
const SPITEFUL = `<script>alert(1)</script> & "Müller" 世界`

/** The month before last: the service closes the last one when it starts. */
const longAgo = (): string => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2, 15)).toISOString()
}

it.layer(memoryMarket({ OPERATOR_KEY }), LIVE)("A document", (it) => {
  it.effect("is created by the operator and read by its owner only, in three forms", () =>
    Effect.gen(function* () {
      const during = longAgo()
      const month = during.slice(0, 7)
      const offer = yield* anOffer((yield* providing(fine)).url, {}, { name: SPITEFUL })
      const buyer = yield* aFundedConsumer(100, { name: SPITEFUL })
      yield* when(during)(send(callOf(buyer, offer)))
      const run = { path: `${INVOICES}/run`, json: { month } }
      for (const key of [undefined, buyer.key, offer.provider.key]) {
        assert.oneOf((yield* send({ ...run, key })).status, [401, 403])
      }
      const made = yield* expecting(200, { ...run, key: OPERATOR_KEY })
      assert.deepStrictEqual([at(made, "agrees"), at(made, "month")], [true, month])
      assert.strictEqual(at(yield* expecting(200, { ...run, key: OPERATOR_KEY }), "issued"), 0)
      const unfinished = yield* send({ ...run, json: { month: "2999-01" }, key: OPERATOR_KEY })
      assert.strictEqual(unfinished.status, 422)

      const list = yield* expecting(200, { path: INVOICES, key: buyer.key })
      assert.strictEqual(listAt(list, "invoices").length, 1)
      const path = `${INVOICES}/${textAt(list, "invoices", 0, "invoice_id")}`
      const invoice = yield* expecting(200, { path, key: buyer.key })
      assert.deepStrictEqual(
        [at(invoice, "kind"), at(invoice, "total_microcents"), at(invoice, "owner", "name")],
        ["invoice", 12_345, SPITEFUL]
      )
      const page = yield* expecting(200, { path: `${path}.html`, key: buyer.key })
      assert.match(page.headers["content-type"]!, /^text\/html/u)
      assert.include(page.headers["content-security-policy"], "default-src 'none'")
      assert.notInclude(page.text, "<script>alert")
      assert.include(page.text, "$0.012345")
      const pdf = yield* expecting(200, { path: `${path}.pdf`, key: buyer.key })
      assert.strictEqual(pdf.headers["content-type"], "application/pdf")
      assert.match(pdf.headers["content-disposition"]!, /INV-\d{4}-\d{6}\.pdf/u)
      for (const key of [(yield* aConsumer()).key, offer.provider.key]) {
        for (const form of ["", ".html", ".pdf"]) {
          assert.strictEqual((yield* send({ path: `${path}${form}`, key })).status, 404)
        }
      }
      assert.strictEqual((yield* send({ path: `${path}.doc`, key: buyer.key })).status, 404)

      const credit = { path: `${path}/credit-notes`, json: { amount_microcents: 345, reason: "Courtesy" } }
      assert.strictEqual((yield* send({ ...credit, key: buyer.key })).status, 403)
      const headers = { "idempotency-key": "credit" }
      const first = yield* expecting(201, { ...credit, key: OPERATOR_KEY, headers })
      const again = yield* expecting(201, { ...credit, key: OPERATOR_KEY, headers })
      assert.strictEqual(again.text, first.text)
      for (const amount_microcents of [0, 12_001]) {
        const json = { amount_microcents, reason: "Nothing, or more" }
        assert.strictEqual((yield* send({ ...credit, json, key: OPERATOR_KEY })).status, 422)
      }
      assert.strictEqual(listAt(yield* expecting(200, { path: INVOICES, key: buyer.key }), "invoices").length, 2)
    })
  )
})

const anInvoice = (lines: number): Invoice => ({
  id: "0193fa06-8192-73b4-a5d6-e7f8091a2b3c" as Invoice["id"],
  number: "INV-2026-000042",
  kind: "invoice",
  month: "2026-10" as Month,
  owner: { role: "consumer", id: "0193f9c1-63a4-7c11-8f5b-6d2e9a0b4c7d", name: SPITEFUL, email: "me@example.org" },
  lines: Array.from({ length: lines }, (_, n) => ({
    toolId: "0193f9c3-02af-7e19-b6c4-91d7e0f45a12" as Invoice["lines"][number]["toolId"],
    toolName: `search_${n}`,
    provider: "Ada's tools",
    priceVersion: 1,
    unitPrice: 2_000n,
    calls: 320,
    billedCalls: 301,
    freeCalls: 10,
    failedCalls: 9,
    amount: 602_000n,
    fee: 60_200n
  })),
  movements: [{ kind: "load", amount: 5_000_000n }],
  total: 602_000n * BigInt(lines),
  fee: 0n,
  net: 602_000n * BigInt(lines),
  issuedAt: "2026-11-01T00:05:12.345Z"
})

contractOver("InvoicePrinter over pdfkit", invoicePrinterContract, PdfInvoicePrinter.layer)

it.layer(PdfInvoicePrinter.layer)("A document as PDF", (it) => {
  it.effect("is readable by other programs, with every line on its pages", (ctx) =>
    Effect.gen(function* () {
      const pdf = yield* (yield* InvoicePrinter).pdf(anInvoice(90))
      assert.strictEqual(Buffer.from(pdf.subarray(0, 5)).toString("latin1"), "%PDF-")
      const read = spawnSync("pdftotext", ["-layout", "-", "-"], { input: pdf })
      if (read.error !== undefined) return ctx.skip("pdftotext (poppler-utils) is not installed")
      const text = read.stdout.toString("utf8")
      for (const word of ["INV-2026-000042", "2026-10", "search_0", "search_89", "$54.18", "Amount due", "Page 1 of"]) {
        assert.include(text, word)
      }
    })
  )
})

it.effect("without the package for PDF a document is available as HTML, and the log says once what to install", () =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    const log = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
    yield* Effect.gen(function* () {
      const { pdf } = yield* InvoicePrinter
      for (const failure of [yield* Effect.flip(pdf(anInvoice(1))), yield* Effect.flip(pdf(anInvoice(1)))]) {
        assert.strictEqual(failure._tag, "PdfNotConfigured")
        assert.include(failure.message, "does not create PDF files")
      }
    }).pipe(Effect.provide(Layer.provideMerge(noInvoicePrinter("npm install pdfkit"), log)))
    assert.deepStrictEqual(logged.flat(), ["npm install pdfkit"])
  })
)

it("an amount is shown exactly", () => {
  const shown = [0n, 1n, 10n, 12_345n, 10_000n, 1_234_567_890_123n, -500_000n].map(amountText)
  assert.deepStrictEqual(shown, ["$0.00", "$0.000001", "$0.00001", "$0.012345", "$0.01", "$1,234,567.890123", "-$0.50"])
})
