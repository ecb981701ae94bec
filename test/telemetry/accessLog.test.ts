/**
 * The access log: a line for a sample of the successful requests, with ids and without anything of their content; and a
 * reader of the log that takes nothing.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { bounded, BUFFERED_BYTES_MAX } from "../../src/layers/Telemetry.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { json, post, ready } from "../support/servers/ServiceProcess.ts"

const TOLD = "A request was answered"
const SLOW = 240_000

interface Line {
  readonly message: unknown
  readonly level: string
  readonly annotations: Readonly<Record<string, unknown>>
}

const linesOf = (output: string): ReadonlyArray<Line> =>
  output
    .split("\n")
    .filter((line) => line.startsWith("{") && line.includes(`"${TOLD}"`))
    .map((line) => JSON.parse(line) as Line)

it.live(
  "a line names the request, its route and its account, and nothing that the client sent",
  () =>
    Effect.gen(function* () {
      const { output, url } = yield* ready({ PROFILE: "memory", LOG_FORMAT: "json", ACCESS_LOG_RATIO: "1" })
      const { body } = yield* post(`${url}/api/market/register-consumer`, {
        name: "Canary",
        email: "canary@example.org"
      })
      const key = String(body["api_key"])
      const headers = { authorization: `Bearer ${key}`, "x-request-id": "request-7" }
      yield* json(`${url}/api/v1/market/receipts?status=success`, { headers })
      yield* until(
        "both requests are logged",
        Effect.sync(() => linesOf(output()).length === 2)
      )
      const { annotations, level } = linesOf(output())[1]!
      const { duration_ms, ...rest } = annotations
      assert.strictEqual(level, "INFO")
      assert.isAtLeast(Number(duration_ms), 0)
      assert.deepStrictEqual(rest, {
        request_id: "request-7",
        method: "GET",
        route: "/api/v1/market/receipts",
        owner_id: body["consumer_id"],
        status: 200
      })
      for (const secret of [key, "status=success", "Canary", "canary@"]) assert.notInclude(output(), secret)
    }),
  SLOW
)

it.live(
  "no line is written with a ratio of 0",
  () =>
    Effect.gen(function* () {
      const { output, url } = yield* ready({ PROFILE: "memory", LOG_FORMAT: "json", ACCESS_LOG_RATIO: "0" })
      for (let n = 0; n < 50; n++) yield* json(`${url}/api/market/health`)
      yield* json(`${url}/api/v1/market/receipts`)
      yield* until(
        "the problem is logged",
        Effect.sync(() => output().includes("answered with a problem"))
      )
      assert.lengthOf(linesOf(output()), 0)
    }),
  SLOW
)

it("lines are dropped beyond the buffer, and counted in the first line after it", () => {
  const printed: Array<unknown> = []
  const stream = { writableLength: 0, on: () => {} }
  const print = bounded(stream)((...parts) => printed.push(...parts))
  print("one")
  stream.writableLength = BUFFERED_BYTES_MAX + 1
  for (let n = 0; n < 7; n++) print("lost")
  stream.writableLength = BUFFERED_BYTES_MAX
  print("two")
  print("three")
  assert.deepStrictEqual(printed, [
    "one",
    "7 log lines were dropped, because the reader of the log was too slow.",
    "two",
    "three"
  ])
})

it("nothing is written to a stream that failed", () => {
  const printed: Array<unknown> = []
  let fail: (error: Error) => void = () => {}
  const stream = { writableLength: 0, on: (_: "error", handle: typeof fail) => (fail = handle) }
  const print = bounded(stream)((...parts) => printed.push(...parts))
  print("one")
  fail(new Error("EPIPE"))
  print("two")
  assert.deepStrictEqual(printed, ["one"])
})

it.live(
  "/metrics counts the lines that a closed reader did not take",
  () =>
    Effect.gen(function* () {
      const { child, url } = yield* ready({ PROFILE: "memory", LOG_FORMAT: "json", ACCESS_LOG_RATIO: "1" })
      const dropped = Effect.promise(async () => {
        const text = await (await fetch(`${url}/metrics`)).text()
        return Number(/^atb_log_lines_dropped_total (\d+)$/mu.exec(text)?.[1])
      })
      assert.strictEqual(yield* dropped, 0)
      child.stdout!.destroy()
      yield* until(
        "lines are counted",
        Effect.gen(function* () {
          yield* json(`${url}/api/market/health`)
          return (yield* dropped) > 0
        })
      )
    }),
  SLOW
)

it.live(
  "a reader that takes nothing costs lines, not memory",
  () =>
    Effect.gen(function* () {
      const child = spawn(process.execPath, [join(import.meta.dirname, "../support/telemetry/floodedLog.ts")], {
        stdio: ["ignore", "pipe", "pipe"]
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
      // Its stdout is never read.
      let said = ""
      child.stderr!.on("data", (chunk: Buffer) => (said += chunk.toString()))
      yield* until(
        "it reports",
        Effect.sync(() => said.includes("\n"))
      )
      const { buffered, lines } = JSON.parse(said) as { readonly buffered: number; readonly lines: number }
      assert.strictEqual(lines, 200_000)
      assert.isAbove(buffered, 0)
      assert.isBelow(buffered, BUFFERED_BYTES_MAX + 10_000)
    }).pipe(Effect.scoped),
  SLOW
)
