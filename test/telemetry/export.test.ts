/**
 * Export of traces and logs to a collector: what arrives, and that a slow, hanging, rejecting or missing collector
 * does not affect the service.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Logger, Redacted, Scope } from "effect"
import * as OtlpExport from "../../adapters/telemetry/OtlpExport.ts"
import { COLLECTOR_LIMITS, type CollectorLimits } from "../../adapters/telemetry/OtlpExport.ts"
import { makeExportTally, ProcessTelemetry, step, traced } from "../../domain/shared/Telemetry.ts"
import { collector } from "../support/telemetry/Collector.ts"

const HASTY: CollectorLimits = {
  attemptMs: 200,
  attemptsMax: 2,
  pauseMs: 20,
  batchesInFlightMax: 4,
  bytesInFlightMax: 1_000_000
}

/** For a collector that accepts everything, on a busy machine. */
const PATIENT: CollectorLimits = { ...HASTY, attemptMs: 30_000 }

/** An exporter of its own, with the results of its batches, and its own output. */
const exporting = Effect.fnUntraced(function* (url: string, limits: CollectorLimits = PATIENT) {
  const tally = makeExportTally()
  const said: Array<string> = []
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(
    OtlpExport.layer(
      {
        url: Redacted.make(url),
        headers: Redacted.make({ "x-tenant": "market" }),
        serviceName: "agent-tool-billing",
        version: "1.2.3",
        instanceId: "this one",
        sampling: { ratio: 1 },
        limits,
        exportEveryMs: 20
      },
      [Logger.map(Logger.formatLogFmt, (line) => said.push(line))]
    ).pipe(
      Layer.provide(Layer.succeed(ProcessTelemetry, { exports: tally, lines: { dropped: 0 }, accessLog: undefined }))
    ),
    scope
  )
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const batches = (signal: string, outcome: string) =>
    tally.read().find((one) => one.signal === signal && one.outcome === outcome)!.batches
  const run = <A, E>(work: Effect.Effect<A, E>) => Effect.provide(work, context)
  return { batches, run, said, stop: Scope.close(scope, Exit.void) }
})

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.sleep("5 millis").pipe(
    Effect.repeat({ until: holds }),
    Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.die(new Error("It never came to that")) }),
    Effect.asVoid
  )

describe("what is exported", () => {
  it.live("arrives unchanged: spans in their trace, lines with their annotations", () =>
    Effect.gen(function* () {
      const double = yield* collector
      const { run, stop } = yield* exporting(double.url)
      yield* run(
        Effect.logWarning("Something was odd").pipe(
          Effect.annotateLogs({ request_id: "r-1", attempts: 2 }),
          (inner) => step(inner, "inner"),
          (work) => traced(work, "outer", { kind: "server", attributes: { route: "/x" } })
        )
      )
      yield* stop
      const spans = double.spans()
      const [outer, inner] = ["outer", "inner"].map((name) => spans.find((span) => span.name === name)!)
      assert.strictEqual(spans.length, 2)
      assert.strictEqual(inner!.parentSpanId, outer!.spanId)
      assert.strictEqual(inner!.traceId, outer!.traceId)
      assert.deepStrictEqual([outer!.parentSpanId, outer!.kind, outer!.attributes["route"]], [undefined, 2, "/x"])
      assert.strictEqual(outer!.resource["service.name"], "agent-tool-billing")
      assert.strictEqual(outer!.resource["service.version"], "1.2.3")
      assert.strictEqual(outer!.resource["service.instance.id"], "this one")
      const [line] = double.lines()
      assert.deepStrictEqual(
        [line!.body, line!.severityText, line!.traceId],
        ["Something was odd", "Warn", outer!.traceId]
      )
      assert.deepStrictEqual([line!.attributes["request_id"], line!.attributes["attempts"]], ["r-1", 2])
      assert.isTrue(double.posts.every(({ headers }) => headers["x-tenant"] === "market"))
    })
  )

  it.live("is sent in the background, long before a stop", () =>
    Effect.gen(function* () {
      const double = yield* collector
      const { batches, run } = yield* exporting(double.url)
      yield* run(Effect.logInfo("now"))
      yield* until(() => double.lines().length === 1)
      yield* until(() => batches("logs", "sent") === 1)
    })
  )

  it.live("is cut where a text is long", () =>
    Effect.gen(function* () {
      const double = yield* collector
      const { run, stop } = yield* exporting(double.url)
      yield* run(Effect.logInfo("x".repeat(100_000)))
      yield* stop
      assert.strictEqual(String(double.lines()[0]!.body).length, OtlpExport.TEXT_CHARS_MAX + 1)
    })
  )
})

describe("a collector that", () => {
  it.live("does not accept a batch at first gets it again", () =>
    Effect.gen(function* () {
      const double = yield* collector
      double.manner = 503
      // An exporter that obeyed would wait for a day, with all its data.
      double.answerHeaders = { "retry-after": "86400" }
      const { batches, run } = yield* exporting(double.url, { ...HASTY, attemptsMax: 50 })
      yield* run(Effect.logInfo("again"))
      yield* Effect.sleep("100 millis")
      double.manner = "takes"
      yield* until(() => batches("logs", "sent") === 1)
      assert.strictEqual(double.lines()[0]!.body, "again")
    })
  )

  it.live.each(["hangs", "trickles", 429, 400] as const)(
    "%s is given up, logged once, and not called for a while",
    (manner) =>
      Effect.gen(function* () {
        const double = yield* collector
        double.manner = manner
        double.answerHeaders = { "retry-after": "86400" }
        const { batches, run, said } = yield* exporting(double.url, HASTY)
        yield* run(Effect.logInfo("one"))
        yield* until(() => batches("logs", "failed") === 1)
        double.manner = "takes"
        yield* run(Effect.repeat(Effect.logInfo("more"), { times: 1_000 }))
        yield* Effect.sleep("200 millis")
        assert.strictEqual(double.posts.length, 0)
        const warnings = said.filter((line) => line.includes("The collector"))
        assert.strictEqual(warnings.length, 1, warnings.join("\n"))
        assert.include(warnings[0], "did not take logs")
        assert.notInclude(warnings[0], "market")
      })
  )

  it.live("is unavailable costs neither time nor memory", () =>
    Effect.gen(function* () {
      const { batches, run } = yield* exporting("http://127.0.0.1:1", HASTY)
      const [took] = yield* Effect.timed(run(Effect.repeat(Effect.logInfo("x".repeat(1_000)), { times: 20_000 })))
      assert.isBelow(Duration.toMillis(took), 30_000)
      yield* until(() => batches("logs", "failed") > 0)
      assert.isBelow(batches("logs", "failed") + batches("logs", "dropped"), 100)
    })
  )

  it.live("hangs has no more requests in flight than the limits allow", () =>
    Effect.gen(function* () {
      const double = yield* collector
      double.manner = "hangs"
      const limits = { ...HASTY, attemptMs: 1_000, bytesInFlightMax: 10_000_000 }
      const { batches, run } = yield* exporting(double.url, limits)
      // Twenty batches at once.
      yield* run(Effect.repeat(Effect.logInfo("y"), { times: 5_120 }))
      yield* until(() => batches("logs", "dropped") > 0)
      yield* until(() => batches("logs", "failed") === limits.batchesInFlightMax)
      assert.isAtMost(double.underWayMost, limits.batchesInFlightMax)
    })
  )

  it.live("hangs holds no more bytes than the limits allow", () =>
    Effect.gen(function* () {
      const double = yield* collector
      double.manner = "hangs"
      const { batches, run } = yield* exporting(double.url, { ...HASTY, attemptMs: 1_000 })
      // A batch is sent once it is full, and periodically: any two full ones are too much.
      yield* run(Effect.repeat(Effect.logInfo("z".repeat(3_000)), { times: 1_024 }))
      yield* until(() => batches("logs", "dropped") > 0)
      yield* until(() => batches("logs", "failed") > 0 && double.underWay === 0)
      assert.isBelow(batches("logs", "failed"), HASTY.batchesInFlightMax)
    })
  )

  it.live(
    "hangs delays a stop for a bounded time only",
    () =>
      Effect.gen(function* () {
        const double = yield* collector
        double.manner = "hangs"
        const { run, stop } = yield* exporting(double.url, { ...COLLECTOR_LIMITS, attemptMs: 60_000 })
        yield* run(traced(Effect.logInfo("last words"), "last"))
        const stopping = yield* Effect.forkChild(Effect.timed(stop))
        const [took] = yield* Fiber.join(stopping)
        assert.isBelow(Duration.toMillis(took), 2 * OtlpExport.FLUSH_MS_MAX + 10_000)
      }),
    180_000
  )
})
