/**
 * Every 4xx or 5xx response leaves a line, and a flood of them a bounded number of lines and a count.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import {
  FAILURES_PER_SECOND_MAX,
  LINES_PER_SECOND_MAX,
  makeProblemLog
} from "../../adapters/http/pipeline/RequestTelemetry.ts"
import { monotonicNowMs } from "../../domain/shared/Time.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

it.layer(ServiceUnderTest.memory(), LIVE)("a rejected request", (it) => {
  it.effect("leaves a line with method, route, status, code and request id, and nothing of its content", () =>
    Effect.gen(function* () {
      const headers = { "x-request-id": "request-7", "x-canary": "canary" }
      const refused = yield* send({ path: "/api/v1/market/keys?canary=1", key: "canary", headers })
      assert.strictEqual(refused.status, 401)
      const [line = ""] = refused.log.split("\n").filter((one) => one.includes("answered with a problem"))
      for (const said of ["request-7", "GET", "/api/v1/market/keys", "401", "UNAUTHORIZED"]) assert.include(line, said)
      assert.notInclude(refused.log, "canary")
      const nothing = yield* send({ path: "/canary" })
      assert.match(nothing.log, /unmatched/u)
      assert.notInclude(nothing.log, "canary")
    })
  )

  it.effect("leaves no second line", () =>
    Effect.gen(function* () {
      assert.notInclude((yield* send({ path: "/livez" })).log, "answered with")
    })
  )
})

it.effect("a flood of problems is logged as some lines a second and a count", () =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.formatLogFmt, (line) => lines.push(line))
    yield* Effect.gen(function* () {
      const log = yield* makeProblemLog
      const answer = { status: 429, headers: {}, body: '{"code":"RATE_LIMITED"}' }
      for (let n = 0; n < 1_000; n++) yield* log(answer, yield* monotonicNowMs)
      assert.lengthOf(lines, LINES_PER_SECOND_MAX)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(lines, LINES_PER_SECOND_MAX + 1)
      assert.include(lines.at(-1), `${1_000 - LINES_PER_SECOND_MAX} more requests`)
      const failure = { status: 503, headers: {}, body: '{"code":"UNAVAILABLE"}' }
      for (let n = 0; n < LINES_PER_SECOND_MAX; n++) yield* log(answer, yield* monotonicNowMs)
      const before = lines.length
      for (let n = 0; n < FAILURES_PER_SECOND_MAX + 1; n++) yield* log(failure, yield* monotonicNowMs)
      assert.lengthOf(lines, before + FAILURES_PER_SECOND_MAX)
      yield* TestClock.adjust("1 second")
      assert.match(lines.at(-1)!, /[^\d]1 more requests/u)
      lines.splice(LINES_PER_SECOND_MAX + 1)
      yield* TestClock.adjust("10 seconds")
      const startedMs = yield* monotonicNowMs
      yield* TestClock.adjust("1500 millis")
      yield* log(answer, startedMs)
      assert.lengthOf(lines, LINES_PER_SECOND_MAX + 2)
      assert.include(lines.at(-1), "duration_ms=1500")
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
)
