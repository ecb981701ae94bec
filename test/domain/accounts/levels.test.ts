/**
 * Limits on the number of keys with bounds and of runs, and the time of a run.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Authentication } from "../../../domain/accounts/Authentication.ts"
import { BOUNDED_KEYS_MAX } from "../../../domain/accounts/Keys.ts"
import { Levels, RUNS_LIVE_MAX } from "../../../domain/accounts/Levels.ts"
import { Registration } from "../../../domain/providers/Registration.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { memoryCore } from "../../support/metering/Core.ts"

const LIMIT = Microcents.make(1_000n)
const UNBOUNDED = { bounds: {}, limits: [], parent: undefined, expiresAt: undefined, defaultCap: undefined, label: "" }
const A_RUN = { label: "", limit: LIMIT, expiresInSeconds: 60, allowedTools: undefined, parent: undefined }

const anOwner = Effect.gen(function* () {
  const { consumer } = yield* (yield* Registration).consumer(
    { name: "Curious", email: "dev@example.org", useCase: "", rateLimitRpm: undefined, defaultCap: undefined },
    undefined
  )
  return { ownerId: consumer.id, levels: [] }
})

it.layer(memoryCore, { timeout: "60 seconds" })("Levels", (it) => {
  it.effect("are at most so many keys with bounds, and runs at a time", () =>
    Effect.gen(function* () {
      const levels = yield* Levels
      const owner = yield* anOwner
      yield* Effect.repeat(levels.createKey(owner, UNBOUNDED), { times: BOUNDED_KEYS_MAX - 1 })
      const tooMany = yield* Effect.flip(levels.createKey(owner, UNBOUNDED))
      assert.strictEqual(tooMany.message, `An account has at most ${BOUNDED_KEYS_MAX} active keys. Revoke one first.`)
      yield* Effect.repeat(levels.startRun(owner, A_RUN), { times: RUNS_LIVE_MAX - 1 })
      assert.strictEqual((yield* Effect.flip(levels.startRun(owner, A_RUN)))._tag, "TooManyRuns")
      yield* TestClock.adjust("61 seconds")
      yield* levels.startRun(owner, A_RUN)
    })
  )

  it.effect("end a run with its time, also for calls that name it", () =>
    Effect.gen(function* () {
      const levels = yield* Levels
      const { authenticate } = yield* Authentication
      const owner = yield* anOwner
      const { run, secret } = yield* levels.startRun(owner, A_RUN)
      const below = yield* levels.startRun(owner, { ...A_RUN, expiresInSeconds: 3_600, parent: run.id })
      assert.deepStrictEqual(
        (yield* levels.asRun(owner, below.run.id)).map(({ id }) => id),
        [run.id, below.run.id]
      )
      yield* authenticate(secret)
      yield* TestClock.adjust("61 seconds")
      for (const key of [secret, below.secret]) {
        assert.strictEqual((yield* Effect.flip(authenticate(key)))._tag, "Unauthorized")
      }
      for (const { id } of [run, below.run]) {
        assert.strictEqual((yield* Effect.flip(levels.asRun(owner, id)))._tag, "RunNotFound")
      }
      assert.isTrue(DateTime.isLessThan(run.expiresAt!, yield* DateTime.now))
    })
  )
})
