/**
 * `POST /api/v1/verify` against a bare JSON handler, in one run, in interleaved rounds.
 */
import { note } from "./support/Figures.ts"
import { type Measured, post, run } from "./support/LoadGenerator.ts"
import { startScript } from "./support/Processes.ts"
import { median, row, table } from "./support/Table.ts"

const ROUNDS = 5
const CONNECTIONS = 64
const REQUESTS = 20_000

const RECEIPT = JSON.stringify({
  receipt_id: "rcpt_00000000000000000000000000000001",
  tool_id: "t1",
  tool_name: "search",
  agent_id: "a1",
  provider_id: "p1",
  timestamp: "2026-01-01T00:00:00.000Z",
  duration_ms: 86,
  cost_microcents: 50_000,
  status: "success",
  signature: "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb",
  created_at: "2026-01-01T00:00:00.090Z"
})

export const verifyRatio = async (): Promise<void> => {
  const service = await startScript(
    ["src/main.ts", "serve", "--port", "0", "--profile", "memory"],
    /ready at http:\/\/127\.0\.0\.1:(\d+)/u,
    { RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0", LOG_LEVEL: "Warn" }
  )
  const bare = await startScript(["test/bench/support/bare-echo.ts"], /listening (\d+)/u)
  try {
    const subjects = {
      "bare JSON handler": { port: bare.port, request: post("/", RECEIPT) },
      "POST /api/v1/verify": { port: service.port, request: post("/api/v1/verify", RECEIPT) }
    }
    const measured = new Map<string, Array<Measured>>()
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, { port, request }] of Object.entries(subjects)) {
        const load = { port, connections: CONNECTIONS, requests: REQUESTS, secondsMax: 20, request: () => request }
        const result = await run(load)
        if (result.statuses.size !== 1 || !result.statuses.has(200)) {
          throw new Error(`${name}: ${JSON.stringify([...result.statuses])}`)
        }
        // The first round warms up.
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), result])
      }
    }
    const bareRate = median(measured.get("bare JSON handler")!.map((one) => one.perSecond))
    const rate = median(measured.get("POST /api/v1/verify")!.map((one) => one.perSecond))
    note("verification over HTTP, of bare", rate / bareRate, 0.35)
    table(`Verification over HTTP, ${CONNECTIONS} connections, medians of ${ROUNDS} interleaved rounds`, [
      ["", "requests/s", "of bare", "p50 ms", "p99 ms", "p99/p50"],
      ...[...measured].map(([name, rounds]) => row(name, rounds, bareRate))
    ])
  } finally {
    await Promise.all([service.stop(), bare.stop()])
  }
}
