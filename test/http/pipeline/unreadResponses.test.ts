/**
 * Clients that request much and read nothing cost the server bounded memory for a bounded time.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { connect, type Socket } from "node:net"
import { layer as nodeServer, ListeningAt } from "../../../adapters/http/server/NodeServer.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { memoryConfig, wholeService } from "../../support/market/ServiceConfig.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const SILENCE_MS = 2_000
/** Each a tenth of the permitted idle time, all together four times as long. */
const PAUSE_MS = 200
const PAUSES = 40
const READ_BYTES = 300_000
const PIPELINED_MAX = 100
/** Of half a megabyte and more: their total is more than socket buffers hold, and less than the limit of all connections. */
const LARGE_RESPONSES = 30
const LARGE = "GET /api/openapi.json HTTP/1.1\r\nhost: a\r\n\r\n"
const SMALL = "GET /livez HTTP/1.1\r\nhost: a\r\n\r\n"

const server = nodeServer({ host: "127.0.0.1", port: 0, drain: "1 second", silenceMs: SILENCE_MS }).pipe(
  Layer.provide(wholeService(memoryConfig())),
  Layer.orDie
)

const connection = Effect.flatMap(ListeningAt, ({ port }) =>
  Effect.acquireRelease(
    Effect.sync(() => connect({ host: "127.0.0.1", port }).on("error", () => {})),
    (socket) => Effect.sync(() => socket.destroy())
  )
)

const readingFrom = (socket: Socket) => {
  const heard = { answers: 0, bytes: 0, isClosed: false, pauseAtBytes: Number.POSITIVE_INFINITY }
  socket.on("close", () => (heard.isClosed = true))
  socket.on("data", (chunk: Buffer) => {
    heard.bytes += chunk.length
    if (heard.bytes >= heard.pauseAtBytes) socket.pause()
    heard.answers += chunk.toString("latin1").split("HTTP/1.1 200").length - 1
  })
  return heard
}

it.layer(server, LIVE)("a client", (it) => {
  it.effect("may pipeline a number of requests before it reads: all are answered", () =>
    Effect.gen(function* () {
      const socket = yield* connection
      const heard = readingFrom(socket)
      for (let round = 1; round <= 3; round++) {
        socket.write(SMALL.repeat(PIPELINED_MAX))
        yield* eventually(() => heard.answers === round * PIPELINED_MAX)
      }
      assert.isFalse(heard.isClosed)
    })
  )

  it.effect("that pipelines more than that is disconnected", () =>
    Effect.gen(function* () {
      const socket = yield* connection
      const heard = readingFrom(socket)
      socket.write(SMALL.repeat(10 * PIPELINED_MAX))
      yield* eventually(() => heard.isClosed)
      assert.isAtMost(heard.answers, PIPELINED_MAX)
    })
  )

  it.effect("that does not read its response is disconnected; one that reads slowly is not", () =>
    Effect.gen(function* () {
      const [unreading, slow] = [yield* connection, yield* connection]
      const before = readingFrom(slow)
      for (const socket of [unreading, slow]) socket.pause().write(LARGE.repeat(LARGE_RESPONSES))
      for (let n = 0; n < PAUSES; n++) {
        yield* Effect.sleep(PAUSE_MS)
        before.pauseAtBytes = before.bytes + READ_BYTES
        slow.resume()
        yield* eventually(() => slow.isPaused())
      }
      before.pauseAtBytes = Number.POSITIVE_INFINITY
      slow.resume()
      yield* eventually(() => before.answers === LARGE_RESPONSES)
      // The client still reads what the kernel buffered, then the end.
      const after = readingFrom(unreading)
      unreading.resume()
      yield* eventually(() => after.isClosed)
      assert.isBelow(after.answers, LARGE_RESPONSES)
    })
  )
})
