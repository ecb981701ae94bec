/**
 * Ended sessions end at the provider's server when no call of them can run any more.
 */
import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { endsAfter, LATE_ENDINGS_MAX } from "../../../domain/mcp/McpSessions.ts"
import { UPSTREAM_LIMITS } from "../../../domain/metering/CallTerms.ts"
import { memoryPorts } from "../../contracts/ports.ts"
import { given, LONGEST_MS } from "../../support/mcp/servers/SessionsAtFake.ts"

it.layer(memoryPorts)("Sessions that ended", (it) => {
  it.effect("end at the provider's server only once no call of it can run any more", () =>
    Effect.gen(function* () {
      const { consumerId, fake, open, server, sessions } = yield* given
      const { session } = yield* open
      yield* sessions.end(session)
      assert.strictEqual((yield* Effect.flip(sessions.find(session.id, consumerId, server)))._tag, "McpSessionNotFound")
      assert.strictEqual(Duration.toMillis(endsAfter(UPSTREAM_LIMITS, 30_000)), LONGEST_MS)
      yield* TestClock.adjust(Duration.millis(LONGEST_MS - 1))
      assert.deepStrictEqual(fake.ended, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(fake.ended, [session.upstream])
    })
  )

  it.effect("are left beyond a limit to the idle time-out of the provider's server", () =>
    Effect.gen(function* () {
      const { fake, open, sessions } = yield* given
      for (let n = 0; n < LATE_ENDINGS_MAX + 1; n++) yield* sessions.end((yield* open).session)
      yield* TestClock.adjust(Duration.millis(LONGEST_MS))
      assert.strictEqual(fake.ended.length, LATE_ENDINGS_MAX)
      yield* sessions.end((yield* open).session)
      yield* TestClock.adjust(Duration.millis(LONGEST_MS))
      assert.strictEqual(fake.ended.length, LATE_ENDINGS_MAX + 1)
    })
  )
})
