import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import * as NodeSealer from "../../../adapters/crypto/NodeSealer.ts"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { Idempotency } from "../../../domain/shared/Idempotency.ts"
import { everyStore, memoryPorts, withServices } from "../../contracts/ports.ts"
import { aConsumer } from "../../contracts/samples.ts"

const aRequest = Effect.gen(function* () {
  return { scope: "consumer 1", key: yield* (yield* Entropy).uuid, request: 'POST /api/x\n{"a":1}' }
})

const register = Effect.map(aConsumer(), ({ id }) => JSON.stringify({ api_key: `secret of ${id}` }))
const registered = Effect.flatMap(AccountStore, (accounts) => Effect.map(accounts.counts, ({ consumers }) => consumers))

it.layer(withServices(memoryPorts), { timeout: "60 seconds" })("Idempotency", (it) => {
  it.effect("executes once and returns the same, byte for byte, for any repetition", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const request = yield* aRequest
      const before = yield* registered
      const first = yield* once(request, register)
      assert.isFalse(first.replayed)
      for (let n = 0; n < 3; n++) {
        assert.deepStrictEqual(yield* once(request, register), { answer: first.answer, replayed: true })
      }
      assert.strictEqual(yield* registered, before + 1)
    })
  )

  it.effect("rejects the same key for another request, and does nothing", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const request = yield* aRequest
      yield* once(request, register)
      const before = yield* registered
      const error = yield* Effect.flip(once({ ...request, request: 'POST /api/x\n{"a":2}' }, register))
      assert.strictEqual(error._tag, "IdempotencyConflict")
      assert.strictEqual(yield* registered, before)
    })
  )

  it.effect("rejects a repetition of a request whose result is shown once, and does and shows nothing", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const request = { ...(yield* aRequest), isShownOnce: true }
      const first = yield* once(request, register)
      const before = yield* registered
      for (const again of [request, { ...request, request: "another" }]) {
        const error = yield* Effect.flip(once(again, register))
        assert.deepInclude(error, { _tag: "IdempotencyConflict", reason: "answered_once" })
        assert.notInclude(error.message, first.answer)
      }
      assert.strictEqual(yield* registered, before)
    })
  )

  it.effect("keeps callers separate: the same key of another caller is another key", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const request = yield* aRequest
      const mine = yield* once(request, register)
      const theirs = yield* once({ ...request, scope: "consumer 2" }, register)
      assert.isFalse(theirs.replayed)
      assert.notStrictEqual(theirs.answer, mine.answer)
    })
  )

  it.effect("does not consume a key on a failure, and stores nothing for it", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const request = yield* aRequest
      const before = yield* registered
      const failing = Effect.andThen(register, Effect.fail("out of stock"))
      assert.strictEqual(yield* Effect.flip(once(request, failing)), "out of stock")
      assert.strictEqual(yield* registered, before)
      assert.isFalse((yield* once(request, register)).replayed)
    })
  )

  it.effect("returns no result whose secret was removed, and does not execute it again either", () =>
    Effect.gen(function* () {
      const request = yield* aRequest
      yield* (yield* Idempotency).once(request, register)
      const before = yield* registered
      const later = Idempotency.layer.pipe(
        Layer.fresh,
        Layer.provide(NodeSealer.layer([Redacted.make("another secret")]))
      )
      const error = yield* Effect.flatMap(Idempotency, ({ once }) => Effect.flip(once(request, register))).pipe(
        Effect.provide(later)
      )
      assert.strictEqual(error._tag, "IdempotencyConflict")
      assert.strictEqual(yield* registered, before)
    })
  )
})

for (const [name, ports] of everyStore) {
  it.layer(withServices(ports), { timeout: "60 seconds" })(`Idempotency over ${name}`, (it) => {
    it.effect("executes one of 32 concurrent requests, and returns its result to all of them", () =>
      Effect.gen(function* () {
        const { once } = yield* Idempotency
        const request = yield* aRequest
        const before = yield* registered
        const answers = yield* Effect.all(
          Array.from({ length: 32 }, () => once(request, Effect.andThen(Effect.yieldNow, register))),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(new Set(answers.map(({ answer }) => answer)), 1)
        assert.lengthOf(
          answers.filter(({ replayed }) => !replayed),
          1
        )
        assert.strictEqual(yield* registered, before + 1)
      })
    )

    it.effect("distinguishes concurrent requests that share a key but not a body", () =>
      Effect.gen(function* () {
        const { once } = yield* Idempotency
        const request = yield* aRequest
        const results = yield* Effect.forEach(
          Array.from({ length: 10 }, (_, n) => n % 2),
          (n) => Effect.result(once({ ...request, request: `body ${n}` }, register)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(results.filter(Result.isSuccess), 5)
        const failures = results.filter(Result.isFailure).map((result) => result.failure._tag)
        assert.deepStrictEqual(new Set(failures), new Set(["IdempotencyConflict"]))
      })
    )
  })
}
