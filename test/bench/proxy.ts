/**
 * `npm run bench -- proxy [connections]`: the cost of billing. In one run, in turns: a bare proxy, a prototype with two commits per
 * call and nothing else, the service's store of calls and nothing else, this service on PostgreSQL, all with many wallets and with one hot wallet, and this service
 * in memory with the same; a trivial MCP upstream, everything in processes of its own, unique arguments per request. Ends with the
 * audit: every acknowledged call has its receipt and its transfers, and everything sums to zero.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { note } from "./support/Figures.ts"
import { post } from "./support/LoadGenerator.ts"
import { residentMb, type Running, startScript } from "./support/Processes.ts"
import { median, table } from "./support/Table.ts"
import { inTurns, ratioOf, type Subject, type Turn } from "./support/Turns.ts"

/**
 * Long turns, of which the first half is not measured: while others have theirs a service is idle, and V8 shrinks its young
 * generation and drops compiled code. Whatever has more code, as the service, is warm later.
 */
export const TURNS = { leadMs: 6_000, turnMs: 5_000, rounds: 5, warmUpRounds: 0, restMs: 800 }
export const WALLETS = 512
const CONNECTIONS = [1, 64, 256]
const PRICE_MICROCENTS = 100
const BARE = "bare proxy"
const MANY = "many wallets"
const HOT = "one hot wallet"
const PROTOTYPE = "prototype"
const BOOKS = "books alone"
const DURABLE = "durable"

/** Processor time of a call, service and database together, on a machine where the bare proxy takes 40. */
const CPU_MICROS_MAX = 175
const BARE_MICROS = 40

/** Of the prototype, by connections. */
const TARGETS: Readonly<Record<number, number>> = { 64: 0.75, 256: 0.85 }

const ready = /ready at http:\/\/127\.0\.0\.1:(\d+)/u

const UNLIMITED = {
  RATE_LIMIT_RPM: "0",
  CALLS_IN_FLIGHT_MAX: "0",
  RATE_LIMIT_IP_RPM: "0",
  RATE_LIMIT_REGISTER_RPM: "0",
  LOG_LEVEL: "Warn"
}

export const startService = (
  profile: string,
  dataDir: string,
  env: Readonly<Record<string, string>> = {}
): Promise<Running> => {
  const args = ["src/main.ts", "serve", "--port", "0", "--profile", profile, "--data-dir", dataDir]
  return startScript(args, ready, { ...UNLIMITED, ...env })
}

export const send = async <A>(port: number, path: string, body: unknown, key?: string): Promise<A> => {
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

type Tool = Pick<Market, "providerId" | "toolId">

/** A provider with one tool, whose server is at this port. */
export const registerTool = async (port: number, upstreamPort: number, name = "Bench"): Promise<Tool> => {
  const provider = await send<{ readonly provider_id: string; readonly tools: ReadonlyArray<{ readonly id: string }> }>(
    port,
    "/api/market/register-provider",
    {
      name,
      email: `${name.toLowerCase()}@example.org`,
      endpoint_url: `http://127.0.0.1:${upstreamPort}/mcp`,
      tools: [{ tool_name: "echo", price_microcents: PRICE_MICROCENTS, free_tier_calls: 0 }]
    }
  )
  return { providerId: provider.provider_id, toolId: provider.tools[0]!.id }
}

export const prepare = async (port: number, upstreamPort: number): Promise<Market> => {
  const tool = await registerTool(port, upstreamPort)
  const keys: Array<string> = []
  for (let i = 0; i < WALLETS; i++) {
    const { api_key } = await send<{ readonly api_key: string }>(port, "/api/market/register-consumer", {
      name: `Agent ${i}`,
      email: `agent${i}@example.org`
    })
    await send(port, "/api/market/balance/load", { amount_cents: 100_000 }, api_key)
    keys.push(api_key)
  }
  return { ...tool, keys }
}

let unique = 0

const body = (toolId?: string): string =>
  JSON.stringify({ tool_name: "echo", ...(toolId === undefined ? {} : { tool_id: toolId }), input: { n: unique++ } })

/** Calls of this many wallets in turn. */
export const calling =
  ({ toolId, keys }: Market, wallets = WALLETS) =>
  (index: number) =>
    post("/api/market/proxy", body(toolId), { authorization: `Bearer ${keys[index % wallets]}` })

export const callingBare = (): string => post("/", body())

export const callingPrototype = (wallets: number) => (index: number) =>
  post("/", body(), { "x-wallet": String(index % wallets) })

export const proxy = async (connectionCounts: ReadonlyArray<number> = CONNECTIONS): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const upstream = await startScript(["test/support/mcp/servers/trivialServer.ts", "modern"], /^(\d+)/mu)
  const bare = await startBare("bareProxy", upstream.port)
  const prototype = await startBare("prototypeProxy", upstream.port)
  const books = await startBare("booksProxy", upstream.port)
  const durable = await startService("embedded", dataDir)
  const memory = await startService("memory", dataDir)
  try {
    const onDisk = await prepare(durable.port, upstream.port)
    const inMemory = await prepare(memory.port, upstream.port)
    const subjects: ReadonlyArray<Subject> = [
      { name: BARE, server: bare, request: callingBare },
      { name: `${PROTOTYPE}, ${MANY}`, server: prototype, request: callingPrototype(WALLETS) },
      { name: `${BOOKS}, ${MANY}`, server: books, request: callingPrototype(WALLETS) },
      { name: `${DURABLE}, ${MANY}`, server: durable, request: calling(onDisk) },
      { name: `${PROTOTYPE}, ${HOT}`, server: prototype, request: callingPrototype(1) },
      { name: `${BOOKS}, ${HOT}`, server: books, request: callingPrototype(1) },
      { name: `${DURABLE}, ${HOT}`, server: durable, request: calling(onDisk, 1) },
      { name: `memory, ${MANY}`, server: memory, request: calling(inMemory) },
      { name: `memory, ${HOT}`, server: memory, request: calling(inMemory, 1) }
    ]
    let acknowledged = 0
    for (const connections of connectionCounts) {
      const measured = await inTurns(subjects, { ...TURNS, connections }, (subject, turn) => {
        if (subject.server === durable) acknowledged += turn.acknowledged
      })
      report(`Proxied calls, ${connections} connections, medians of ${TURNS.rounds} turns`, measured)
      for (const wallets of [MANY, HOT]) {
        const ofPrototype = ratioOf(measured.get(`${DURABLE}, ${wallets}`)!, measured.get(`${PROTOTYPE}, ${wallets}`)!)
        const name = `proxied calls, ${connections} connections, ${wallets}, of the prototype`
        note(name, ofPrototype, TARGETS[connections])
        const micros = scaled(measured.get(`${DURABLE}, ${wallets}`)!, measured.get(BARE)!)
        note(`CPU of a call, ${connections} connections, ${wallets}, of the maximum`, micros / CPU_MICROS_MAX)
      }
    }
    process.stdout.write(
      `\nResident memory: durable ${residentMb(durable.pid).toFixed(0)} MB, memory ${residentMb(memory.pid).toFixed(
        0
      )} MB\n`
    )
    await audit(durable.port, onDisk, acknowledged)
  } finally {
    await Promise.all([bare, prototype, books, upstream, durable, memory].map((server) => server.stop()))
    rmSync(dataDir, { recursive: true, force: true })
  }
}

export const startBare = (script: string, upstreamPort: number): Promise<Running> =>
  startScript([`test/bench/support/${script}.ts`, String(upstreamPort)], /listening (\d+)/u)

/** The prototype's rows are beside those of the service with the same wallets. */
const report = (title: string, measured: ReadonlyMap<string, ReadonlyArray<Turn>>): void => {
  const bareTurns = measured.get(BARE)!
  const bareP50 = median(bareTurns.map((one) => one.p50Ms))
  table(title, [
    [
      "",
      "calls/s",
      "of bare",
      "of prototype",
      "p50 ms",
      "over bare ms",
      "p99 ms",
      "CPU µs/call",
      "database",
      `bare at ${BARE_MICROS}`
    ],
    ...[...measured].map(([name, turns]) => {
      const of = (figure: (turn: Turn) => number) => median(turns.map(figure))
      const billed = [DURABLE, BOOKS].find((subject) => name.startsWith(subject))
      const prototype = billed === undefined ? undefined : measured.get(name.replace(billed, PROTOTYPE))
      return [
        name,
        of((one) => one.perSecond).toFixed(0),
        ratioOf(turns, bareTurns).toFixed(2),
        prototype === undefined ? "" : ratioOf(turns, prototype).toFixed(2),
        of((one) => one.p50Ms).toFixed(2),
        (of((one) => one.p50Ms) - bareP50).toFixed(2),
        of((one) => one.p99Ms).toFixed(2),
        of((one) => one.cpuMicros).toFixed(0),
        of((one) => one.databaseCpuMicros).toFixed(0),
        scaled(turns, bareTurns).toFixed(0)
      ]
    })
  ])
}

/** Processor time as it would be if the bare proxy took `BARE_MICROS`. */
const scaled = (turns: ReadonlyArray<Turn>, bare: ReadonlyArray<Turn>): number =>
  median(
    turns.map(({ cpuMicros, databaseCpuMicros }, round) => (cpuMicros + databaseCpuMicros) / bare[round]!.cpuMicros)
  ) * BARE_MICROS

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
