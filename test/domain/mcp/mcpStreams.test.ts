/**
 * Streams of MCP clients: resumed on the node that runs the request and on another one, bounded, and of one session.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { McpStreamStore } from "../../../domain/mcp/McpStores.ts"
import {
  eventId,
  listenEventId,
  McpStreams,
  parseEventId,
  parseListenEventId,
  REPLAY_CHARS_MAX,
  REPLAY_CHARS_PER_ACCOUNT_MAX,
  requestLabel,
  type StreamRequest,
  type StreamSink
} from "../../../domain/mcp/McpStreams.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { memoryPorts } from "../../contracts/ports.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

class Received implements StreamSink {
  readonly ids: Array<string> = []
  readonly messages: Array<string> = []
  begun = 0
  ended = 0
  begin(): void {
    this.begun++
  }
  write(id: string, message: string): void {
    this.ids.push(id)
    this.messages.push(message)
  }
  end(): void {
    this.ended++
  }
}

const LABEL = requestLabel(`"call 1"`)

const aRequest = Effect.gen(function* () {
  const entropy = yield* Entropy
  const request: StreamRequest = {
    sessionId: yield* entropy.hex(32),
    consumerId: ConsumerId.make(yield* entropy.uuid),
    streamId: yield* entropy.hex(16),
    label: LABEL
  }
  return request
})

const aNode = Effect.map(
  Layer.build(Layer.fresh(McpStreams.layer)),
  (context) => context.mapUnsafe.get(McpStreams.key) as McpStreams["Service"]
)

const positionOf = (id: string) => parseEventId(id)!

const until = (isSo: () => boolean) =>
  Effect.gen(function* () {
    while (!isSo()) yield* Effect.sleep("5 millis")
  })

it.layer(memoryPorts, LIVE)("McpStreams", (it) => {
  it.effect("sends a first event without a message, and then every message in order", () =>
    Effect.gen(function* () {
      const node = yield* aNode
      const [request, sink] = [yield* aRequest, new Received()]
      const stream = node.open(request, sink)
      stream.send("one")
      stream.send("two")
      stream.end()
      stream.send("late")
      assert.deepStrictEqual(sink.messages, ["", "one", "two"])
      assert.deepStrictEqual(
        sink.ids,
        [0, 1, 2].map((n) => eventId(request.streamId, n, LABEL))
      )
      assert.deepStrictEqual([sink.begun, sink.ended], [1, 1])
    })
  )

  it.effect("is not stored because another session asks for its id", () =>
    Effect.gen(function* () {
      const [node, other, store] = [yield* aNode, yield* aNode, yield* McpStreamStore]
      const request = yield* aRequest
      node.open(request, new Received()).send("secret")
      const position = { ...positionOf(eventId(request.streamId, 0, LABEL)) }
      assert.strictEqual(yield* other.resume("f".repeat(64), position, LABEL, new Received()), "Lost")
      assert.deepStrictEqual(yield* store.read(request.streamId, 0, 10), [])
    })
  )

  it.effect("resumes a stream on its node, replacing the earlier connection", () =>
    Effect.gen(function* () {
      const node = yield* aNode
      const [request, first, second] = [yield* aRequest, new Received(), new Received()]
      const stream = node.open(request, first)
      stream.send("one")
      const resumed = yield* Effect.forkChild(
        node.resume(request.sessionId, positionOf(first.ids[0]!), LABEL, second),
        { startImmediately: true }
      )
      stream.send("two")
      assert.strictEqual(first.ended, 1)
      stream.end()
      assert.strictEqual(yield* Fiber.join(resumed), "Resumed")
      assert.deepStrictEqual(first.messages, ["", "one"])
      assert.deepStrictEqual(second.messages, ["one", "two"])
      assert.deepStrictEqual([second.begun, second.ended], [1, 1])
      const third = new Received()
      assert.strictEqual(yield* node.resume(request.sessionId, positionOf(second.ids[0]!), LABEL, third), "Resumed")
      assert.deepStrictEqual(third.messages, ["two"])
      assert.strictEqual(
        yield* node.resume(request.sessionId, positionOf(second.ids[1]!), LABEL, new Received()),
        "Complete"
      )
    })
  )

  it.effect("resumes a stream on another node, while it runs and after its end", () =>
    Effect.gen(function* () {
      const [owner, other] = [yield* aNode, yield* aNode]
      const [request, first, second] = [yield* aRequest, new Received(), new Received()]
      const stream = owner.open(request, first)
      stream.send("one")
      const position = positionOf(first.ids[0]!)
      const resumed = yield* Effect.forkChild(other.resume(request.sessionId, position, LABEL, second))
      yield* until(() => second.messages.length === 1)
      assert.strictEqual(first.ended, 1)
      for (let n = 0; n < 20; n++) stream.send(`next ${n}`)
      stream.end()
      assert.strictEqual(yield* Fiber.join(resumed), "Resumed")
      assert.deepStrictEqual(second.messages, ["one", ...Array.from({ length: 20 }, (_, n) => `next ${n}`)])
      assert.deepStrictEqual([second.begun, second.ended], [1, 1])
      assert.strictEqual(second.ids[0], first.ids[1])

      const third = new Received()
      assert.strictEqual(yield* other.resume(request.sessionId, position, LABEL, third), "Resumed")
      assert.deepStrictEqual(third.messages, second.messages)
      assert.strictEqual(
        yield* other.resume(request.sessionId, positionOf(third.ids.at(-1)!), LABEL, new Received()),
        "Complete"
      )
    })
  )

  it.effect("stores no event of a stream that no other node was asked for, and never in plain text", () =>
    Effect.gen(function* () {
      const [owner, other] = [yield* aNode, yield* aNode]
      const store = yield* McpStreamStore
      const [request, first] = [yield* aRequest, new Received()]
      const stream = owner.open(request, first)
      stream.send("a secret")
      stream.end()
      assert.deepStrictEqual(yield* store.read(request.streamId, 0, 10), [])
      yield* other.resume(request.sessionId, positionOf(first.ids[0]!), LABEL, new Received())
      const stored = yield* store.read(request.streamId, 0, 10)
      assert.lengthOf(stored, 3)
      assert.isTrue(stored.every(({ sealedMessage }) => sealedMessage?.includes("secret") !== true))
    })
  )

  it.effect("does not resume the stream of another session, on any node", () =>
    Effect.gen(function* () {
      const [owner, other] = [yield* aNode, yield* aNode]
      const [request, thief, first] = [yield* aRequest, yield* aRequest, new Received()]
      const stream = owner.open(request, first)
      stream.send("one")
      const position = positionOf(first.ids[0]!)
      for (const node of [owner, other]) {
        const sink = new Received()
        assert.strictEqual(yield* node.resume(thief.sessionId, position, LABEL, sink), "Lost")
        assert.deepStrictEqual(sink.messages, [])
      }
      stream.end()
    })
  )

  it.effect("says that a stream is lost that no node has, or whose next event was dropped", () =>
    Effect.gen(function* () {
      const [owner, other] = [yield* aNode, yield* aNode]
      const [request, first] = [yield* aRequest, new Received()]
      const unknown = { ...positionOf(eventId(request.streamId, 0, LABEL)) }
      assert.strictEqual(yield* other.resume(request.sessionId, unknown, LABEL, new Received()), "Lost")
      const stream = owner.open(request, first)
      stream.send("x".repeat(REPLAY_CHARS_MAX))
      stream.send("last")
      stream.end()
      for (const node of [owner, other]) {
        const [early, late] = [new Received(), new Received()]
        const lost = yield* node.resume(request.sessionId, positionOf(first.ids[0]!), LABEL, early)
        assert.deepStrictEqual([lost, early.messages], ["Lost", []])
        assert.strictEqual(yield* node.resume(request.sessionId, positionOf(first.ids[1]!), LABEL, late), "Resumed")
        assert.deepStrictEqual(late.messages, ["last"])
      }
    })
  )
})

it.layer(memoryPorts, LIVE)("Memory of MCP streams", (it) => {
  it.effect("forgets the oldest streams of an account beyond its limit, and no other account's", () =>
    Effect.gen(function* () {
      const node = yield* aNode
      const [mine, theirs] = [yield* aRequest, yield* aRequest]
      const aStream = (request: StreamRequest) =>
        Effect.gen(function* () {
          const one = { ...request, streamId: yield* (yield* Entropy).hex(16) }
          const sink = new Received()
          const stream = node.open(one, sink)
          stream.send("y".repeat(REPLAY_CHARS_MAX / 2))
          return { one, sink, stream }
        })
      const kept = yield* aStream(theirs)
      const oldest = yield* aStream(mine)
      for (let n = 0; n < (REPLAY_CHARS_PER_ACCOUNT_MAX / REPLAY_CHARS_MAX) * 2; n++) yield* aStream(mine)
      const last = yield* aStream(mine)
      oldest.stream.send("still delivered")
      assert.strictEqual(oldest.sink.messages.at(-1), "still delivered")
      for (const { stream } of [kept, oldest, last]) stream.end()
      const again = ({ one, sink }: typeof last) =>
        node.resume(one.sessionId, positionOf(sink.ids[0]!), LABEL, new Received())
      assert.strictEqual(yield* again(oldest), "Lost")
      assert.strictEqual(yield* again(kept), "Resumed")
      assert.strictEqual(yield* again(last), "Resumed")
    })
  )
})

it("reads event ids that it wrote, and no others", () => {
  const streamId = "0123456789abcdef0123456789abcdef"
  for (const requestId of ["1", `"a.b c"`, `"é\\u0000"`]) {
    const id = eventId(streamId, 7, requestLabel(requestId))
    assert.match(id, /^[\x21-\x7e]+$/u)
    assert.deepStrictEqual(parseEventId(id), { streamId, sequence: 7, requestId })
  }
  assert.strictEqual(parseEventId(eventId(streamId, 7, requestLabel(undefined)))?.requestId, undefined)
  assert.strictEqual(requestLabel(`"${"x".repeat(200)}"`), "")
  for (const text of ["", "end", streamId, `${streamId}.1`, `${streamId}.-1.`, `${streamId}.1.%`, "x.1.1"]) {
    assert.isUndefined(parseEventId(text))
  }
  assert.isUndefined(parseEventId(`${streamId}.1.${"x".repeat(2_000)}`))
  assert.strictEqual(parseListenEventId(listenEventId("up.1 é")), "up.1 é")
  assert.isUndefined(parseListenEventId("listen"))
  assert.isUndefined(parseListenEventId("listen.%"))
})
