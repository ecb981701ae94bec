/**
 * What an InvoiceStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import {
  type DraftInvoice,
  type Invoice,
  type InvoiceOwner,
  InvoiceStore,
  Month,
  type MonthSpan
} from "../../../domain/invoices/Invoice.ts"
import { ConsumerId, InvoiceId, ToolId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"

const FIRST_PAGE = { limit: 50, offset: 0, after: undefined }
const ISSUED_AT = DateTime.makeUnsafe("2090-01-01T00:06:00.000Z")

let year = 2040
/** Numbers are counted by year: each test has its own. */
const aMonth = (): Month => Month.make(`${++year}-03`)

const spanOf = (month: Month): MonthSpan => {
  const start = DateTime.makeUnsafe(`${month}-01T00:00:00.000Z`)
  return { month, start, end: DateTime.add(start, { months: 1 }) }
}

let made = 0

/** Increasing IDs, as those of UUID version 7. */
const anId = () => `${String(++made).padStart(8, "0")}-0000-7000-8000-000000000000`

const anOwner = (role: InvoiceOwner["role"] = "consumer"): InvoiceOwner => ({
  role,
  id: anId(),
  name: "O’Hara “& Söhne” 𝄞",
  email: "books@example.org"
})

/** A draft with one line. */
export const aDraft = (month: Month, changes: Partial<DraftInvoice> = {}): DraftInvoice => ({
  id: InvoiceId.make(anId()),
  kind: "invoice",
  month,
  owner: anOwner(),
  lines: [
    {
      toolId: ToolId.make(anId()),
      toolName: "echo",
      provider: "",
      priceVersion: 2,
      unitPrice: 500n,
      calls: 3,
      billedCalls: 1,
      freeCalls: 1,
      failedCalls: 1,
      amount: 9_007_199_254_740_993n,
      fee: 1n
    }
  ],
  movements: [{ kind: "load", amount: -12n }],
  total: 500n,
  fee: 0n,
  net: 500n,
  ...changes
})

const numbersOf = (invoices: ReadonlyArray<Invoice>) => invoices.map(({ number }) => number)

export const invoiceStoreContract: Contract<InvoiceStore | UnitOfWork> = [
  rule(
    "stores a document byte for byte under its number",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const month = aMonth()
      const draft = aDraft(month)
      const [kept] = yield* store.finalise(month, [draft], ISSUED_AT)
      const expected = { ...draft, number: `INV-${year}-000001`, issuedAt: "2090-01-01T00:06:00.000Z" }
      assert.deepEqual(kept, expected)
      assert.deepEqual(yield* store.find(draft.id), Option.some(expected))
      assert.deepEqual(yield* store.find(InvoiceId.make(anId())), Option.none())
    })
  ),

  rule(
    "numbers each kind separately, from 1 in each year",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const [month, next] = [aMonth(), aMonth()]
      const statement = aDraft(month, { kind: "statement", owner: anOwner("provider") })
      const first = yield* store.finalise(month, [aDraft(month), statement, aDraft(month)], ISSUED_AT)
      assert.deepEqual(numbersOf(first).toSorted(), [
        `INV-${year - 1}-000001`,
        `INV-${year - 1}-000002`,
        `ST-${year - 1}-000001`
      ])
      assert.deepEqual(numbersOf(yield* store.finalise(next, [aDraft(next)], ISSUED_AT)), [`INV-${year}-000001`])
    })
  ),

  rule(
    "stores one document per owner and month, and any number of corrections",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const month = aMonth()
      const draft = aDraft(month)
      yield* store.finalise(month, [draft], ISSUED_AT)
      const again = aDraft(month, { owner: draft.owner })
      assert.deepEqual(yield* store.finalise(month, [again], ISSUED_AT), [])
      const correction = () =>
        aDraft(month, { kind: "credit_note", owner: draft.owner, corrects: draft.id, total: 20n, net: 20n })
      assert.equal(yield* store.lockCredited(draft.id), 0n)
      yield* store.finalise(month, [correction()], ISSUED_AT)
      yield* store.finalise(month, [correction()], ISSUED_AT)
      assert.equal(yield* store.lockCredited(draft.id), 40n)
    })
  ),

  rule(
    "numbers documents without a gap under concurrency and failures",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const { atomically } = yield* UnitOfWork
      const month = aMonth()
      const owner = anOwner()
      const failing = Effect.andThen(store.finalise(month, [aDraft(month)], ISSUED_AT), Effect.fail("no" as const))
      yield* Effect.exit(atomically(failing))
      const groups = yield* atOnce(16, () =>
        store.finalise(month, [aDraft(month), aDraft(month, { owner })], ISSUED_AT)
      )
      assert.deepEqual(
        numbersOf(groups.flat()).toSorted(),
        Array.from({ length: 17 }, (_, n) => `INV-${year}-${String(n + 1).padStart(6, "0")}`)
      )
      const { documents, invoices } = yield* store.totals(spanOf(month))
      assert.deepEqual([documents, invoices], [17, 17n * 500n])
    })
  ),

  rule(
    "lists an owner's documents, newest first, in pages",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const owner = anOwner()
      const drafts = [aMonth(), aMonth(), aMonth()].map((month) => aDraft(month, { owner }))
      for (const draft of drafts) yield* store.finalise(draft.month, [draft, aDraft(draft.month)], ISSUED_AT)
      const id = ConsumerId.make(owner.id)
      const first = yield* store.list(id, { ...FIRST_PAGE, limit: 2 })
      assert.deepEqual(
        first.items.map((one) => one.id),
        [drafts[2]!.id, drafts[1]!.id]
      )
      assert.equal(first.total, 3)
      const second = yield* store.list(id, { limit: 2, offset: 0, after: first.next })
      assert.deepEqual([second.items.map((one) => one.id), second.next], [[drafts[0]!.id], undefined])
      assert.equal((yield* store.list(ConsumerId.make(anId()), FIRST_PAGE)).total, 0)
    })
  ),

  rule(
    "remembers that a month is complete",
    Effect.gen(function* () {
      const store = yield* InvoiceStore
      const month = aMonth()
      yield* store.stage(spanOf(month))
      yield* store.stage(spanOf(month))
      assert.equal(yield* store.isComplete(month), false)
      yield* store.complete(month, ISSUED_AT)
      assert.deepEqual([yield* store.isComplete(month), yield* store.isComplete(aMonth())], [true, false])
    })
  )
]
