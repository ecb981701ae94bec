/**
 * What ProviderEvidence must read from the stores of disputes, verifications and service levels.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { VerificationStore } from "../../../domain/trust/Challenge.ts"
import { DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { SlaStore } from "../../../domain/trust/SlaStore.ts"
import { ProviderEvidence } from "../../../domain/trust/Trust.ts"
import { aProvider } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aDispute, decided } from "../shared/DisputeSamples.ts"
import { money } from "../shared/LedgerSamples.ts"
import { anHour, aPaidDay, followed } from "./SlaStoreContract.ts"
import { aProof } from "./VerificationStoreContract.ts"

const SINCE = DateTime.makeUnsafe("2026-11-10T09:00:00.000Z")
const BEFORE = DateTime.subtract(SINCE, { minutes: 1 })
const NOTHING = { total: 0, open: 0, upheld: 0, denied: 0, credited: 0 }
const UNVERIFIED = { level: "unverified", at: undefined } as const

const evidenceOf = Effect.fnUntraced(function* (providerId: ProviderId) {
  const evidence = yield* ProviderEvidence
  const short = yield* evidence.ofSla(providerId, SINCE)
  const long = yield* evidence.ofScore(providerId, SINCE)
  const shared = Option.map(long, ({ calls: _, counted: __, history: ___, scored: ____, ...rest }) => rest)
  assert.deepEqual(short, shared)
  return Option.getOrUndefined(long)
})

export const providerEvidenceContract: Contract<
  AccountStore | DisputeStore | ProviderEvidence | SlaStore | VerificationStore
> = [
  rule(
    "returns nothing for an unknown provider",
    Effect.gen(function* () {
      assert.equal(yield* evidenceOf(ProviderId.make(randomUUID())), undefined)
    })
  ),

  rule(
    "returns empty evidence for a new provider",
    Effect.gen(function* () {
      const { id, name } = yield* aProvider()
      const other = yield* aProvider()
      yield* (yield* DisputeStore).insert(aDispute({ providerId: other.id, createdAt: SINCE }))
      yield* (yield* VerificationStore).put(aProof({ providerId: other.id, verifiedAt: SINCE }))
      const expected = {
        name,
        disputes: NOTHING,
        verified: UNVERIFIED,
        calls: 0,
        counted: { consumers: 0, calls: 0, successRate: undefined, p95Ms: undefined },
        scored: { upheld: 0, denied: 0 },
        history: []
      }
      assert.deepEqual(yield* evidenceOf(id), expected)
    })
  ),

  rule(
    "returns what the stores hold since the start of the window",
    Effect.gen(function* () {
      const disputes = yield* DisputeStore
      const verification = yield* VerificationStore
      const store = yield* SlaStore
      const { id, name } = yield* aProvider()

      const filed = { providerId: id, createdAt: SINCE }
      for (const status of ["resolved_refund", "resolved_denied", "resolved_denied", "resolved_credit"] as const) {
        const dispute = aDispute(filed)
        yield* disputes.insert(dispute)
        yield* disputes.update(decided(dispute, status))
      }
      yield* disputes.insert(aDispute(filed))
      yield* disputes.insert(aDispute({ ...filed, createdAt: BEFORE }))
      yield* disputes.insert(aDispute({ ...filed, filedBy: "provider" }))

      yield* verification.put(aProof({ providerId: id, level: "email", verifiedAt: BEFORE }))
      yield* verification.put(aProof({ providerId: id, level: "domain", verifiedAt: SINCE }))
      yield* verification.put(aProof({ providerId: id, level: "code", verifiedAt: undefined }))

      const refunded = ConsumerId.make(randomUUID())
      const disputed = aDispute({ ...filed, consumerId: refunded, outcome: "success", cost: money(1_500_000) })
      yield* disputes.insert(disputed)
      yield* disputes.update(decided(disputed, "resolved_refund"))
      const days = ["2026-11-09", "2026-11-10", "2026-11-11"].map((date) => aPaidDay({ providerId: id, date }))
      const poorer = aPaidDay({ providerId: id, date: "2026-11-11", consumerId: refunded })
      const richer = {
        ...poorer,
        consumerId: ConsumerId.make(randomUUID()),
        paidMicrocents: 6_000_000n,
        failedCalls: 0,
        inputRejected: 0
      }
      yield* store.add(followed([anHour({ providerId: id })], [...days, poorer, richer]))
      for (const [date, score] of [
        ["2026-11-09", 60],
        ["2026-11-10", 70],
        ["2026-11-12", 71]
      ] as const) {
        yield* store.settle({ providerId: id, score, badge: "trusted", p95OfTools: new Map() }, date)
      }

      assert.deepEqual(yield* evidenceOf(id), {
        name,
        disputes: { total: 6, open: 1, upheld: 2, denied: 2, credited: 1 },
        verified: { level: "domain", at: SINCE },
        calls: 3,
        // Two consumers paid $2 for 10 calls and had 2 failures, one paid $6 for 10 calls.
        counted: { consumers: 3, calls: 34, successRate: 25 / 27, p95Ms: 6_000 },
        scored: { upheld: 2, denied: 2 },
        history: [
          { date: "2026-11-10", score: 70 },
          { date: "2026-11-12", score: 71 }
        ]
      })
    })
  )
]
