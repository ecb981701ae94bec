/**
 * Streams of MCP messages: what a slow client costs, and how many streams an account may keep open.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { OpenStreams, STREAMS_PER_ACCOUNT_MAX } from "../../../adapters/http/pipeline/WebRequest.ts"
import { REQUIRED_UNREAD_BYTES_MAX, writeEvent, written } from "../../../adapters/http/server/HttpMessages.ts"

const HEADERS = { "content-type": "text/event-stream" }

it("writes ids, comments, and events without a name", () => {
  assert.strictEqual(written({ data: "{}" }), "data: {}\n\n")
  assert.strictEqual(written({ id: "7", retryMs: 500, data: "" }), "id: 7\nretry: 500\ndata: \n\n")
  assert.strictEqual(written({ event: "progress", data: '{\n"a":1}' }), 'event: progress\ndata: {\ndata: "a":1}\n\n')
  assert.strictEqual(written({}), ":\n\n")
})

it("drops nothing that is required: a client that does not read is disconnected", () => {
  const outgoing = new ServerResponse(new IncomingMessage(new Socket()))
  const message = { data: JSON.stringify("x".repeat(100_000)), required: true }
  let sent = 0
  while (!outgoing.destroyed && sent < 1_000) {
    writeEvent(outgoing, HEADERS, message)
    sent++
  }
  assert.isTrue(outgoing.destroyed)
  assert.isAbove(outgoing.writableLength, REQUIRED_UNREAD_BYTES_MAX)
  assert.isBelow(outgoing.writableLength, REQUIRED_UNREAD_BYTES_MAX + 300_000)
})

it.effect("an account may keep so many streams open, and another one as many", () =>
  Effect.gen(function* () {
    const streams = yield* OpenStreams
    const opened = yield* Effect.forEach(Array.from({ length: STREAMS_PER_ACCOUNT_MAX }), () =>
      Effect.forkChild(streams.keep("one", Effect.never, Effect.succeed("stopped")), { startImmediately: true })
    )
    const rejected = yield* Effect.flip(streams.keep("one", Effect.never, Effect.void))
    assert.strictEqual(rejected._tag, "TooManyStreams")
    const other = yield* Effect.forkChild(streams.keep("other", Effect.never, Effect.succeed("stopped")), {
      startImmediately: true
    })
    yield* Fiber.interrupt(opened[0]!)
    const done = yield* Deferred.make<string>()
    const again = yield* Effect.forkChild(streams.keep("one", Deferred.await(done), Effect.succeed("stopped")), {
      startImmediately: true
    })
    yield* Deferred.succeed(done, "ended")
    assert.strictEqual(yield* Fiber.join(again), "ended")
    yield* streams.endAll
    assert.strictEqual(yield* Fiber.join(other), "stopped")
    assert.strictEqual(yield* Fiber.join(opened[1]!), "stopped")
    assert.strictEqual(yield* streams.keep("late", Effect.never, Effect.succeed("stopped")), "stopped")
  }).pipe(Effect.provide(OpenStreams.layer))
)
