/**
 * Every behavior of a provider's server ends a call in the outcome that the contract names for it, after the number
 * of attempts that it allows.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bodyBehaviors } from "../../support/mcp/servers/BodyBehaviors.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { httpBehaviors } from "../../support/mcp/servers/HttpBehaviors.ts"
import {
  event,
  json,
  rawServer,
  result,
  rpcError,
  scriptedServer,
  type Seen,
  stream,
  text
} from "../../../testing/mcp/ScriptedServer.ts"
import { streamBehaviors } from "../../support/mcp/servers/StreamBehaviors.ts"
import { makeUpstream } from "../../support/mcp/McpClient.ts"

const fineText = (seen: unknown): string =>
  ((seen as { content?: ReadonlyArray<{ text?: string }> }).content ?? [])[0]?.text ?? ""

describe("a provider's behavior, and the outcome of the call", () => {
  for (const one of [...httpBehaviors, ...bodyBehaviors, ...streamBehaviors]) {
    for (const era of one.eras ?? (["modern", "stateful"] as const)) {
      it.live(`${one.name} (${era})`, () =>
        Effect.gen(function* () {
          const server = yield* scriptedServer({ era, onCall: one.onCall })
          const upstream = yield* makeUpstream()
          const answer = yield* upstream.call(upstreamCall(server.url, one.call))
          assert.deepStrictEqual(
            { status: answer.status, kind: answer.problem?.kind, attempts: answer.attempts },
            { status: one.status, kind: one.kind, attempts: one.attempts }
          )
          assert.strictEqual(answer.problem?.httpStatus, one.httpStatus)
          assert.strictEqual(answer.problem?.retryAfterSeconds, one.retryAfterSeconds)
          assert.strictEqual(server.of("tools/call").length, one.attempts)
          assert.strictEqual(answer.result !== undefined, one.status === "success" || one.kind === undefined)
          if (one.status === "success") assert.notStrictEqual(fineText(answer.result), "not yours")
        })
      )
    }
  }
})

describe("below HTTP", () => {
  it.live("a port where no server listens is an error after one attempt", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(rawServer(() => {}))
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(gone.url))
      assert.deepStrictEqual([answer.status, answer.problem?.kind, answer.attempts], ["error", "connection", 1])
    })
  )

  it.live("a server that is not HTTP is a malformed response", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => socket.end("220 mail.example ESMTP\r\n"))
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual([answer.status, answer.problem?.kind], ["error", "malformed_answer"])
    })
  )

  it.live("a server that accepts connections but does not respond is a timeout", () =>
    Effect.gen(function* () {
      const server = yield* rawServer(() => {})
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url, { timeoutMs: 200 }))
      assert.deepStrictEqual([answer.status, answer.problem?.kind, answer.attempts], ["timeout", "timeout", 1])
      assert.isBelow(answer.latencyMs, 5_000)
    })
  )
})

describe("the content of a result", () => {
  const rich = {
    content: [
      { type: "text", text: 'Grüße \u2028 "quoted"', annotations: { audience: ["user"], priority: 0.5 } },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a" },
      { type: "resource", resource: { uri: "file:///b", mimeType: "application/octet-stream", blob: "AAEC" } },
      { type: "of-next-year", anything: [null, true, 1.5] }
    ],
    structuredContent: { list: [1, "two", { three: null }] },
    _meta: { "market/cost_microcents": 1234, "example.com/trace": "t" },
    somethingElse: { kept: true }
  }

  for (const streamed of [false, true]) {
    it.live(`is returned as it was sent (${streamed ? "stream" : "JSON"})`, () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer({
          era: "modern",
          onCall: (seen: Seen, response) =>
            streamed ? stream(response).end(event(result(seen, rich))) : json(response, result(seen, rich))
        })
        const upstream = yield* makeUpstream()
        const answer = yield* upstream.call(upstreamCall(server.url))
        assert.strictEqual(JSON.stringify(answer.result), JSON.stringify(rich))
        assert.isAbove(answer.responseBytes, JSON.stringify(rich).length)
        assert.strictEqual(answer.requestBytes, Buffer.byteLength(server.of("tools/call")[0]?.text ?? ""))
      })
    )
  }

  it.live("is returned with isError, and a JSON-RPC error with its data", () =>
    Effect.gen(function* () {
      const rejected = { code: -32001, message: "No such city", data: { city: "Atlantis", tries: [1, 2] } }
      const server = yield* scriptedServer({
        era: "modern",
        onCall: (seen, response, n) =>
          n === 1
            ? json(response, result(seen, { ...text("no"), isError: true, extra: 1 }))
            : json(response, rpcError(seen, rejected.code, rejected.message, rejected.data))
      })
      const upstream = yield* makeUpstream()
      const first = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual(first.result, { ...text("no"), isError: true, extra: 1 })
      assert.isUndefined(first.problem)
      const second = yield* upstream.call(upstreamCall(server.url))
      assert.deepStrictEqual(second.problem?.rpcError, rejected)
      assert.isUndefined(second.result)
    })
  )
})
