/**
 * What a VerificationStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { createHash, randomUUID } from "node:crypto"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Proof, VerificationStore } from "../../../domain/trust/Challenge.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { atOnce } from "../shared/LedgerSamples.ts"
import { changesOnce } from "../shared/RowLock.ts"

const at = (minute: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, 12, minute))
const anAddressHash = () => createHash("sha256").update(randomUUID()).digest("hex")
const aProviderId = () => ProviderId.make(randomUUID())

export const aProof = (changes: Partial<Proof> = {}): Proof => ({
  providerId: aProviderId(),
  level: "domain",
  subject: "tools.example.org",
  tokenHash: "ab".repeat(32),
  tokenSealed: "sealed",
  expiresAt: at(50),
  verifiedAt: undefined,
  checkedAt: undefined,
  missed: 0,
  missingSince: undefined,
  ...changes
})

export const verificationStoreContract: Contract<UnitOfWork | VerificationStore> = [
  rule(
    "stores the latest proof of each kind",
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const proof = aProof()
      assert.deepEqual(yield* store.find(proof.providerId, "domain"), Option.none())
      yield* store.put(proof)
      assert.deepEqual(yield* store.find(proof.providerId, "domain"), Option.some(proof))
      const held = aProof({
        ...proof,
        tokenHash: undefined,
        tokenSealed: undefined,
        expiresAt: undefined,
        verifiedAt: at(1),
        checkedAt: at(2),
        missed: 2,
        missingSince: at(2)
      })
      yield* store.put(held)
      assert.deepEqual(yield* store.lock(proof.providerId, "domain"), Option.some(held))
      assert.deepEqual(yield* store.find(proof.providerId, "email"), Option.none())
    })
  ),

  rule(
    "does not count the mailbox that is to replace another",
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const pending = aProof({ level: "new_email", subject: "new@example.org" })
      yield* store.put(pending)
      assert.deepEqual(yield* store.find(pending.providerId, "new_email"), Option.some(pending))
      assert.deepEqual(yield* store.find(pending.providerId, "email"), Option.none())
      assert.equal((yield* store.verified(pending.providerId)).level, "unverified")
      assert.equal(yield* store.remove(pending.providerId), 1)
    })
  ),

  rule(
    "locks a proof for one unit of work at a time",
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const { providerId } = yield* Effect.tap(Effect.succeed(aProof()), store.put)
      yield* changesOnce(
        Effect.map(store.lock(providerId, "domain"), Option.getOrThrow),
        Effect.fnUntraced(function* (locked) {
          if (locked.tokenHash === undefined) return false
          yield* store.put({ ...locked, tokenHash: undefined, tokenSealed: undefined, verifiedAt: at(1) })
          return true
        })
      )
    })
  ),

  rule(
    "removes all proofs of one provider, unless the unit of work fails",
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const { atomically } = yield* UnitOfWork
      const [one, other] = [aProof(), aProof()]
      for (const proof of [one, { ...one, level: "email" as const }, other]) yield* store.put(proof)
      yield* Effect.exit(atomically(Effect.andThen(store.remove(one.providerId), Effect.die("no"))))
      assert.deepEqual(yield* store.find(one.providerId, "domain"), Option.some(one))
      assert.deepEqual([yield* store.remove(one.providerId), yield* store.remove(one.providerId)], [2, 0])
      assert.deepEqual(yield* store.find(one.providerId, "domain"), Option.none())
      assert.deepEqual(yield* store.find(other.providerId, "domain"), Option.some(other))
    })
  ),

  rule(
    "returns the highest verified level",
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const providerId = aProviderId()
      const levelNow = store.verified(providerId)
      assert.deepEqual(yield* levelNow, { level: "unverified", at: undefined })
      yield* store.put(aProof({ providerId, level: "email", verifiedAt: at(1) }))
      yield* store.put(aProof({ providerId, level: "code" }))
      assert.deepEqual(yield* levelNow, { level: "email", at: at(1) })
      yield* store.put(aProof({ providerId, level: "domain", verifiedAt: at(2) }))
      assert.deepEqual(yield* levelNow, { level: "domain", at: at(2) })
      yield* store.put(aProof({ providerId, level: "code", verifiedAt: at(3) }))
      const levels = yield* store.levels([providerId, aProviderId()])
      assert.deepEqual([...levels], [[providerId, { level: "code", at: at(3) }]])
      yield* store.put(aProof({ providerId, level: "code" }))
      yield* store.put(aProof({ providerId, level: "domain" }))
      assert.deepEqual((yield* levelNow).level, "email")
    })
  ),

  rule(
    "lists published proofs that are due for a check, least recent first",
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const proofs = [
        aProof({ verifiedAt: at(0), checkedAt: at(4) }),
        aProof({ verifiedAt: at(0), checkedAt: at(3), level: "code" }),
        aProof({ verifiedAt: at(0), checkedAt: at(20) }),
        aProof({ verifiedAt: at(0), checkedAt: at(1), level: "email" }),
        aProof({ checkedAt: at(1) })
      ]
      for (const proof of proofs) yield* store.put(proof)
      const ours = new Set(proofs.map((proof) => proof.providerId))
      const due = (yield* store.due(at(10), 1_000)).filter((proof) => ours.has(proof.providerId))
      assert.deepEqual(due, [proofs[1]!, proofs[0]!])
      assert.equal((yield* store.due(at(10), 1)).length, 1)
    })
  ),

  rule(
    "counts concurrent attempts of a kind within the hour",
    Effect.gen(function* () {
      const store = yield* VerificationStore
      const providerId = aProviderId()
      const attempt = (minute: number, kind = "check") => store.attempt(providerId, kind, at(minute), at(minute - 10))
      const counts = yield* atOnce(20, () => attempt(0))
      assert.deepEqual(
        counts.toSorted((a, b) => a - b),
        Array.from({ length: 20 }, (_, n) => n + 1)
      )
      assert.equal(yield* attempt(5), 21)
      assert.equal(yield* attempt(5, "mail"), 1)
      assert.equal(yield* attempt(11), 1)
    })
  ),

  rule(
    "counts emails to an address since a time, and returns when the first was sent",
    Effect.gen(function* () {
      const { mailed } = yield* VerificationStore
      const [one, other] = [anAddressHash(), anAddressHash()]
      const mail = (hash: string, minute: number) => mailed(hash, at(minute), at(minute - 10), 3)
      for (const minute of [20, 21, 25]) assert.equal(yield* mail(one, minute), undefined)
      for (const minute of [26, 29]) assert.deepEqual(yield* mail(one, minute), at(20))
      assert.equal(yield* mail(other, 29), undefined)
      // At minute 30 the first is outside the window, and rejected ones are not counted.
      assert.equal(yield* mail(one, 30), undefined)
      assert.deepEqual(yield* mail(one, 30), at(21))
      assert.equal(yield* mail(one, 59), undefined)
    })
  ),

  rule(
    "limits concurrent emails to an address",
    Effect.gen(function* () {
      const { mailed } = yield* VerificationStore
      const hash = anAddressHash()
      const answers = yield* atOnce(32, () => mailed(hash, at(5), at(0), 5))
      assert.equal(answers.filter((answer) => answer === undefined).length, 5)
    })
  ),

  rule(
    "prunes addresses without recent emails, up to a limit",
    Effect.gen(function* () {
      const { forgetMailed, mailed } = yield* VerificationStore
      yield* forgetMailed(at(59), 1_000)
      const [old, renewed] = [[anAddressHash(), anAddressHash(), anAddressHash()], anAddressHash()]
      for (const hash of [...old, renewed]) yield* mailed(hash, at(1), at(0), 5)
      yield* mailed(renewed, at(9), at(0), 5)
      assert.equal(yield* forgetMailed(at(5), 2), 2)
      assert.equal(yield* forgetMailed(at(5), 2), 1)
      assert.equal(yield* forgetMailed(at(5), 2), 0)
      assert.deepEqual(yield* mailed(renewed, at(10), at(0), 2), at(1))
    })
  )
]
