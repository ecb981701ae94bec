/**
 * `npm run bench -- dispatched`: processor time of a call inside the service, by REST and through the door of a provider, in
 * memory and without a network: requests are dispatched in this process, and their provider answers at once. It shows
 * changes of a few percent, which hide behind sockets.
 */
import { Effect, Layer, ManagedRuntime, Result } from "effect"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { Dispatcher, Fatal, readConfig, service, type WebRequest, type WebResponse } from "../../src/entries/service.ts"
import { ACCEPT, META, modernHeaders } from "./mcp.ts"
import { startScript } from "./support/Processes.ts"
import { median, table } from "./support/Table.ts"

const ACCOUNTS = 64
const CALLS = 3_000
const ROUNDS = 30
const WARM_UP_ROUNDS = 6

const SETTINGS = {
  PROFILE: "memory",
  BASE_URL: "http://127.0.0.1:1",
  ALLOW_UPSTREAM: "loopback",
  RATE_LIMIT_RPM: "0",
  CALLS_IN_FLIGHT_MAX: "0",
  RATE_LIMIT_IP_RPM: "0",
  RATE_LIMIT_REGISTER_RPM: "0",
  LOG_LEVEL: "Warn"
}

const RESULT = '{"resultType":"complete","content":[{"type":"text","text":"ok"}]}'

/** After a turn of the scheduler, as if from a socket. */
const provider = Layer.succeed(ToolUpstream, {
  call: () =>
    Effect.as(Effect.yieldNow, {
      status: "success" as const,
      result: JSON.parse(RESULT) as Readonly<Record<string, unknown>>,
      resultText: RESULT,
      problem: undefined,
      attempts: 1,
      latencyMs: 1,
      requestBytes: 200,
      responseBytes: RESULT.length
    })
})

type Dispatch = (request: WebRequest) => Promise<WebResponse>
type Headers = Readonly<Record<string, string>>

const encoder = new TextEncoder()

const posted = (path: string, body: object, headers: Headers): WebRequest => {
  const bytes = encoder.encode(JSON.stringify(body))
  return {
    method: "POST",
    path,
    query: "",
    headers: { host: "127.0.0.1:1", "content-type": "application/json", ...headers },
    remoteAddress: "127.0.0.1",
    body: () => Effect.succeed(bytes),
    sendEvent: () => {}
  }
}

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` })

const sent = async <A>(dispatch: Dispatch, path: string, body: object, headers: Headers = {}): Promise<A> => {
  const { body: text, status } = await dispatch(posted(path, body, headers))
  if (status !== 200 && status !== 201) throw new Error(`${path}: ${status} ${String(text)}`)
  return JSON.parse(String(text)) as A
}

interface Market {
  readonly path: string
  readonly toolId: string
  readonly keys: ReadonlyArray<string>
  readonly sessions: ReadonlyArray<string>
}

const openMarket = async (dispatch: Dispatch, upstreamPort: number): Promise<Market> => {
  const { provider_id, tools } = await sent<{
    readonly provider_id: string
    readonly tools: [{ readonly id: string }]
  }>(dispatch, "/api/market/register-provider", {
    name: "Bench",
    email: "bench@example.org",
    endpoint_url: `http://127.0.0.1:${upstreamPort}/mcp`,
    tools: [{ tool_name: "echo", price_microcents: 100, free_tier_calls: 0 }]
  })
  const path = `/mcp/${provider_id}`
  const keys: Array<string> = []
  const sessions: Array<string> = []
  for (let n = 0; n < ACCOUNTS; n++) {
    const agent = { name: `Agent ${n}`, email: `agent${n}@example.org` }
    const { api_key } = await sent<{ readonly api_key: string }>(dispatch, "/api/market/register-consumer", agent)
    await sent(dispatch, "/api/market/balance/load", { amount_cents: 100_000 }, bearer(api_key))
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } }
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params }
    const { headers } = await dispatch(posted(path, initialize, { ...ACCEPT, ...bearer(api_key) }))
    keys.push(api_key)
    sessions.push(headers["mcp-session-id"]!)
  }
  return { path, toolId: tools[0].id, keys, sessions }
}

let unique = 0

const callers = ({ keys, path, sessions, toolId }: Market) => {
  const rpc = (params: object) => ({ jsonrpc: "2.0", id: unique, method: "tools/call", params })
  const named = () => ({ name: "echo", arguments: { n: ++unique } })
  return {
    "REST proxy": (n: number) => {
      const body = { tool_name: "echo", tool_id: toolId, input: { n: ++unique } }
      return posted("/api/market/proxy", body, bearer(keys[n]!))
    },
    "modern client": (n: number) =>
      posted(path, rpc({ ...named(), _meta: META }), modernHeaders(keys[n]!, "tools/call", "echo")),
    "legacy client": (n: number) =>
      posted(path, rpc(named()), {
        ...ACCEPT,
        ...bearer(keys[n]!),
        "mcp-protocol-version": "2025-11-25",
        "mcp-session-id": sessions[n]!
      })
  }
}

/** Microseconds a call, with one call of each account at a time. */
const turn = async (dispatch: Dispatch, request: (account: number) => WebRequest): Promise<number> => {
  let left = CALLS
  const account = async (n: number) => {
    while (left-- > 0) {
      const { body, status } = await dispatch(request(n))
      if (status !== 200) throw new Error(`${status} ${String(body)}`)
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: ACCOUNTS }, (_, n) => account(n)))
  const { system, user } = process.cpuUsage(before)
  return (user + system) / CALLS
}

export const dispatched = async (): Promise<void> => {
  const upstream = await startScript(["test/support/mcp/trivialServer.ts", "modern"], /^(\d+)/mu)
  const runtime = ManagedRuntime.make(
    service(Result.getOrThrow(readConfig([SETTINGS])), provider).pipe(Layer.provide(Fatal.layer))
  )
  try {
    const dispatcher = await runtime.runPromise(Dispatcher)
    const dispatch: Dispatch = (request) => runtime.runPromise(dispatcher.dispatch(request))
    const subjects = Object.entries(callers(await openMarket(dispatch, upstream.port)))
    const micros = subjects.map((): Array<number> => [])
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const [n, [, request]] of subjects.entries()) {
        const taken = await turn(dispatch, request)
        if (round >= 0) micros[n]!.push(taken)
      }
    }
    table(`A call without a network, medians of ${ROUNDS} turns`, [
      ["", "CPU µs/call", "least", "over REST"],
      ...subjects.map(([name], n) => [
        name,
        median(micros[n]!).toFixed(0),
        Math.min(...micros[n]!).toFixed(0),
        median(micros[n]!.map((taken, round) => taken - micros[0]![round]!)).toFixed(0)
      ])
    ])
  } finally {
    await runtime.dispose()
    await upstream.stop()
  }
}
