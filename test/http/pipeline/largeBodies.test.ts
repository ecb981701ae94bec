/**
 * Bodies larger than their endpoint accepts: an ordinary client reads the error, an endless body is cut.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { DROPPED_BYTES_MAX } from "../../../adapters/http/server/HttpMessages.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { CONSUMERS, KEYS } from "../../support/market/Market.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const MEGABYTE = 1_048_576
const LARGE = Buffer.alloc(8 * MEGABYTE, " ")
/** An upper bound for the socket buffers of both sides. */
const BUFFERED_BYTES_MAX = 32 * MEGABYTE

const posting = (path: string, body: BodyInit, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(RawHttp, ({ port }) =>
    Effect.promise(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
        ...({ duplex: "half" } as object)
      })
      return { status: answer.status, text: await answer.text() }
    })
  )

const inPieces = () => {
  let left = LARGE.length
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (left <= 0) return controller.close()
      left -= 65_536
      return controller.enqueue(new Uint8Array(65_536).fill(32))
    }
  })
}

it.layer(RawHttp.layer({ RATE_LIMIT_IP_RPM: "0", RATE_LIMIT_REGISTER_RPM: "0" }), LIVE)("a body of 8 MB", (it) => {
  it.effect("gets a 413 that fetch can read, with and without a content length", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 5; round++) {
        for (const body of [LARGE, inPieces()]) {
          const { status, text } = yield* posting(CONSUMERS, body)
          assert.strictEqual(status, 413, text)
          assert.include(text, "PAYLOAD_TOO_LARGE")
        }
      }
    })
  )

  it.effect("gets any other rejection, too", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 5; round++) {
        assert.strictEqual((yield* posting(KEYS, LARGE, { authorization: "Bearer none" })).status, 401)
        assert.strictEqual((yield* posting("/nothing", LARGE)).status, 404)
        assert.strictEqual((yield* posting(CONSUMERS, LARGE, { "content-type": "text/plain" })).status, 415)
      }
    })
  )

  it.effect("without an end is cut", () =>
    Effect.gen(function* () {
      const { port } = yield* RawHttp
      const socket = connect({ host: "127.0.0.1", port })
      let heard = ""
      let isClosed = false
      let sentBytes = 0
      socket.on("error", () => {}).on("close", () => (isClosed = true))
      socket.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")))
      socket.write(
        `POST ${CONSUMERS} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
      )
      const piece = `10000\r\n${" ".repeat(65_536)}\r\n`
      const pour = () => {
        while (!socket.destroyed && socket.write(piece)) sentBytes += 65_536
        sentBytes += 65_536
      }
      socket.on("drain", pour)
      pour()
      yield* eventually(() => isClosed)
      assert.match(heard, /^HTTP\/1\.1 413 /u)
      assert.isBelow(sentBytes, DROPPED_BYTES_MAX + BUFFERED_BYTES_MAX)
    })
  )
})
