/**
 * Messages of MCP clients: what is accepted, and what of them is passed on as it was written.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { modernResult } from "../../../adapters/http/mcp/ModernDoor.ts"
import { BATCH_MAX, parseMessages, picked, RpcFault, textAt } from "../../../adapters/http/mcp/RpcMessages.ts"
import { withMeta } from "../../../domain/mcp/PassedResults.ts"

const parsed = (text: string) => Effect.runSync(Effect.orDie(parseMessages(text)))

const faultOf = (text: string) => {
  const fault = Effect.runSync(Effect.flip(parseMessages(text)))
  assert.instanceOf(fault, RpcFault)
  return fault
}

it("keeps the texts of a request's parts as the client wrote them", () => {
  const message = parsed(
    ' {"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"echo","arguments":{ "n": 12345678901234567890 },"_meta":{"a/b":1e2,"progressToken":"p"}}}'
  )
  assert.strictEqual(message._tag, "Request")
  if (message._tag !== "Request") return
  assert.strictEqual(message.id, "1.0")
  assert.strictEqual(textAt(message.params, "arguments"), '{ "n": 12345678901234567890 }')
  assert.strictEqual(
    picked(message.meta, (name) => name !== "progressToken"),
    '"a/b":1e2'
  )
  assert.strictEqual(
    picked(message.meta, () => false),
    undefined
  )
})

it("tells requests, notifications, responses and batches apart", () => {
  assert.strictEqual(parsed('{"jsonrpc":"2.0","method":"notifications/initialized"}')._tag, "Notification")
  assert.strictEqual(parsed('{"jsonrpc":"2.0","id":"s","result":{}}')._tag, "Response")
  const batch = parsed('[{"jsonrpc":"2.0","id":1,"method":"ping"}, 7 ,{"jsonrpc":"2.0","method":"x"}]')
  assert.strictEqual(batch._tag, "Batch")
  if (batch._tag === "Batch") {
    assert.deepStrictEqual(
      batch.messages.map(({ _tag }) => _tag),
      ["Request", "RpcFault", "Notification"]
    )
  }
})

for (const [text, code, id] of [
  ["", -32700, undefined],
  ["{", -32700, undefined],
  [`${"[".repeat(100)}${"]".repeat(100)}`, -32700, undefined],
  ["[]", -32600, undefined],
  [`[${Array.from({ length: BATCH_MAX + 1 }, () => 7).join(",")}]`, -32600, undefined],
  ["7", -32600, undefined],
  ['{"id":1,"method":"x"}', -32600, "1"],
  ['{"jsonrpc":"2.0","id":null,"method":"x"}', -32600, undefined],
  ['{"jsonrpc":"2.0","id":1.5,"method":"x"}', -32600, undefined],
  [`{"jsonrpc":"2.0","id":"${"i".repeat(2_000)}","method":"x"}`, -32600, undefined],
  ['{"jsonrpc":"2.0","id":1}', -32600, "1"],
  ['{"jsonrpc":"2.0","id":1,"method":""}', -32600, "1"],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', -32602, "1"],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":7}}', -32602, "1"],
  ['{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}', -32600, undefined],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"cheap","na\\u006de":"dear"}}', -32600, "1"],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"a":1,"a":2}}}', -32600, "1"]
] as const) {
  it(`rejects ${text.slice(0, 80) || "an empty body"}`, () => {
    const fault = faultOf(text)
    assert.deepStrictEqual([fault.code, fault.id], [code, id])
  })
}

it("adds to `_meta`, and replaces only what has the same name", () => {
  const result = '{"content":[ 1.50 ],"_meta":{"theirs":1e3,"ours":{"forged":true}},"n":9007199254740993}'
  assert.strictEqual(
    withMeta(result, { ours: '{"cost":1}' }),
    '{"content":[ 1.50 ],"n":9007199254740993,"_meta":{"theirs":1e3,"ours":{"cost":1}}}'
  )
  assert.strictEqual(withMeta("{}", { ours: "1" }), '{"_meta":{"ours":1}}')
  assert.strictEqual(withMeta('{"_meta":"text"}', { ours: "1" }), '{"_meta":{"ours":1}}')
  assert.strictEqual(withMeta('{"_meta":{"\\u006furs":2}}', { ours: "1" }), '{"_meta":{"ours":1}}')
})

it("completes modern results, and lets no cache share them", () => {
  assert.strictEqual(modernResult("tools/call", '{"content":[]}'), '{"content":[],"resultType":"complete"}')
  assert.strictEqual(
    modernResult("resources/read", '{"contents":[],"resultType":"complete","ttlMs":5,"cacheScope":"public"}'),
    '{"contents":[],"resultType":"complete","ttlMs":5,"cacheScope":"private"}'
  )
  const asks = '{"resultType":"input_required","inputRequests":{}}'
  assert.strictEqual(modernResult("prompts/get", asks), asks)
})
