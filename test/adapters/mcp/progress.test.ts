/**
 * Progress of a tool: requested only where the caller wants it, and received from servers of both eras.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ToolProgress, UpstreamCall } from "../../../domain/upstream/ToolUpstream.ts"
import { exchange, exchangeCall } from "../../support/mcp/ExchangeCalls.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"
import { everythingServer } from "../../support/mcp/servers/RealServers.ts"
import { event, result, scriptedServer, type Seen, stream, text } from "../../../testing/mcp/ScriptedServer.ts"
import { CONSUMER, INITIALIZE, serverAt } from "../../contracts/providerServers.ts"
import { makeClient, makeUpstream } from "../../support/mcp/McpClient.ts"

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

    it.live(`is requested from a ${era} server, but does not reach a caller that does not want it`, () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer({
          era,
          onCall: (seen, response) => {
            stream(response)
            response.write(told({ progressToken: tokenOf(seen), progress: 1 }))
            response.end(event(result(seen, text("done"))))
          }
        })
        const { servers, upstream } = yield* makeClient()
        const { session } =
          era === "modern"
            ? { session: undefined }
            : yield* servers.initialize(serverAt(server.url), INITIALIZE, CONSUMER)
        const heard: Array<string> = []
        let reports = 0
        const onReported = () => void reports++
        const mcp = exchange({
          inSession: session !== undefined,
          session,
          onMessage: (message) => void heard.push(message)
        })
        for (const call of [upstreamCall(server.url, { onReported }), exchangeCall(server.url, mcp, { onReported })])
          assert.strictEqual((yield* upstream.call(call)).status, "success")
        assert.deepStrictEqual([heard, reports], [[], 2])
        // The id of a call is not told to its client, whose session is its own.
        const seen = server.of("tools/call").at(-1)!
        if (session !== undefined) assert.notInclude(String(tokenOf(seen)), String(seen.id))
      })
    )
  }

  for (const era of ["modern", "stateful"] as const) {
    /** Reports every 100 ms, and ends at the nth report. */
    const reporting = (nth: number) =>
      scriptedServer({
        era,
        onCall: (seen, response) => {
          stream(response)
          let progress = 0
          const timer = setInterval(() => {
            response.write(told({ progressToken: tokenOf(seen), progress: ++progress }))
            if (progress === nth) response.end(event(result(seen, text("done"))))
          }, 100)
          response.on("close", () => clearInterval(timer))
        }
      })
    /** Of the REST API, and of a client that speaks MCP. */
    const callers = (more: Partial<UpstreamCall>) => [
      (url: string) => upstreamCall(url, { onProgress: () => {}, ...more }),
      (url: string) => exchangeCall(url, exchange({ progressToken: `"p"` }), more)
    ]

    it.live(`gives a ${era} server its time-out again`, () =>
      Effect.gen(function* () {
        const { url } = yield* reporting(25)
        const upstream = yield* makeUpstream()
        const lasting = callers({ timeoutMs: 2_000, progressMsMax: 60_000 }).map(
          Effect.fnUntraced(function* (caller) {
            let reports = 0
            const answer = yield* upstream.call({ ...caller(url), onReported: () => void reports++ })
            assert.deepStrictEqual([answer.status, reports], ["success", 25])
          })
        )
        const [caller] = callers({ timeoutMs: 2_000 })
        const usual = Effect.map(upstream.call(caller!(url)), ({ status }) => assert.strictEqual(status, "timeout"))
        yield* Effect.all([...lasting, usual], { concurrency: "unbounded" })
      })
    )

    it.live(`does not give a ${era} server more than the maximum`, () =>
      Effect.gen(function* () {
        const { url } = yield* reporting(Number.POSITIVE_INFINITY)
        const upstream = yield* makeUpstream()
        for (const caller of callers({ timeoutMs: 1_000, progressMsMax: 1_500 })) {
          assert.strictEqual((yield* upstream.call(caller(url))).status, "timeout")
        }
      })
    )

    it.live(`never goes backwards when a call to a ${era} server is tried again`, () =>
      Effect.gen(function* () {
        const upstream = yield* makeUpstream()
        const heard: Array<unknown> = []
        for (const caller of callers({ idempotent: true })) {
          heard.length = 0
          const { url } = yield* scriptedServer({
            era,
            onCall: (seen, response, n) => {
              stream(response)
              for (let progress = 1; progress <= 2 + n; progress++)
                response.write(told({ progressToken: tokenOf(seen), progress }))
              response.end(n === 1 ? undefined : event(result(seen, text("done"))))
            }
          })
          const call = caller(url)
          const { attempts, status } = yield* upstream.call({
            ...call,
            onProgress: call.onProgress && (({ progress }) => heard.push(progress)),
            exchange: call.exchange && {
              ...call.exchange,
              onMessage: (message) => heard.push(JSON.parse(message).params.progress)
            }
          })
          assert.deepStrictEqual([status, attempts, heard], ["success", 2, [1, 2, 3, 4]])
        }
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
