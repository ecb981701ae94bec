/**
 * The matrix of public endpoints: no caller sees data of an account.
 */
import { CATALOG, CONSUMERS, PROVIDERS as REGISTER_PROVIDER, TOOLS, unasked } from "../market/Market.ts"
import { anybody, operators, row, type Row, type Rows } from "./Matrix.ts"
import { LOG, PROVIDERS } from "./Paths.ts"

/** A new URL each time: no other caller's response may come out of the cache. */
const open = (path: string): Row => row(anybody(), () => ({ path: unasked(path) }))

const reads = [
  CATALOG,
  "/api/v1/market/pricing",
  "/api/v1/market/stats",
  "/api/market",
  "/api/market/health",
  REGISTER_PROVIDER,
  CONSUMERS,
  TOOLS,
  "/api/v1/market/meter",
  "/api/v1/market/ledger/trial-balance",
  `${PROVIDERS}/verify`,
  "/.well-known/jwks.json",
  "/api/v1",
  "/api/v1/status",
  "/api/v1/status/history",
  "/api/v1/health",
  "/livez",
  "/readyz",
  "/api/v1/stats",
  "/api/v1/services",
  "/.well-known/agents.json",
  "/api/v1/waitlist",
  "/api/v1/feedback",
  "/api/v1/apply"
]

const submission = (path: string, json: Readonly<Record<string, unknown>>): Row =>
  row(anybody(201), (_, caller) => ({ path, json: { ...json, email: `${caller}@waiting.example` } }))

export const publicRows: Rows = {
  ...Object.fromEntries(reads.map((path) => [`GET ${path}`, open(path)])),
  "GET /api/v1/market/tools/:id": row(anybody(), ({ offer }) => ({
    path: unasked(`/api/v1/market/tools/${offer.toolId}`)
  })),
  "GET /api/v1/market/tools/:id/versions": row(anybody(), ({ offer }) => ({
    path: unasked(`/api/v1/market/tools/${offer.toolId}/versions`)
  })),
  "GET /api/v1/market/tools/:id/sla": row(anybody(), ({ offer }) => ({
    path: unasked(`/api/v1/market/tools/${offer.toolId}/sla`)
  })),
  [`GET ${PROVIDERS}/:id/sla`]: row(anybody(), ({ provider }) => ({
    path: unasked(`${PROVIDERS}/${provider.id}/sla`)
  })),
  [`GET ${PROVIDERS}/:id/trust`]: row(anybody(), ({ provider }) => ({
    path: unasked(`${PROVIDERS}/${provider.id}/trust`)
  })),

  [`GET ${LOG}`]: open(LOG),
  [`GET ${LOG}/checkpoint`]: open(`${LOG}/checkpoint`),
  [`GET ${LOG}/:log/checkpoint`]: open(`${LOG}/1/checkpoint`),
  [`GET ${LOG}/tile/:level/:tile`]: open(`${LOG}/tile/0/000.p/1`),
  [`GET ${LOG}/:log/tile/:level/:tile`]: open(`${LOG}/1/tile/0/000.p/1`),
  [`GET ${LOG}/consistency`]: open(`${LOG}/consistency?from=1&to=2`),

  "POST /api/v1/init": row(operators(200), () => ({ method: "POST", path: "/api/v1/init" })),
  "POST /api/v1/waitlist": submission("/api/v1/waitlist", {}),
  "POST /api/v1/feedback": submission("/api/v1/feedback", { message: "It works" }),
  "POST /api/v1/apply": submission("/api/v1/apply", { name: "An agent", contact: "agent@waiting.example" })
}
