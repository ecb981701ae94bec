/**
 * Progress of a tool: requested only where the caller wants it, and received from servers of both eras.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ToolProgress } from "../../../domain/metering/ToolUpstream.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { everythingServer } from "../../support/mcp/RealServers.ts"
import { event, result, scriptedServer, type Seen, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { makeUpstream } from "../../support/mcp/McpClient.ts"

const tokenOf = ({ params }: Seen): unknown => (params["_meta"] as { readonly progressToken?: unknown }).progressToken

const told = (params: unknown) => event({ jsonrpc: "2.0", method: "notifications/progress", params })

describe("progress", () => {
  for (const era of ["modern", "stateful"] as const) {
    it.live(`is forwarded from a ${era} server, with its own units, until the result`, () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer({
          era,
          onCall: (seen, response) => {
            const progressToken = tokenOf(seen)
            stream(response)
            response.write(told({ progressToken, progress: 0.5 }))
            response.write(told({ progressToken, progress: 2, total: 4, message: "half way\nand on", secret: 1 }))
            response.write(told({ progressToken: "another call's", progress: 3 }))
            response.write(told({ progressToken, progress: "three" }))
            response.write(told({ progressToken, progress: 1 }).replace('"progress":1', '"progress":1e999'))
            response.write(told({ progressToken, progress: 3, total: null, message: "x".repeat(1_000) }))
            response.write(event({ jsonrpc: "2.0", method: "notifications/message", params: { progressToken } }))
            response.end(event(result(seen, text("done"))))
          }
        })
        const heard: Array<ToolProgress> = []
        const upstream = yield* makeUpstream()
        const answer = yield* upstream.call(upstreamCall(server.url, { onProgress: (one) => heard.push(one) }))
        assert.strictEqual(answer.status, "success")
        assert.deepStrictEqual(answer.result?.["content"], text("done").content)
        assert.deepStrictEqual(heard, [
          { progress: 0.5 },
          { progress: 2, total: 4, message: "half way\nand on" },
          { progress: 3, message: "x".repeat(300) }
        ])
      })
    )

    it.live(`is neither requested from a ${era} server nor received for a caller that does not want it`, () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer({
          era,
          onCall: (seen, response) => {
            stream(response)
            response.write(told({ progressToken: seen.id, progress: 1 }))
            response.end(event(result(seen, text("done"))))
          }
        })
        const upstream = yield* makeUpstream()
        const answer = yield* upstream.call(upstreamCall(server.url))
        assert.strictEqual(answer.status, "success")
        const meta = (server.of("tools/call")[0]!.params["_meta"] ?? {}) as Readonly<Record<string, unknown>>
        assert.notProperty(meta, "progressToken")
      })
    )
  }

  it.live("continues after a stream is resumed", () =>
    Effect.gen(function* () {
      let call: Seen | undefined
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => {
          call = seen
          stream(response).write("id: one\nretry: 10\ndata: \n\n")
          response.end(told({ progressToken: tokenOf(seen), progress: 1 }))
        },
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          stream(response).write(told({ progressToken: tokenOf(call!), progress: 2 }))
          response.end(event(result(call!, text("done"))))
          return true
        }
      })
      const heard: Array<number> = []
      const upstream = yield* makeUpstream()
      const onProgress = ({ progress }: ToolProgress) => heard.push(progress)
      const answer = yield* upstream.call(upstreamCall(server.url, { onProgress }))
      assert.strictEqual(answer.status, "success")
      assert.deepStrictEqual(heard, [1, 2])
    })
  )

  it.live(
    "arrives from server-everything's long operation, step by step",
    () =>
      Effect.gen(function* () {
        const { url } = yield* everythingServer
        const heard: Array<ToolProgress> = []
        const upstream = yield* makeUpstream()
        const answer = yield* upstream.call(
          upstreamCall(url, {
            toolName: "trigger-long-running-operation",
            arguments: { duration: 0.4, steps: 4 },
            onProgress: (one) => heard.push(one)
          })
        )
        assert.strictEqual(answer.status, "success")
        assert.deepStrictEqual(
          heard.map(({ progress, total }) => [progress, total]),
          [1, 2, 3, 4].map((step) => [step, 4])
        )
      }),
    180_000
  )
})
