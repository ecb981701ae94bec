/**
 * The history of health checks over HTTP: recorded by the service's own job, and returned exactly.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schedule } from "effect"
import { percentOf } from "../../adapters/http/platform/Platform.ts"
import { HISTORY_DAYS, HISTORY_DAYS_KEPT } from "../../domain/platform/HealthHistory.ts"
import { DatabaseLink } from "../support/servers/DatabaseLink.ts"
import { at, expecting, listAt, textAt, valueAt } from "../support/market/Market.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { postgresConfig, wholeService } from "../support/market/ServiceConfig.ts"
import { LIVE, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const PATH = "/api/v1/status/history"
const NAMES = ["service", "background", "database", "disk", "log", "rate_limits", "schema"]

/** The job's first round comes soon after the start. */
const recorded = expecting(200, { path: PATH }).pipe(
  Effect.repeat({
    until: (answer) => Number(at(answer, "checks", 0, "samples")) > 0,
    schedule: Schedule.spaced("100 millis")
  }),
  Effect.timeoutOrElse({ duration: "60 seconds", orElse: () => Effect.die(new Error("Nothing was recorded")) })
)

describe("the history", () => {
  it.layer(ServiceUnderTest.memory(), LIVE)("of a service that has just started", (it) => {
    it.effect("contains today, and no other day", () =>
      Effect.gen(function* () {
        const answer = yield* recorded
        const today = DateTime.formatIso(yield* DateTime.now).slice(0, 10)
        assert.deepStrictEqual([at(answer, "days"), at(answer, "to")], [HISTORY_DAYS, today])
        assert.deepStrictEqual(
          listAt(answer, "checks").map((check) => valueAt(check, "name")),
          NAMES
        )
        for (const n of NAMES.keys()) {
          const days = listAt(answer, "checks", n, "by_day")
          assert.lengthOf(days, HISTORY_DAYS)
          assert.strictEqual(valueAt(days[0], "date"), textAt(answer, "from"))
          for (const day of days.slice(0, -1)) {
            assert.deepStrictEqual([valueAt(day, "samples"), valueAt(day, "good_pct")], [0, null])
          }
          assert.deepStrictEqual(valueAt(days.at(-1), "date"), today)
          assert.isAbove(Number(valueAt(days.at(-1), "samples")), 0)
        }
        const last = listAt(answer, "checks", 2, "by_day").at(-1)
        assert.strictEqual(at(answer, "checks", 2, "good_pct"), valueAt(last, "good_pct"))
      })
    )

    it.effect("returns the requested number of days, and rejects more than it keeps", () =>
      Effect.gen(function* () {
        for (const days of [1, 7, HISTORY_DAYS_KEPT]) {
          const answer = yield* expecting(200, { path: `${PATH}?days=${days}` })
          assert.lengthOf(listAt(answer, "checks", 0, "by_day"), days)
        }
        for (const days of ["0", String(HISTORY_DAYS_KEPT + 1), "-1", "1e2", "x", ""]) {
          assert.include(textAt(yield* expecting(400, { path: `${PATH}?days=${days}` }), "message"), "days")
        }
      })
    )
  })
})

it.layer(
  ServiceUnderTest.over(Layer.unwrap(Effect.map(DatabaseLink, ({ url }) => wholeService(postgresConfig(url))))).pipe(
    Layer.provideMerge(DatabaseLink.layer),
    Layer.provideMerge(PostgresTest.layerDatabase)
  ),
  LIVE
)("the history without the database", (it) => {
  it.effect("is unavailable, as everything else that is stored there", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      yield* recorded
      yield* link.cut
      assert.strictEqual(at(yield* expecting(503, { path: `${PATH}?days=2` }), "code"), "UNAVAILABLE")
      yield* link.restore
    })
  )
})

it.each([
  [undefined, null],
  [1, 100],
  [129_599 / 129_600, 99.999],
  [0.9993055, 99.93],
  [0, 0]
])("a share of %s is %s percent", (share, percent) => assert.strictEqual(percentOf(share), percent))
