/**
 * `POST /api/v1/verify` against a bare JSON handler, in one run, in turns.
 */
import { note } from "./support/Figures.ts"
import { post } from "./support/LoadGenerator.ts"
import { startScript } from "./support/Processes.ts"
import { row, table } from "./support/Table.ts"
import { inSittings, inTurns, ratioOf } from "./support/Turns.ts"

const SITTINGS = 2
const TURNS = { connections: 64, turnMs: 400, rounds: 20, warmUpRounds: 25 }
const BARE = "bare JSON handler"
const VERIFY = "POST /api/v1/verify"

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
  const measured = await inSittings(SITTINGS, sit)
  const ofBare = ratioOf(measured.get(VERIFY)!, measured.get(BARE)!)
  note("verification over HTTP, of bare", ofBare, 0.35)
  table(
    `Verification over HTTP, ${TURNS.connections} connections, medians of ${SITTINGS} times ${TURNS.rounds} turns`,
    [
      ["", "requests/s", "of bare", "p50 ms", "p99 ms", "p99/p50"],
      row(BARE, measured.get(BARE)!, 1),
      row(VERIFY, measured.get(VERIFY)!, ofBare)
    ]
  )
}

const sit = async () => {
  const service = await startScript(
    ["src/main.ts", "serve", "--port", "0", "--profile", "memory"],
    /ready at http:\/\/127\.0\.0\.1:(\d+)/u,
    { RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0", LOG_LEVEL: "Warn" }
  )
  const bare = await startScript(["test/bench/support/bareEcho.ts"], /listening (\d+)/u)
  try {
    return await inTurns(
      [
        { name: BARE, server: bare, request: () => post("/", RECEIPT) },
        { name: VERIFY, server: service, request: () => post("/api/v1/verify", RECEIPT) }
      ],
      TURNS
    )
  } finally {
    await Promise.all([service.stop(), bare.stop()])
  }
}
