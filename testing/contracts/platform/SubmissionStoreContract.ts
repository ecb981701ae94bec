/**
 * What a SubmissionStore must do.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { type Submission, SubmissionStore } from "../../../domain/platform/Submissions.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const minute = (n: number) => DateTime.makeUnsafe(`2026-11-20T12:${String(n).padStart(2, "0")}:00.123Z`)

const aSubmission = (changes: Partial<Submission> = {}): Submission => ({
  id: randomUUID(),
  kind: "feedback",
  content: { message: "hello" },
  submittedAt: minute(0),
  ...changes
})

export const submissionStoreContract: Contract<SubmissionStore | UnitOfWork> = [
  rule(
    "returns submissions of a kind byte for byte, newest first",
    Effect.gen(function* () {
      const store = yield* SubmissionStore
      const early = aSubmission({
        submittedAt: minute(1),
        content: { walls: ["a", "b"], message: "  ünï 🌦\n\"'\\ " }
      })
      const late = aSubmission({ submittedAt: minute(2), content: {} })
      const other = aSubmission({ submittedAt: minute(3), kind: "application", content: { z: 1, a: [null, true] } })
      for (const one of [late, other, early]) yield* store.add(one)
      assert.deepEqual(yield* store.recent("feedback", 10), [late, early])
      assert.deepEqual(yield* store.recent("feedback", 1), [late])
      assert.deepEqual(yield* store.recent("application", 10), [other])
      assert.deepEqual([yield* store.count("feedback"), yield* store.count("application")], [2, 1])
      assert.equal(yield* store.count("feedback", minute(2)), 1)
      assert.equal(yield* store.count("feedback", minute(3)), 0)
    })
  ),

  rule(
    "undoes additions of a failed unit of work",
    Effect.gen(function* () {
      const store = yield* SubmissionStore
      const { atomically } = yield* UnitOfWork
      const before = yield* store.count("feedback")
      yield* Effect.exit(atomically(Effect.andThen(store.add(aSubmission()), Effect.die("no"))))
      assert.equal(yield* store.count("feedback"), before)
    })
  ),

  rule(
    "erases the submissions of one contact in any letter case",
    Effect.gen(function* () {
      const store = yield* SubmissionStore
      const contact = `${randomUUID()}@example.org`
      const theirs = [
        aSubmission({ content: { contact, message: "hello" }, submittedAt: minute(58) }),
        aSubmission({ content: { contact: ` ${contact.toUpperCase()}` }, submittedAt: minute(57) })
      ]
      const others = [
        aSubmission({ content: { contact: `x${contact}` }, submittedAt: minute(56) }),
        aSubmission({ content: { message: contact }, submittedAt: minute(55) })
      ]
      yield* Effect.forEach([...theirs, ...others], store.add)
      assert.equal(yield* store.eraseOf(contact), 2)
      const known = new Map((yield* store.recent("feedback", 100)).map((one) => [one.id, one]))
      for (const one of theirs) assert.deepEqual(known.get(one.id), { ...one, content: {} })
      for (const one of others) assert.deepEqual(known.get(one.id), one)
    })
  )
]
