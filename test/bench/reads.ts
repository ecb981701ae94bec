/**
 * `npm run bench -- reads`: a catalogue page and an authenticated read against a bare node:http server, in one run,
 * in interleaved rounds; each server in a process of its own.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { note } from "./support/Figures.ts"
import { get, type Measured, run } from "./support/LoadGenerator.ts"
import { type Running, startScript } from "./support/Processes.ts"
import { median, row, table } from "./support/Table.ts"

const ROUNDS = 5
const CONNECTIONS = 64
const REQUESTS = Number(process.env["BENCH_REQUESTS"] ?? 20_000)

const ready = /ready at http:\/\/127\.0\.0\.1:(\d+)/u

const startService = (profile: string, dataDir: string): Promise<Running> =>
  startScript(["src/main.ts", "serve", "--port", "0", "--profile", profile, "--data-dir", dataDir], ready, {
    RATE_LIMIT_RPM: "0",
    RATE_LIMIT_IP_RPM: "0",
    RATE_LIMIT_REGISTER_RPM: "0",
    LOG_LEVEL: "Warn"
  })

const register = async (port: number): Promise<string> => {
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    }).then((response) => response.json() as Promise<{ readonly api_key: string }>)
  const tools = Array.from({ length: 50 }, (_, n) => ({ tool_name: `tool_${n}`, price_microcents: 100 + n }))
  await send("/api/market/register-provider", {
    name: "Bench",
    email: "bench@example.org",
    endpoint_url: "http://127.0.0.1:9/mcp",
    tools
  })
  return (await send("/api/market/register-consumer", { name: "Bench", email: "bench@example.org" })).api_key
}

export const reads = async (profile: string): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const service = await startService(profile, dataDir)
  const bare = await startScript(
    ["test/bench/support/bare-json.ts", JSON.stringify({ role: "consumer", id: "0".repeat(36), name: "Bench" })],
    /listening (\d+)/u
  )
  try {
    const key = await register(service.port)
    const subjects = {
      "bare node:http": { port: bare.port, request: get("/") },
      "authenticated read": {
        port: service.port,
        request: get("/api/v1/market/whoami", { authorization: `Bearer ${key}` })
      },
      "catalogue page (50 tools)": { port: service.port, request: get("/api/market/catalog") }
    }
    const measured = new Map<string, Array<Measured>>()
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, { port, request }] of Object.entries(subjects)) {
        const result = await run({
          port,
          connections: CONNECTIONS,
          requests: REQUESTS,
          secondsMax: 20,
          request: () => request
        })
        if (result.statuses.size !== 1 || !result.statuses.has(200)) {
          throw new Error(`${name}: ${JSON.stringify([...result.statuses])}`)
        }
        // The first round warms up.
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), result])
      }
    }
    const bareRate = median(measured.get("bare node:http")!.map((one) => one.perSecond))
    for (const [name, rounds] of measured) {
      if (name === "bare node:http") continue
      note(`${name}, ${profile}, of bare`, median(rounds.map((one) => one.perSecond)) / bareRate)
    }
    table(`Reads, profile ${profile}, ${CONNECTIONS} connections, medians of ${ROUNDS} interleaved rounds`, [
      ["", "requests/s", "of bare", "p50 ms", "p99 ms", "p99/p50"],
      ...[...measured].map(([name, rounds]) => row(name, rounds, bareRate))
    ])
  } finally {
    await Promise.all([service.stop(), bare.stop()])
    rmSync(dataDir, { recursive: true, force: true })
  }
}
