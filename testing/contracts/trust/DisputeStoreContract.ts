/**
 * What a DisputeStore must do.
 */
import { type DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Dispute, DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aDispute, at, decided } from "../shared/DisputeSamples.ts"
import { atOnce } from "../shared/LedgerSamples.ts"
import { everyItem, FORGED } from "../shared/ListPages.ts"
import { changesOnce } from "../shared/RowLock.ts"

const FIRST_PAGE = { limit: 50, offset: 0, after: undefined }

export const disputeStoreContract: Contract<DisputeStore | UnitOfWork> = [
  rule(
    "erases the statements of one party, and keeps those of the other and the decision",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const silent = { text: undefined, evidence: undefined }
      const filedByAgent = decided(aDispute(), "resolved_refund")
      const { consumerId, providerId } = filedByAgent
      const filedByProvider = decided(aDispute({ consumerId, providerId, filedBy: "provider" }), "resolved_denied")
      const elsewhere = aDispute()
      for (const one of [filedByAgent, filedByProvider, elsewhere]) {
        yield* store.insert({ ...one, status: "filed", answer: undefined, decision: undefined })
        yield* store.update(one)
      }
      const consumer = { role: "consumer", ownerId: consumerId } as const
      assert.deepEqual([yield* store.eraseStatements(consumer), yield* store.eraseStatements(consumer)], [2, 0])
      const answered = { ...filedByProvider, answer: { ...filedByProvider.answer!, ...silent } }
      assert.deepEqual(
        yield* store.find(filedByAgent.id),
        Option.some({ ...filedByAgent, claim: { ...silent, reference: undefined } })
      )
      assert.deepEqual(yield* store.find(filedByProvider.id), Option.some(answered))
      assert.equal(yield* store.eraseStatements({ role: "provider", ownerId: providerId }), 2)
      assert.deepEqual(
        yield* store.find(filedByProvider.id),
        Option.some({ ...answered, claim: { ...silent, reference: undefined } })
      )
      assert.deepEqual(yield* store.find(elsewhere.id), Option.some(elsewhere))
    })
  ),

  rule(
    "lists contested disputes, earliest deadline first, page by page",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const contest = Effect.fnUntraced(function* (decideBy: DateTime.Utc) {
        const dispute = aDispute()
        yield* store.insert(dispute)
        const contested: Dispute = { ...dispute, status: "under_review", decideBy }
        yield* store.update(contested)
        return contested
      })
      const late = yield* contest(at(-10))
      const [early, twin] = [yield* contest(at(-20)), yield* contest(at(-20))]
      const over = yield* contest(at(-30))
      yield* store.update({ ...decided(over, "resolved_denied"), decideBy: over.decideBy })
      const ours = new Set<string>([late.id, early.id, twin.id, over.id])
      const listed = yield* everyItem((page) => store.contested(page))
      assert.deepEqual(
        listed.filter(({ id }) => ours.has(id)),
        [early, twin, late]
      )
      for (const page of FORGED) yield* store.contested(page)
    })
  ),

  rule(
    "returns a dispute as stored and as updated",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const dispute = aDispute()
      assert.equal(yield* store.insert(dispute), true)
      assert.deepEqual(yield* store.find(dispute.id), Option.some(dispute))
      for (const status of ["resolved_refund", "resolved_denied", "resolved_credit"] as const) {
        const one = aDispute({
          filedBy: "provider",
          claim: { text: undefined, evidence: undefined, reference: undefined }
        })
        yield* store.insert(one)
        yield* store.update(decided(one, status))
        assert.deepEqual(yield* store.find(one.id), Option.some(decided(one, status)))
      }
      assert.deepEqual(yield* store.find(aDispute().id), Option.none())
    })
  ),

  rule(
    "accepts one dispute of a receipt at a time, and none after one decided for the filer",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      for (const [status, again] of [
        ["filed", false],
        ["under_review", false],
        ["resolved_refund", false],
        ["resolved_credit", false],
        ["resolved_denied", true]
      ] as const) {
        const dispute = aDispute()
        yield* store.insert(dispute)
        if (status === "under_review") yield* store.update({ ...dispute, status })
        else if (status !== "filed") yield* store.update(decided(dispute, status))
        const { receiptId } = dispute
        assert.equal(yield* store.insert(aDispute({ receiptId })), again, status)
      }
      const receiptId = aDispute().receiptId
      const won = yield* atOnce(32, () => store.insert(aDispute({ receiptId })))
      assert.equal(won.filter((one) => one).length, 1)
    })
  ),

  rule(
    "locks a dispute for one unit of work at a time",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const dispute = aDispute()
      yield* store.insert(dispute)
      yield* changesOnce(
        Effect.map(store.lock(dispute.id), Option.getOrThrow),
        Effect.fnUntraced(function* (locked) {
          if (locked.status !== "filed") return false
          yield* store.update(decided(locked, "resolved_refund"))
          return true
        })
      )
    })
  ),

  rule(
    "stores nothing of a failed unit of work",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const { atomically } = yield* UnitOfWork
      const dispute = aDispute()
      yield* Effect.exit(atomically(Effect.andThen(store.insert(dispute), Effect.fail("no" as const))))
      assert.deepEqual(yield* store.find(dispute.id), Option.none())
      assert.equal(yield* store.insert(dispute), true)
    })
  ),

  rule(
    "lists disputes filed by or against an account, newest first, in pages",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const [one, other] = [aDispute(), aDispute()]
      const mine = [one, aDispute({ consumerId: one.consumerId }), aDispute({ consumerId: one.consumerId })]
      yield* store.insert(other)
      for (const dispute of mine) yield* store.insert(dispute)
      yield* store.update({ ...mine[1]!, status: "under_review" })
      const owner = { role: "consumer", ownerId: one.consumerId } as const
      const ids = mine.toReversed().map(({ id }) => id)
      const all = yield* store.list(owner, undefined, FIRST_PAGE)
      assert.deepEqual([all.items.map(({ id }) => id), all.total, all.next], [ids, 3, undefined])
      const open = yield* store.list(owner, "under_review", FIRST_PAGE)
      assert.deepEqual(
        open.items.map(({ id }) => id),
        [mine[1]!.id]
      )
      const first = yield* store.list(owner, undefined, { ...FIRST_PAGE, limit: 2 })
      assert.deepEqual(
        first.items.map(({ id }) => id),
        ids.slice(0, 2)
      )
      const rest = yield* store.list(owner, undefined, { ...FIRST_PAGE, after: first.next })
      assert.deepEqual(
        rest.items.map(({ id }) => id),
        ids.slice(2)
      )
      const everybodys = yield* store.list(undefined, undefined, { ...FIRST_PAGE, limit: 4 })
      assert.deepEqual(
        everybodys.items.map(({ id }) => id),
        [mine[2]!.id, mine[1]!.id, other.id, one.id]
      )
      const contested = yield* store.list(undefined, "under_review", FIRST_PAGE)
      assert.equal(contested.items[0]?.id, mine[1]!.id)
      assert.equal(
        contested.items.every(({ status }) => status === "under_review"),
        true
      )
      const against = yield* store.list({ role: "provider", ownerId: one.providerId }, undefined, FIRST_PAGE)
      assert.deepEqual(
        against.items.map(({ id }) => id),
        [one.id]
      )
    })
  ),

  rule(
    "lists disputes that are due without a person",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const late = aDispute({ respondBy: at(5) })
      const patient = aDispute({ respondBy: at(50) })
      const failed = aDispute({ outcome: "error", respondBy: at(51) })
      const unbilled = aDispute({ outcome: "timeout", cost: zero, fee: zero, respondBy: at(52) })
      const offered = aDispute({ filedBy: "provider", respondBy: at(53) })
      const rejected = aDispute({ outcome: "error", cause: "input_rejected", respondBy: at(52) })
      const unfit = aDispute({ unfit: true, respondBy: at(54) })
      const unfitUnbilled = aDispute({ unfit: true, cost: zero, fee: zero, respondBy: at(55) })
      const contested = [aDispute({ respondBy: at(4) }), aDispute({ respondBy: at(3) }), aDispute({ respondBy: at(2) })]
      const all = [late, patient, failed, unbilled, offered, rejected, unfit, unfitUnbilled, ...contested]
      for (const one of all) yield* store.insert(one)
      const [waiting, undecided, over] = contested.map((one, n): Dispute => ({
        ...one,
        status: "under_review",
        decideBy: at(7 - n)
      }))
      for (const one of [waiting!, undecided!, over!]) yield* store.update(one)
      assert.deepEqual(yield* store.find(undecided!.id), Option.some(undecided!))
      yield* store.update(decided(over!, "resolved_denied"))
      const ours = new Set(all.map(({ id }) => id))
      const dueAt = (minute: number) =>
        Effect.map(store.due(at(minute), 1_000), (due) => due.filter((id) => ours.has(id)))
      // At the deadline itself, the operator may still decide.
      assert.deepEqual(yield* dueAt(6), [late.id, failed.id, offered.id, unfit.id])
      assert.deepEqual(yield* store.find(unfit.id), Option.some(unfit))
      assert.deepEqual(yield* store.find(rejected.id), Option.some(rejected))
      assert.deepEqual(yield* dueAt(7), [late.id, undecided!.id, failed.id, offered.id, unfit.id])
      assert.deepEqual(yield* dueAt(8), [late.id, undecided!.id, waiting!.id, failed.id, offered.id, unfit.id])
      assert.equal((yield* store.due(at(6), 1)).length, 1)
    })
  ),

  rule(
    "counts results by filer and against a provider",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const { consumerId, providerId } = aDispute()
      const statuses = [
        "filed",
        "under_review",
        "resolved_refund",
        "resolved_denied",
        "resolved_denied",
        "resolved_credit"
      ] as const
      for (const [n, status] of statuses.entries()) {
        const one = aDispute({ consumerId, providerId, createdAt: at(n) })
        yield* store.insert(one)
        if (status === "under_review") yield* store.update({ ...one, status })
        else if (status !== "filed") yield* store.update(decided(one, status))
      }
      yield* store.insert(aDispute({ consumerId, providerId, filedBy: "provider" }))
      const tally = { total: 6, open: 2, upheld: 1, denied: 2, credited: 1 }
      const owner = { role: "consumer", ownerId: consumerId } as const
      assert.deepEqual(yield* store.filedBy(owner, at(3)), { ...tally, lastDay: 2 })
      assert.deepEqual(yield* store.against(providerId, at(0)), tally)
      assert.deepEqual((yield* store.against(providerId, at(5))).total, 1)
      const asProvider = yield* store.filedBy({ role: "provider", ownerId: providerId }, at(0))
      assert.deepEqual([asProvider.total, asProvider.open], [1, 1])
    })
  ),

  rule(
    "returns decisions about a provider's paid calls by consumer",
    Effect.gen(function* () {
      const store = yield* DisputeStore
      const { consumerId, providerId } = aDispute()
      const other = aDispute().consumerId
      const given = [
        [{ outcome: "success" }, "resolved_refund"],
        [{ outcome: "error", cost: Microcents.make(300n) }, "resolved_refund"],
        [{ outcome: "success", filedBy: "provider" }, "resolved_refund"],
        [{}, "resolved_denied"],
        [{ consumerId: other }, "resolved_denied"],
        [{}, "resolved_credit"],
        [{}, "filed"],
        [{}, "under_review"],
        [{ cost: zero, fee: zero }, "resolved_refund"],
        [{ createdAt: at(-1) }, "resolved_refund"],
        [{ providerId: aDispute().providerId }, "resolved_refund"]
      ] as const
      for (const [changes, status] of given) {
        const one = aDispute({ consumerId, providerId, ...changes })
        yield* store.insert(one)
        if (status === "under_review") yield* store.update({ ...one, status })
        else if (status !== "filed") yield* store.update(decided(one, status))
      }
      assert.deepEqual(
        new Set(yield* store.rulings(providerId, at(0))),
        new Set([
          { consumerId, upheld: 2, denied: 1, refundedCalls: 2, refundedMicrocents: 1_300n },
          { consumerId: other, upheld: 0, denied: 1, refundedCalls: 0, refundedMicrocents: 0n }
        ])
      )
      assert.deepEqual(yield* store.rulings(aDispute().providerId, at(0)), [])
    })
  )
]
