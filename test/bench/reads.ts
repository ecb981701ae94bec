/**
 * `npm run bench -- reads`: a catalog page and an authenticated read against a bare node:http server, in one run, in
 * turns; each server in a process of its own.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { note } from "./support/Figures.ts"
import { get } from "./support/LoadGenerator.ts"
import { type Running, startScript } from "./support/Processes.ts"
import { row, table } from "./support/Table.ts"
import { inSittings, inTurns, ratioOf } from "./support/Turns.ts"

const SITTINGS = 2
const TURNS = { connections: 64, turnMs: 400, rounds: 20, warmUpRounds: 25 }
const BARE = "bare node:http"

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
  const measured = await inSittings(SITTINGS, () => sit(profile))
  const rows = [...measured].map(([name, turns]) => {
    const ofBare = ratioOf(turns, measured.get(BARE)!)
    if (name !== BARE) note(`${name}, ${profile}, of bare`, ofBare)
    return row(name, turns, ofBare)
  })
  const many = `${TURNS.connections} connections, medians of ${SITTINGS} times ${TURNS.rounds} turns`
  table(`Reads, profile ${profile}, ${many}`, [["", "requests/s", "of bare", "p50 ms", "p99 ms", "p99/p50"], ...rows])
}

const sit = async (profile: string) => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const service = await startService(profile, dataDir)
  const bare = await startScript(
    ["test/bench/support/bareJson.ts", JSON.stringify({ role: "consumer", id: "0".repeat(36), name: "Bench" })],
    /listening (\d+)/u
  )
  try {
    const key = await register(service.port)
    const read = get("/api/v1/market/whoami", { authorization: `Bearer ${key}` })
    const page = get("/api/market/catalog")
    const bareRead = get("/")
    return await inTurns(
      [
        { name: BARE, server: bare, request: () => bareRead },
        { name: "authenticated read", server: service, request: () => read },
        { name: "catalog page (50 tools)", server: service, request: () => page }
      ],
      TURNS
    )
  } finally {
    await Promise.all([service.stop(), bare.stop()])
    rmSync(dataDir, { recursive: true, force: true })
  }
}
