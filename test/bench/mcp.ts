/**
 * `npm run bench -- mcp [memory|embedded]`, both by default: calls through the door of a provider against the REST proxy, in one run and in
 * turns: a modern client, and a legacy one with a session. Then `tools/list` of a provider with 1,000 tools.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { calling, prepare, startService } from "./proxy.ts"
import { note } from "./support/Figures.ts"
import { post, run } from "./support/LoadGenerator.ts"
import { type Running, startScript } from "./support/Processes.ts"
import { median, table } from "./support/Table.ts"
import { inTurns, ratioOf, type Subject } from "./support/Turns.ts"

/** All at one service, which stays warm: many short turns tell more than a few long ones on a machine whose speed changes. */
const TURNS = { turnMs: 1_500, rounds: 20, warmUpRounds: 6, restMs: 200 }
const CONNECTIONS = 64
const RATIO_MIN = 0.9
const TOOLS = 1_000
const LISTS = 2_000
const LIST_P99_MS_MAX = 20
const REST = "(a) REST proxy"

const ACCEPT = { accept: "application/json, text/event-stream" }
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}

let unique = 0

const rpc = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", id: ++unique, method, params })

const modernHeaders = (key: string, method: string, name?: string) => ({
  ...ACCEPT,
  authorization: `Bearer ${key}`,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name === undefined ? {} : { "mcp-name": name })
})

const modernCall = (path: string, keys: ReadonlyArray<string>) => (index: number) =>
  post(
    path,
    rpc("tools/call", { name: "echo", arguments: { n: unique }, _meta: META }),
    modernHeaders(keys[index % keys.length]!, "tools/call", "echo")
  )

interface LegacySession {
  readonly key: string
  readonly id: string
}

const sessionOf = async (url: string, key: string): Promise<LegacySession> => {
  const headers = { ...ACCEPT, "content-type": "application/json", authorization: `Bearer ${key}` }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } }
  const response = await fetch(url, { method: "POST", headers, body: rpc("initialize", params) })
  if (!response.ok) throw new Error(`initialize: ${response.status} ${await response.text()}`)
  await response.text()
  const id = response.headers.get("mcp-session-id") ?? ""
  const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })
  const told = { ...headers, "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" }
  await (await fetch(url, { method: "POST", headers: told, body })).text()
  return { key, id }
}

const legacyCall = (path: string, sessions: ReadonlyArray<LegacySession>) => (index: number) => {
  const { id, key } = sessions[index % sessions.length]!
  return post(path, rpc("tools/call", { name: "echo", arguments: { n: unique } }), {
    ...ACCEPT,
    authorization: `Bearer ${key}`,
    "mcp-protocol-version": "2025-11-25",
    "mcp-session-id": id
  })
}

const send = async <A>(url: string, body: object, key?: string): Promise<A> => {
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
  }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json() as Promise<A>
}

/** A provider that lists every tool of its server. */
const listing = async (origin: string, endpoint_url: string): Promise<string> => {
  const { api_key, provider_id } = await send<{ readonly provider_id: string; readonly api_key: string }>(
    `${origin}/api/market/register-provider`,
    { name: "Listed", email: "listed@example.org", endpoint_url, tools: [] }
  )
  await send(`${origin}/api/market/tools/import`, { default_price_microcents: 100, listed: true, apply: true }, api_key)
  return `/mcp/${provider_id}`
}

const lists = async (port: number, path: string, key: string): Promise<void> => {
  const request = () => post(path, rpc("tools/list", { _meta: META }), modernHeaders(key, "tools/list"))
  const load = { port, connections: 1, secondsMax: 60, request }
  await run({ ...load, requests: 50 })
  const { p50Ms, p99Ms, statuses } = await run({ ...load, requests: LISTS })
  table(`tools/list, a provider with ${TOOLS} tools, one connection`, [
    ["", "p50 ms", "p99 ms", "at most", "statuses"],
    ["tools/list", p50Ms.toFixed(2), p99Ms.toFixed(2), String(LIST_P99_MS_MAX), JSON.stringify([...statuses])]
  ])
  note("tools/list of 1,000 tools, p99 of the limit", p99Ms / LIST_P99_MS_MAX)
}

/** In a service of its own: in memory, all calls of the turns before stay in the heap, and collecting it takes 25 ms a step. */
const listsOf = async ({ port }: Running, upstreamPort: number, manyPort: number): Promise<void> => {
  const { keys } = await prepare(port, upstreamPort)
  const listed = await listing(`http://127.0.0.1:${port}`, `http://127.0.0.1:${manyPort}/mcp`)
  await lists(port, listed, keys[0]!)
}

export const mcp = async (profile: string): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const started: Array<Running> = []
  const start = async (starting: Promise<Running>): Promise<Running> => {
    const running = await starting
    started.push(running)
    return running
  }
  try {
    const upstream = await start(startScript(["test/support/mcp/servers/trivialServer.ts", "modern"], /^(\d+)/mu))
    const withTools = ["test/support/mcp/servers/trivialServer.ts", "modern", String(TOOLS - 1)]
    const many = await start(startScript(withTools, /^(\d+)/mu))
    const service = await start(startService(profile, join(dataDir, "calls")))
    const market = await prepare(service.port, upstream.port)
    const origin = `http://127.0.0.1:${service.port}`
    const path = `/mcp/${market.providerId}`
    const sessions = await Promise.all(
      market.keys.slice(0, CONNECTIONS).map((key) => sessionOf(`${origin}${path}`, key))
    )
    const subjects: ReadonlyArray<Subject> = [
      { name: REST, server: service, request: calling(market) },
      { name: "(b) modern client", server: service, request: modernCall(path, market.keys) },
      { name: "(c) legacy client", server: service, request: legacyCall(path, sessions) }
    ]
    const measured = await inTurns(subjects, { ...TURNS, connections: CONNECTIONS })
    const rest = measured.get(REST)!
    table(`tools/call, ${profile}, ${CONNECTIONS} connections, medians of ${TURNS.rounds} turns`, [
      ["", "calls/s", "of REST", "at least", "p50 ms", "p99 ms", "CPU µs/call", "database"],
      ...[...measured].map(([name, turns]) => {
        const ratio = ratioOf(turns, rest)
        if (name !== REST) note(`tools/call, ${name}, of the REST proxy`, ratio, RATIO_MIN)
        return [
          name,
          median(turns.map((one) => one.perSecond)).toFixed(0),
          ratio.toFixed(2),
          name === REST ? "" : RATIO_MIN.toFixed(2),
          median(turns.map((one) => one.p50Ms)).toFixed(2),
          median(turns.map((one) => one.p99Ms)).toFixed(2),
          median(turns.map((one) => one.cpuMicros)).toFixed(0),
          median(turns.map((one) => one.databaseCpuMicros)).toFixed(0)
        ]
      })
    ])
    await service.stop()
    await listsOf(await start(startService(profile, join(dataDir, "lists"))), upstream.port, many.port)
  } finally {
    await Promise.all(started.map((server) => server.stop()))
    rmSync(dataDir, { recursive: true, force: true })
  }
}
