/**
 * `/.well-known/agents.json`: what an agent needs to register, pay, call and verify on its own, starting from this one
 * address. Every address in it is one that the contract has.
 */
import { Effect } from "effect"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { uncached } from "../api/Access.ts"
import { API_VERSION } from "../api/Api.ts"
import { BaseUrl } from "../BaseUrl.ts"
import { documentRoute } from "../pipeline/Route.ts"

export const AGENTS_PATH = "/.well-known/agents.json"

const STEPS = [
  [
    "register",
    "POST /api/market/register-consumer",
    "Send a name and an e-mail address; keep the key that is shown once."
  ],
  [
    "load",
    "POST /api/market/balance/load",
    "Put money on the balance; where payments are pretended, it is there at once."
  ],
  ["find", "GET /api/market/catalog", "Find a tool by what it does, and see what a call costs."],
  ["quote", "POST /api/market/proxy", "With dry_run: true, what the call would cost now. Nobody is called."],
  ["call", "POST /api/market/proxy", "Send tool_id and input, and an Idempotency-Key to make it safe to send again."],
  ["receipt", "GET /api/v1/market/receipts", "Every call has a signed receipt."],
  ["verify", "POST /api/v1/verify", "Check a receipt with the service."],
  ["prove", "GET /api/v1/market/receipts/:id/proof", "Check it without: the proof verifies offline with a key below."],
  ["dispute", "POST /api/v1/market/disputes", "Where a call was not worth its price."]
] as const

export const agentsFileRoutes = Effect.gen(function* () {
  const log = yield* ReceiptLog
  const baseUrl = yield* BaseUrl
  return [
    documentRoute(
      AGENTS_PATH,
      uncached,
      Effect.map(log.logs, (logs) => ({
        status: 200,
        headers: {},
        body: JSON.stringify({
          name: "Agent Tool Billing",
          version: API_VERSION,
          description: "Pay for calls of MCP tools, one by one, with a receipt for each that anybody can verify.",
          base_url: baseUrl,
          auth: { type: "bearer", header: "Authorization: Bearer <key>", how: "Registration shows the key once." },
          money: { unit: "microcents", per_cent: 10_000, currency: "USD" },
          steps: STEPS.map(([name, endpoint, what]) => ({ name, endpoint, what })),
          transparency_log: {
            checkpoint: `${baseUrl}/api/v1/market/log/checkpoint`,
            jwks: `${baseUrl}/.well-known/jwks.json`,
            vkeys: logs.toReversed().map(({ key }) => key)
          },
          links: {
            openapi: `${baseUrl}/api/openapi.json`,
            docs: `${baseUrl}/docs`,
            verify: `${baseUrl}/verify`,
            index: `${baseUrl}/api/market`
          }
        })
      }))
    )
  ]
})
