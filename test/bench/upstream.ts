/**
 * The cost of the upstream client: calls per second over `ToolUpstream.call` against a bare undici `dispatch` loop, with
 * the same trivial MCP server in a process of its own. Rounds alternate; medians are printed, and their ratio.
 *
 *     node test/bench/upstream.ts [modern|legacy] [concurrency] [calls per round] [rounds]
 */
import { spawn } from "node:child_process"
import { performance } from "node:perf_hooks"
import { NodeRuntime } from "@effect/platform-node"
import { CircuitBreaker } from "effect/persistence"
import { Effect, Layer } from "effect"
import { type Dispatcher, Pool } from "undici"
import { hmacOf } from "../../adapters/crypto/Hmac.ts"
import { publicAndLoopback } from "../../adapters/mcp/AddressGuard.ts"
import * as McpUpstream from "../../adapters/mcp/McpUpstream.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { upstreamCall } from "../support/mcp/UpstreamCalls.ts"

const [era = "modern", concurrencyText = "64", callsText = "20000", roundsText = "5"] = process.argv.slice(2)
const concurrency = Number(concurrencyText)
const calls = Number(callsText)
const rounds = Number(roundsText)

const startServer = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly stop: () => void }>((resume) => {
    const child = spawn(process.execPath, [new URL("../support/mcp/trivialServer.ts", import.meta.url).pathname, era], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    child.stdout.once("data", (data: Buffer) =>
      resume(Effect.succeed({ port: Number(data.toString()), stop: () => child.kill() }))
    )
  }),
  ({ stop }) => Effect.sync(stop)
)

class BareCall implements Dispatcher.DispatchHandler {
  private readonly done: (result: unknown) => void
  private text = ""
  constructor(done: (result: unknown) => void) {
    this.done = done
  }
  onRequestStart() {}
  onResponseStart() {}
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.text += chunk.toString()
  }
  onResponseEnd() {
    this.done(JSON.parse(this.text))
  }
  onResponseError(_controller: Dispatcher.DispatchController, error: Error) {
    throw error
  }
}

const bareRound = (pool: Pool): Effect.Effect<void> =>
  Effect.callback((resume) => {
    let started = 0
    let ended = 0
    const next = () => {
      if (started >= calls) return
      const id = ++started
      const params = { name: "echo", arguments: { n: id, text: "some words to carry" } }
      pool.dispatch(
        {
          method: "POST",
          path: "/mcp",
          headers: ["content-type", "application/json", "accept", "application/json, text/event-stream"],
          body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })
        },
        new BareCall(() => {
          if (++ended === calls) return resume(Effect.void)
          next()
        })
      )
    }
    for (let worker = 0; worker < concurrency; worker++) next()
  })

const adapterRound = (endpointUrl: string) =>
  Effect.gen(function* () {
    const upstream = yield* ToolUpstream
    const template = upstreamCall(endpointUrl)
    let started = 0
    const worker = Effect.gen(function* () {
      while (started < calls) {
        const n = ++started
        const answer = yield* upstream.call({ ...template, arguments: { n, text: "some words to carry" } })
        if (answer.status !== "success") return yield* Effect.die(answer)
      }
    })
    yield* Effect.all(
      Array.from({ length: concurrency }, () => worker),
      { concurrency: "unbounded", discard: true }
    )
  })

const timed = <R>(round: Effect.Effect<void, never, R>) =>
  Effect.gen(function* () {
    const cpu = process.cpuUsage()
    const started = performance.now()
    yield* round
    const ms = performance.now() - started
    const used = process.cpuUsage(cpu)
    return { perSecond: calls / (ms / 1_000), cpuUs: (used.user + used.system) / calls }
  })

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const breakers = Effect.gen(function* () {
  const breaker = yield* CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(8), openDuration: "5 seconds" })
  const nothing = Effect.succeed(1)
  const bare = yield* timed(
    Effect.gen(function* () {
      for (let n = 0; n < calls; n++) yield* nothing
    })
  )
  const guarded = yield* timed(
    Effect.gen(function* () {
      for (let n = 0; n < calls; n++) yield* breaker.execute(nothing, { key: "endpoint" }).pipe(Effect.orDie)
    })
  )
  return guarded.cpuUs - bare.cpuUs
})

const program = Effect.gen(function* () {
  const { port } = yield* startServer
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 256 })
  const bare: Array<{ perSecond: number; cpuUs: number }> = []
  const adapter: Array<{ perSecond: number; cpuUs: number }> = []
  yield* bareRound(pool)
  yield* adapterRound(`http://127.0.0.1:${port}/mcp`)
  for (let round = 0; round < rounds; round++) {
    bare.push(yield* timed(bareRound(pool)))
    adapter.push(yield* timed(adapterRound(`http://127.0.0.1:${port}/mcp`)))
  }
  const [b, a] = [median(bare.map((r) => r.perSecond)), median(adapter.map((r) => r.perSecond))]
  const lines = [
    `${era}, ${concurrency} at a time, ${rounds} rounds of ${calls} calls`,
    `bare dispatch   ${b.toFixed(0)} calls/s   ${median(bare.map((r) => r.cpuUs)).toFixed(1)} µs CPU a call`,
    `ToolUpstream    ${a.toFixed(0)} calls/s   ${median(adapter.map((r) => r.cpuUs)).toFixed(1)} µs CPU a call`,
    `ratio           ${(a / b).toFixed(2)}`,
    `effect/persistence's CircuitBreaker would add ${(yield* breakers).toFixed(1)} µs a call`
  ]
  yield* Effect.sync(() => process.stdout.write(`${lines.join("\n")}\n`))
  yield* Effect.promise(() => pool.close())
})

program.pipe(
  Effect.provide(
    Layer.merge(
      McpUpstream.layer({ policy: publicAndLoopback, signerOf: () => hmacOf(Buffer.from("bench")) }),
      CircuitBreaker.layerStoreMemory()
    )
  ),
  Effect.scoped,
  NodeRuntime.runMain
)
