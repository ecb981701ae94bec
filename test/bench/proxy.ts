/**
 * `npm run bench -- proxy`: the cost of billing. In one run, in turns: (a) a bare proxy, (b) this service on
 * PostgreSQL with many wallets, (c) with one hot wallet, (d) in memory; a trivial MCP upstream, everything in
 * processes of its own, unique arguments per request. Ends with the audit: every acknowledged call has its receipt
 * and its transfers, and everything sums to zero.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { note } from "./support/Figures.ts"
import { post } from "./support/LoadGenerator.ts"
import { residentMb, type Running, startScript } from "./support/Processes.ts"
import { median, table } from "./support/Table.ts"
import { inTurns, ratioOf, type Subject } from "./support/Turns.ts"

/**
 * Long turns: while others have theirs a service is idle, and V8 shrinks its young generation and drops compiled
 * code. In turns of 1.5 s a quarter of the memory profile's calls was lost to warming up again, and a tenth of the
 * durable's.
 */
const TURNS = { turnMs: 5_000, rounds: 5, warmUpRounds: 2, restMs: 800 }
const WALLETS = 512
const CONNECTIONS = [1, 64, 256]
const PRICE_MICROCENTS = 100
const BARE = "(a) bare proxy"

const targetOf = (name: string, connections: number): number | undefined =>
  connections === 64 && (name.startsWith("(b)") || name.startsWith("(c)")) ? 0.35 : undefined

const ready = /ready at http:\/\/127\.0\.0\.1:(\d+)/u

const UNLIMITED = {
  RATE_LIMIT_RPM: "0",
  CALLS_IN_FLIGHT_MAX: "0",
  RATE_LIMIT_IP_RPM: "0",
  RATE_LIMIT_REGISTER_RPM: "0",
  LOG_LEVEL: "Warn"
}

/** Of the tree in `cwd`. */
export const startService = (profile: string, dataDir: string, cwd?: string): Promise<Running> => {
  const args = ["src/main.ts", "serve", "--port", "0", "--profile", profile, "--data-dir", dataDir]
  return startScript(args, ready, UNLIMITED, cwd)
}

const send = async <A>(port: number, path: string, body: unknown, key?: string): Promise<A> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json() as Promise<A>
}

const read = async <A>(port: number, path: string, key?: string): Promise<A> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` }
  })
  return response.json() as Promise<A>
}

interface Market {
  readonly providerId: string
  readonly toolId: string
  readonly keys: ReadonlyArray<string>
}

export const prepare = async (port: number, upstreamPort: number): Promise<Market> => {
  const provider = await send<{ readonly provider_id: string; readonly tools: ReadonlyArray<{ readonly id: string }> }>(
    port,
    "/api/market/register-provider",
    {
      name: "Bench",
      email: "bench@example.org",
      endpoint_url: `http://127.0.0.1:${upstreamPort}/mcp`,
      tools: [{ tool_name: "echo", price_microcents: PRICE_MICROCENTS, free_tier_calls: 0 }]
    }
  )
  const keys: Array<string> = []
  for (let i = 0; i < WALLETS; i++) {
    const { api_key } = await send<{ readonly api_key: string }>(port, "/api/market/register-consumer", {
      name: `Agent ${i}`,
      email: `agent${i}@example.org`
    })
    await send(port, "/api/market/balance/load", { amount_cents: 100_000 }, api_key)
    keys.push(api_key)
  }
  return { providerId: provider.provider_id, toolId: provider.tools[0]!.id, keys }
}

let unique = 0

const body = (toolId?: string): string =>
  JSON.stringify({ tool_name: "echo", ...(toolId === undefined ? {} : { tool_id: toolId }), input: { n: unique++ } })

/** Calls of this many wallets in turn. */
export const calling =
  ({ toolId, keys }: Market, wallets = WALLETS) =>
  (index: number) =>
    post("/api/market/proxy", body(toolId), { authorization: `Bearer ${keys[index % wallets]}` })

export const proxy = async (connectionCounts: ReadonlyArray<number> = CONNECTIONS): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const upstream = await startScript(["test/support/mcp/trivialServer.ts", "modern"], /^(\d+)/mu)
  const bare = await startScript(["test/bench/support/bareProxy.ts", String(upstream.port)], /listening (\d+)/u)
  const durable = await startService("embedded", dataDir)
  const memory = await startService("memory", dataDir)
  try {
    const onDisk = await prepare(durable.port, upstream.port)
    const inMemory = await prepare(memory.port, upstream.port)
    const subjects: ReadonlyArray<Subject> = [
      { name: BARE, server: bare, request: () => post("/", body()) },
      { name: "(b) durable, many wallets", server: durable, request: calling(onDisk) },
      { name: "(c) durable, one hot wallet", server: durable, request: calling(onDisk, 1) },
      { name: "(d) memory", server: memory, request: calling(inMemory) }
    ]
    let acknowledged = 0
    for (const connections of connectionCounts) {
      const measured = await inTurns(subjects, { ...TURNS, connections }, ({ server }, { completed }) => {
        if (server === durable) acknowledged += completed
      })
      const bareTurns = measured.get(BARE)!
      const bareP50 = median(bareTurns.map((one) => one.p50Ms))
      table(`Proxied calls, ${connections} connections, medians of ${TURNS.rounds} turns`, [
        ["", "calls/s", "of bare", "p50 ms", "over bare ms", "p99 ms", "CPU µs/call"],
        ...[...measured].map(([name, turns]) => {
          const ofBare = ratioOf(turns, bareTurns)
          const p50 = median(turns.map((one) => one.p50Ms))
          if (name !== BARE) {
            note(`proxied calls, ${connections} connections, ${name}, of bare`, ofBare, targetOf(name, connections))
          }
          return [
            name,
            median(turns.map((one) => one.perSecond)).toFixed(0),
            ofBare.toFixed(2),
            p50.toFixed(2),
            (p50 - bareP50).toFixed(2),
            median(turns.map((one) => one.p99Ms)).toFixed(2),
            median(turns.map((one) => one.cpuMicros)).toFixed(0)
          ]
        })
      ])
    }
    process.stdout.write(
      `\nResident memory: durable ${residentMb(durable.pid).toFixed(0)} MB, memory ${residentMb(memory.pid).toFixed(
        0
      )} MB\n`
    )
    await audit(durable.port, onDisk, acknowledged)
  } finally {
    await Promise.all([bare, upstream, durable, memory].map((server) => server.stop()))
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Every acknowledged call is in its consumer's receipts and in the ledger. */
const audit = async (port: number, { keys }: Market, acknowledged: number): Promise<void> => {
  let receipts = 0
  for (const key of keys) {
    receipts += (await read<{ readonly total: number }>(port, "/api/v1/market/receipts?limit=1", key)).total
  }
  const books = await read<{
    readonly balanced: boolean
    readonly accounts: ReadonlyArray<{ readonly account: string; readonly balance_microcents: number }>
  }>(port, "/api/v1/market/ledger/trial-balance")
  const earned = books.accounts
    .filter(({ account }) => account === "provider" || account === "platform_fee")
    .reduce((sum, account) => sum + account.balance_microcents, 0)
  const sound = receipts === acknowledged && earned === acknowledged * PRICE_MICROCENTS && books.balanced
  process.stdout.write(
    `Audit: ${acknowledged} calls acknowledged, ${receipts} receipts, ${earned} microcents earned, books ${
      books.balanced ? "balanced" : "NOT balanced"
    }: ${sound ? "sound" : "NOT SOUND"}\n`
  )
  if (!sound) process.exitCode = 1
}
