import { assert, it } from "@effect/vitest"
import { type ServerSentEvent, ServerSentEvents } from "../../../adapters/mcp/client/HttpExchange.ts"

const read = (...pieces: ReadonlyArray<Uint8Array | string>) => {
  const events: Array<ServerSentEvent> = []
  const reader = new ServerSentEvents((event) => void events.push(event))
  for (const piece of pieces) reader.push(Buffer.from(piece))
  return { events, lastEventId: reader.lastEventId, retryMs: reader.retryMs }
}

const written = [
  "\uFEFF: a comment",
  "",
  "event: message",
  "id: 1",
  'data: {"a":',
  'data: "Grüße 世界"}',
  "",
  "data",
  "",
  "retry: 1500",
  "id: two words",
  "data:no space",
  "unknown: field",
  "",
  "data: never ended"
]

const expected = {
  events: [
    { event: "message", data: '{"a":\n"Grüße 世界"}' },
    { event: "", data: "" },
    { event: "", data: "no space" }
  ],
  lastEventId: "two words",
  retryMs: 1500
}

for (const [name, end] of [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"]
] as const) {
  it(`events are the same wherever the bytes are cut (${name})`, () => {
    const bytes = Buffer.from(written.join(end))
    assert.deepStrictEqual(read(bytes), expected)
    for (let at = 1; at < bytes.length; at++) {
      assert.deepStrictEqual(read(bytes.subarray(0, at), bytes.subarray(at)), expected)
    }
    assert.deepStrictEqual(read(...Array.from(bytes, (byte) => Uint8Array.of(byte))), expected)
  })
}

it("line ends of every kind may be mixed", () => {
  assert.deepStrictEqual(
    read("data: a\r", "\ndata: b\n\r\ndata: c\r\rdata: d\n\n").events.map(({ data }) => data),
    ["a\nb", "c", "d"]
  )
})

it("an empty id resets the last one, and an id with NUL is ignored", () => {
  assert.strictEqual(read("id: 7\ndata: x\n\n").lastEventId, "7")
  assert.isUndefined(read("id: 7\ndata: x\n\nid\ndata: y\n\n").lastEventId)
  assert.strictEqual(read("id: 7\ndata: x\n\nid: 8\0\ndata: y\n\n").lastEventId, "7")
})

it("a priming event without data is not an event, but its id counts", () => {
  const { events, lastEventId, retryMs } = read("id: one\nretry: 500\n\n")
  assert.deepStrictEqual([events, lastEventId, retryMs], [[], "one", 500])
})

it("a retry that is not a number of milliseconds is ignored", () => {
  assert.isUndefined(read("retry: soon\n\nretry: -5\n\nretry: 1e9\n\n").retryMs)
})

it("a line of megabytes that arrives in small pieces takes linear time", () => {
  const piece = Buffer.alloc(1_024, "x")
  const before = process.cpuUsage()
  const reader = new ServerSentEvents(() => {})
  for (let n = 0; n < 5_120; n++) reader.push(piece)
  reader.push(Buffer.from("\n\n"))
  const { system, user } = process.cpuUsage(before)
  assert.isBelow((system + user) / 1_000, 1_000)
})
