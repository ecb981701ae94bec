/**
 * What an IdempotencyStore must do.
 */
import { type DateTime, Effect, Result } from "effect"
import assert from "node:assert/strict"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import { IdempotencyStore } from "../../../domain/shared/Idempotency.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer, instant } from "./AccountSamples.ts"
import { type Contract, rule } from "./Contract.ts"

const aClaim = Effect.fnUntraced(function* (changes: { readonly scope?: string; readonly at?: DateTime.Utc } = {}) {
  const { sha256Hex } = yield* Digest
  const entropy = yield* Entropy
  return {
    scope: "consumer 1",
    keyHash: sha256Hex(yield* entropy.uuid),
    requestHash: sha256Hex(yield* entropy.uuid),
    at: instant("2026-11-20T10:11:12.345Z"),
    ...changes
  }
})

export const idempotencyStoreContract: Contract<AccountStore | IdempotencyStore | UnitOfWork> = [
  rule(
    "lets one request claim a key, and returns its response to the next one",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const claim = yield* aClaim()
      const first = store.claim(claim).pipe(
        Effect.tap(() => store.complete(claim.scope, claim.keyHash, "the answer")),
        atomically
      )
      assert.deepEqual(yield* first, { _tag: "Claimed" })
      const known = { _tag: "Known", requestHash: claim.requestHash, sealedAnswer: "the answer" } as const
      assert.deepEqual(yield* atomically(store.claim(claim)), known)
      const another = { ...claim, requestHash: (yield* aClaim()).requestHash }
      assert.deepEqual(yield* atomically(store.claim(another)), known)
    })
  ),

  rule(
    "separates the same key of two callers, and returns each its own response",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const claim = yield* aClaim()
      const scopes = ["consumer 1", "consumer 2"]
      for (const scope of scopes) {
        const unit = Effect.tap(store.claim({ ...claim, scope }), () => store.complete(scope, claim.keyHash, scope))
        assert.deepEqual(yield* atomically(unit), { _tag: "Claimed" })
      }
      const known = yield* Effect.forEach(scopes, (scope) => atomically(store.claim({ ...claim, scope })))
      assert.deepEqual(
        known,
        scopes.map((scope) => ({ _tag: "Known", requestHash: claim.requestHash, sealedAnswer: scope }))
      )
    })
  ),

  rule(
    "releases a key whose unit of work fails",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const claim = yield* aClaim()
      const failing = Effect.andThen(store.claim(claim), Effect.fail("no"))
      for (let n = 0; n < 3; n++) assert.equal(yield* Effect.flip(atomically(failing)), "no")
      const completing = Effect.tap(store.claim(claim), () => store.complete(claim.scope, claim.keyHash, "x"))
      assert.deepEqual(yield* atomically(completing), { _tag: "Claimed" })
    })
  ),

  rule(
    "reports a key as in flight to the unit of work that claimed it",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const claim = yield* aClaim()
      const unit = Effect.andThen(store.claim(claim), Effect.flip(store.claim(claim)))
      const error = yield* atomically(Effect.tap(unit, () => store.complete(claim.scope, claim.keyHash, "x")))
      assert.equal(error._tag === "IdempotencyInFlight" && error.retryAfterSeconds > 0, true)
    })
  ),

  rule(
    "lets one of 32 concurrent requests do the work, and returns its response to the others",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const accounts = yield* AccountStore
      const { atomically } = yield* UnitOfWork
      const claim = yield* aClaim()
      const before = yield* accounts.counts
      const request = Effect.gen(function* () {
        const claimed = yield* store.claim(claim)
        if (claimed._tag === "Known") return claimed.sealedAnswer
        const { id } = yield* aConsumer()
        yield* store.complete(claim.scope, claim.keyHash, id)
        return id
      }).pipe(atomically)
      const answers = yield* Effect.all(
        Array.from({ length: 32 }, () => request),
        { concurrency: "unbounded" }
      )
      assert.equal(new Set(answers).size, 1)
      assert.equal((yield* accounts.counts).consumers, before.consumers + 1)
    })
  ),

  rule(
    "lets a waiting request claim a released key",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const claim = yield* aClaim()
      let failuresLeft = 3
      const request = Effect.gen(function* () {
        const claimed = yield* store.claim(claim)
        if (claimed._tag === "Known") return claimed.sealedAnswer
        if (failuresLeft-- > 0) return yield* Effect.fail("not yet")
        yield* store.complete(claim.scope, claim.keyHash, "done")
        return "done"
      }).pipe(atomically, Effect.result)
      const results = yield* Effect.all(
        Array.from({ length: 8 }, () => request),
        { concurrency: "unbounded" }
      )
      assert.equal(results.filter(Result.isFailure).length, 3)
      assert.deepEqual(
        results.filter(Result.isSuccess).map((result) => result.success),
        ["done", "done", "done", "done", "done"]
      )
    })
  ),

  rule(
    "prunes old keys up to a limit, and no recent ones",
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const take = Effect.fnUntraced(function* (at: DateTime.Utc) {
        const claim = yield* aClaim({ at })
        yield* atomically(Effect.andThen(store.claim(claim), store.complete(claim.scope, claim.keyHash, "an answer")))
        return claim
      })
      const [old, edge] = [instant("2020-01-01T00:00:00.000Z"), instant("2020-02-01T00:00:00.000Z")]
      const oldClaims = [yield* take(old), yield* take(old), yield* take(old)]
      const young = yield* take(edge)
      assert.equal(yield* store.prune(edge, 2), 2)
      assert.equal(yield* store.prune(edge, 2), 1)
      assert.equal(yield* store.prune(edge, 2), 0)
      assert.equal((yield* atomically(store.claim(young)))._tag, "Known")
      for (const claim of oldClaims) {
        const again = Effect.tap(store.claim(claim), () => store.complete(claim.scope, claim.keyHash, "x"))
        assert.equal((yield* atomically(again))._tag, "Claimed")
      }
    })
  )
]
