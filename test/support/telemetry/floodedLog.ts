/**
 * A program that logs 200,000 lines, and then reports on stderr how many bytes wait for the reader of its stdout.
 */
import { Effect, Layer, Logger } from "effect"
import { writeSync } from "node:fs"
import { logOutput } from "../../../src/layers/Telemetry.ts"

const LINES = 200_000
const LINES_PER_TURN = 1_000

const flood = Effect.gen(function* () {
  for (let n = 0; n < LINES; n++) {
    yield* Effect.logInfo("A line of the log that nothing reads")
    if (n % LINES_PER_TURN === 0) yield* Effect.sleep(0)
  }
  writeSync(2, `${JSON.stringify({ lines: LINES, buffered: process.stdout.writableLength })}\n`)
  return yield* Effect.never
})

Effect.runFork(Effect.provide(flood, Layer.merge(Logger.layer([Logger.consoleJson]), logOutput(0))))
