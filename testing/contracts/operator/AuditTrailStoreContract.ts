/**
 * What an AuditTrailStore must do.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import { OperatorSessionId } from "../../../domain/accounts/Authentication.ts"
import { type AuditEntry, AuditEntryId, AuditTrailStore } from "../../../domain/operator/AuditTrail.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { uuid } from "../shared/LedgerSamples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")

const anEntry = Effect.fnUntraced(function* (subject: string, changes: Partial<AuditEntry> = {}) {
  const entry: AuditEntry = {
    id: AuditEntryId.make(yield* uuid),
    at: AT,
    action: "account.freeze",
    actor: "Ada é",
    sessionId: OperatorSessionId.make(yield* uuid),
    address: "203.0.113.7",
    subject,
    reason: "Fraud is suspected.",
    details: `{"reason":"Fraud is suspected."}`,
    ...changes
  }
  return entry
})

const WHOLE = { limit: 50, offset: 0, after: undefined }

export const auditTrailStoreContract: Contract<AuditTrailStore | UnitOfWork> = [
  rule(
    "returns entries as they were added, newest first, page by page",
    Effect.gen(function* () {
      const store = yield* AuditTrailStore
      const subject = yield* uuid
      const entries = [
        yield* anEntry(subject),
        yield* anEntry(subject, { sessionId: undefined, reason: undefined, details: undefined }),
        yield* anEntry(subject, { action: "account.unfreeze", at: DateTime.add(AT, { minutes: 1 }) })
      ]
      for (const entry of entries) yield* store.append(entry)
      const newest = entries.toReversed()
      const filter = { action: undefined, subject }
      assert.deepEqual(yield* store.list(filter, WHOLE), { items: newest, total: 3, next: undefined })
      const first = yield* store.list(filter, { ...WHOLE, limit: 2 })
      assert.deepEqual([first.items, first.total], [newest.slice(0, 2), 3])
      const last = yield* store.list(filter, { ...WHOLE, limit: 2, after: first.next })
      assert.deepEqual([last.items, last.next], [newest.slice(2), undefined])
      const forged = yield* store.list(filter, { ...WHOLE, limit: 1, after: { key: "", id: "\0 no id" } })
      assert.ok(forged.items.length <= 1)
    })
  ),

  rule(
    "filters by action and subject",
    Effect.gen(function* () {
      const store = yield* AuditTrailStore
      const subject = yield* uuid
      const frozen = yield* anEntry(subject)
      const unfrozen = yield* anEntry(subject, { action: "account.unfreeze" })
      for (const entry of [frozen, unfrozen, yield* anEntry(yield* uuid)]) yield* store.append(entry)
      const only = yield* store.list({ action: "account.unfreeze", subject }, WHOLE)
      assert.deepEqual([only.items, only.total], [[unfrozen], 1])
      const all = yield* store.list({ action: undefined, subject: undefined }, WHOLE)
      assert.ok(all.total >= 3)
      assert.deepEqual((yield* store.list({ action: undefined, subject: "nothing" }, WHOLE)).items, [])
    })
  ),

  rule(
    "keeps no entry of a unit of work that fails",
    Effect.gen(function* () {
      const store = yield* AuditTrailStore
      const { atomically } = yield* UnitOfWork
      const subject = yield* uuid
      const entry = yield* anEntry(subject)
      yield* Effect.flip(atomically(Effect.andThen(store.append(entry), Effect.fail("undone" as const))))
      assert.equal((yield* store.list({ action: undefined, subject }, WHOLE)).total, 0)
    })
  )
]
