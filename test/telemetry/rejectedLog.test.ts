/**
 * Problems that the server answers itself, before there is a request to dispatch, leave the same lines in the log as
 * all others.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger } from "effect"
import { connect, type Socket } from "node:net"
import { Dispatcher } from "../../adapters/http/pipeline/Dispatcher.ts"
import { LINES_PER_SECOND_MAX, makeProblemLog } from "../../adapters/http/pipeline/RequestTelemetry.ts"
import { RawHttp, talk } from "../support/servers/RawHttp.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { eventually } from "../support/mcp/McpClient.ts"

const logTo = (lines: Array<string>) => Logger.layer([Logger.map(Logger.formatLogFmt, (line) => lines.push(line))])

const lines: Array<string> = []

it.layer(RawHttp.layer().pipe(Layer.provide(logTo(lines))), LIVE)("a malformed request", (it) => {
  it.effect("leaves an INFO line with status, code and request id, and nothing of its content", () =>
    Effect.gen(function* () {
      for (const [bytes, status, code] of [
        ["canary canary canary\r\n\r\n", 400, "BAD_REQUEST"],
        ["GET /canary HTTP/1.1\r\nx-canary: canary\r\n\r\n", 400, "BAD_REQUEST"],
        ["GET /canary\r\n\r\n", 400, "BAD_REQUEST"],
        [`GET /canary HTTP/1.1\r\nhost: a\r\nx-canary: ${"c".repeat(70_000)}\r\n\r\n`, 431, "HEADERS_TOO_LARGE"]
      ] as const) {
        lines.length = 0
        const { answers } = yield* talk([bytes], { answers: 1 })
        assert.strictEqual(answers[0]?.status, status)
        yield* eventually(() => lines.length > 0)
        assert.lengthOf(lines, 1)
        const id = answers[0]?.headers["x-request-id"] ?? "none"
        for (const said of ["level=INFO", "answered with a problem", id, "unmatched", `status=${status}`, code]) {
          assert.include(lines[0], said)
        }
        assert.notInclude(lines[0], "canary")
      }
    })
  )
})

const flood: Array<string> = []

const begun = Deferred.makeUnsafe<void>()

/** Never finishes a request. */
const busy = Layer.effect(
  Dispatcher,
  Effect.map(makeProblemLog, (logProblem) => ({
    baseUrl: "https://market.example",
    dispatch: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never),
    logRejected: (answer) => logProblem(answer, performance.now()),
    idle: Effect.void,
    beginDrain: Effect.void,
    endStreams: Effect.void,
    cutOff: Effect.void
  }))
)
const opened = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => connect({ host: "127.0.0.1", port }).on("error", () => {})),
    (socket: Socket) => Effect.sync(() => socket.destroy())
  )

// The clock of the test is fixed, so that everything happens in one second.
it.layer(RawHttp.over(busy, { connectionsPerAddressMax: 1 }).pipe(Layer.provide(logTo(flood))))(
  "a flood of rejected connections",
  (it) => {
    it.effect("leaves as many lines as any other flood of problems", () =>
      Effect.gen(function* () {
        const { port } = yield* RawHttp
        const working = yield* opened(port)
        working.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        yield* Deferred.await(begun)
        let refused = 0
        for (let n = 0; n < 3 * LINES_PER_SECOND_MAX; n++) {
          const socket = yield* opened(port)
          let heard = ""
          socket.on("data", (chunk: Buffer) => (heard += chunk.toString()))
          yield* Effect.callback<void>((resume) => void socket.on("close", () => resume(Effect.void)))
          if (heard.startsWith("HTTP/1.1 429")) refused++
        }
        assert.strictEqual(refused, 3 * LINES_PER_SECOND_MAX)
        assert.lengthOf(flood, LINES_PER_SECOND_MAX)
        for (const line of flood) assert.match(line, /level=INFO.*status=429 code=RATE_LIMITED/u)
      })
    )
  }
)
