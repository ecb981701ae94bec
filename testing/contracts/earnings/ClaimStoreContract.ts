/**
 * What a ClaimStore must do.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { type Claim, ClaimId, ClaimStore } from "../../../domain/earnings/Claims.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { everyItem, FORGED } from "../shared/ListPages.ts"
import { changesOnce } from "../shared/RowLock.ts"

const at = (minute: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, 12, minute))
const money = (amount: number) => Microcents.make(BigInt(amount))

const aClaim = (changes: Partial<Claim> = {}): Claim => ({
  id: ClaimId.make(randomUUID()),
  subject: randomUUID(),
  debtor: ProviderId.make(randomUUID()),
  creditor: ConsumerId.make(randomUUID()),
  amount: money(500),
  credit: money(1),
  paid: money(0),
  createdAt: at(0),
  ...changes
})

export const claimStoreContract: Contract<ClaimStore | UnitOfWork> = [
  rule(
    "lists a debtor's open claims, oldest first",
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const debtor = ProviderId.make(randomUUID())
      const [newer, older] = [aClaim({ debtor, createdAt: at(5) }), aClaim({ debtor, createdAt: at(1) })]
      yield* Effect.forEach([newer, older, aClaim()], store.insert)
      assert.deepEqual(yield* store.lockOpen(debtor, 10), [older, newer])
      assert.deepEqual(yield* store.lockOpen(debtor, 1), [older])
      assert.equal(yield* store.owedBy(debtor), 1_000n)
      yield* store.setPaid(older.id, money(120))
      assert.equal(yield* store.owedBy(debtor), 880n)
      assert.deepEqual([yield* store.owedTo(older.creditor!), yield* store.owedTo(newer.creditor!)], [380n, 500n])
      assert.deepEqual(yield* store.lockOpen(debtor, 1), [{ ...older, paid: money(120) }])
      yield* store.setPaid(older.id, older.amount)
      assert.deepEqual(yield* store.lockOpen(debtor, 10), [newer])
      assert.deepEqual(yield* store.ofSubjects([older.subject]), [{ ...older, paid: older.amount }])
      assert.deepEqual(yield* store.ofSubjects([]), [])
    })
  ),

  rule(
    "lists all claims, or the open ones, in the order of their ids, page by page",
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const [paid, open] = [aClaim(), aClaim()]
      yield* Effect.forEach([paid, open], store.insert)
      yield* store.setPaid(paid.id, paid.amount)
      const all = yield* everyItem((page) => store.list(false, page))
      assert.deepEqual(
        all.map(({ id }) => id),
        all
          .map(({ id }) => id)
          .toSorted()
          .toReversed()
      )
      assert.ok(all.some(({ id }) => id === paid.id) && all.some(({ id }) => id === open.id))
      const unpaid = yield* everyItem((page) => store.list(true, page))
      assert.deepEqual(
        unpaid.filter(({ id }) => id === paid.id || id === open.id),
        [open]
      )
      for (const page of FORGED) yield* store.list(true, page)
    })
  ),

  rule(
    "locks a debtor's open claims for one unit of work at a time",
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const claim = aClaim()
      yield* store.insert(claim)
      yield* changesOnce(
        store.lockOpen(claim.debtor, 10),
        Effect.fnUntraced(function* ([open]) {
          if (open === undefined) return false
          yield* store.setPaid(open.id, open.amount)
          return true
        })
      )
    })
  ),

  rule(
    "locks the total of advances for one unit of work at a time",
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const { advancedMicrocents: before } = yield* store.totals
      yield* changesOnce(
        store.lockAdvanced,
        Effect.fnUntraced(function* (advanced) {
          if (advanced > before) return false
          yield* store.insert(aClaim({ creditor: undefined }))
          return true
        })
      )
    })
  ),

  rule(
    "pages through debtors, each once, without the platform",
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const debtors = Array.from({ length: 3 }, () => ProviderId.make(randomUUID())).toSorted()
      yield* Effect.forEach([...debtors, ...debtors], (debtor) => store.insert(aClaim({ debtor })))
      yield* store.insert(aClaim({ debtor: undefined }))
      const seen: Array<ProviderId> = []
      for (let after: ProviderId | undefined; ;) {
        const page: ReadonlyArray<ProviderId> = yield* store.debtors(after, 2)
        seen.push(...page)
        if (page.length < 2) break
        after = page.at(-1)
      }
      assert.deepEqual(
        seen.filter((id) => debtors.includes(id)),
        debtors
      )
    })
  ),

  rule(
    "totals what each debtor owes and what the platform has advanced",
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const before = yield* store.totals
      yield* store.insert(aClaim({ amount: money(70), paid: money(20) }))
      yield* store.insert(aClaim({ debtor: undefined, amount: money(7) }))
      yield* store.insert(aClaim({ creditor: undefined, amount: money(300) }))
      const after = yield* store.totals
      assert.deepEqual(
        [
          after.byProvidersMicrocents - before.byProvidersMicrocents,
          after.byPlatformMicrocents - before.byPlatformMicrocents,
          after.advancedMicrocents - before.advancedMicrocents
        ],
        [50n, 7n, 300n]
      )
      const { atomically } = yield* UnitOfWork
      assert.equal(yield* atomically(store.lockAdvanced), after.advancedMicrocents)
    })
  ),

  rule(
    "stores nothing of a failed unit of work",
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const { atomically } = yield* UnitOfWork
      const kept = aClaim()
      const lost = aClaim({ debtor: kept.debtor })
      yield* store.insert(kept)
      yield* atomically(
        Effect.andThen(Effect.all([store.insert(lost), store.setPaid(kept.id, money(9))]), Effect.fail("no"))
      ).pipe(Effect.ignore)
      assert.deepEqual(yield* store.lockOpen(kept.debtor, 10), [kept])
    })
  )
]
