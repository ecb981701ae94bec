/**
 * Words of the platform: indexes, status, health, counts, services, the schema, and agents.json.
 */
import type { Json } from "./OpenApiModel.ts"
import type { Words } from "./Vocabulary.ts"

const BASE = "https://billing.example.org"
const NAME = "Agent Tool Billing"
const DESCRIPTION = "Billing, metering and authentication between agents and the MCP tools they call."

const CATALOG_SERVICE: Json = {
  id: "catalog",
  name: "Catalogue",
  description: "Tools with their prices, free tiers and figures.",
  status: "active",
  method: "GET",
  endpoint: `${BASE}/api/market/catalog`,
  docs: `${BASE}/docs`,
  auth: "none"
}

const LINKS: Json = {
  homepage: `${BASE}/docs`,
  docs: `${BASE}/docs`,
  openapi: `${BASE}/api/openapi.json`,
  specs: `${BASE}/docs`,
  changelog: `${BASE}/docs`,
  agents_json: `${BASE}/.well-known/agents.json`,
  llms_txt: `${BASE}/llms.txt`
}

const COUNTS = {
  waitlist: 12,
  feedback: 4,
  applications: 2,
  providers: 5,
  consumers: 37,
  tools: 14,
  invocations: 18_420
}

export const platformWords: Words = {
  "PlatformIndex.": ["What there is and where, part by part."],
  "PlatformIndex.name": ["The service's name.", NAME],
  "PlatformIndex.description": ["What the service is.", DESCRIPTION],
  "PlatformIndex.base_url": ["What every path of the part is appended to, or begins with.", BASE],
  "PlatformIndex.endpoints": [
    "Every endpoint of the part, with what it does.",
    { "GET /api/v1/status": "What is running, and how" }
  ],
  market: [
    "The market: tools, calls, money and trust.",
    {
      description: "Tools, calls and the money that they cost.",
      base_url: `${BASE}/api/market`,
      endpoints: { "GET /api/market/catalog": "Find tools" },
      trust_layer: {
        version: "0.4.0",
        version_of: "the platform API under /api/v1, and the trust layer",
        endpoints: { "POST /api/v1/verify": "Verify a receipt" },
        verification_levels: { unverified: "Nothing is proved yet." },
        trust_badges: { unrated: "Too little evidence to rate." }
      },
      self_service: {
        providers: `${BASE}/api/market/register-provider`,
        provider_dashboard: `${BASE}/docs`,
        developers: `${BASE}/api/market/register-consumer`,
        developer_dashboard: `${BASE}/docs`
      }
    }
  ],
  trust_layer: ["What makes calls and providers worth relying on."],
  verification_levels: ["What a provider can prove, and what each level means."],
  trust_badges: ["How far the evidence carries, and what each badge means."],
  self_service: ["Where people begin by themselves."],
  "PlatformIndex.providers": ["Where providers register."],
  provider_dashboard: ["Where providers see what they earn."],
  developers: ["Where developers of agents register."],
  developer_dashboard: ["Where developers see what they spend."],
  "PlatformIndex.links": ["Where to read on; every link leads somewhere.", LINKS],
  homepage: ["The first page for people."],
  docs: ["The documentation."],
  openapi: ["The contract as OpenAPI 3.1."],
  specs: ["The specification."],
  changelog: ["What has changed."],
  agents_json: ["All that an agent needs to begin."],
  llms_txt: ["The same as text."],

  "PlatformStatus.": ["What is running, and how."],
  "PlatformStatus.status": ["`ok`, `degraded` (it goes on), or `down`."],
  "PlatformStatus.name": ["The service's name.", NAME],
  uptime: ["How long this process has been running, in seconds.", 86_400],
  "PlatformStatus.services": ["Each service by its id.", { catalog: "active" }],
  capabilities: ["What can be done here.", ["Catalogue", "Proxy"]],
  protocols: ["What is spoken, in which versions.", { mcp: ["2026-07-28", "2025-11-25"] }],

  "PlatformHealth.": ["It works; `degraded` says that something is slow or away."],
  "PlatformHealthDown.": ["It does not work."],
  "PlatformHealth.status": [
    "The worst of what the service cannot do without; else `degraded` if anything is wrong.",
    "ok"
  ],
  "PlatformHealthDown.status": ["The worst of what the service cannot do without.", "down"],
  uptime_s: ["How long this process has been running, in seconds.", 86_400],
  "PlatformHealth.checks": [
    "Every part by its name.",
    {
      database: { status: "ok", latency_ms: 0.8 },
      schema: { status: "ok", latency_ms: 1.2 },
      background: { status: "ok", latency_ms: 0.1 },
      rate_limits: { status: "ok", latency_ms: 0.1 }
    }
  ],
  "PlatformHealthDown.checks": [
    "Every part by its name.",
    { database: { status: "down", latency_ms: 2_000.4, message: "No answer within 2000 ms." } }
  ],

  "Alive.": ["It is."],
  "Alive.status": ["Always `ok`."],
  "NotReady.": ["Not now: the database does not answer."],
  "NotReady.status": ["Always `down`."],

  "PlatformStats.": ["Counts of the whole platform."],
  totals: ["All in all.", COUNTS],
  last_24h: [
    "What has come since the full hour 24 hours ago.",
    {
      since: "2026-11-19T09:00:00.000Z",
      ...COUNTS,
      waitlist: 1,
      feedback: 0,
      applications: 0,
      consumers: 3,
      invocations: 960
    }
  ],
  since: ["From when on was counted.", "2026-11-19T09:00:00.000Z"],
  waitlist: ["Addresses on the waitlist.", 12],
  feedback: ["Pieces of feedback.", 4],
  applications: ["Applications.", 2],
  consumers: ["Registered consumers.", 37],
  "PlatformStats.tools": ["Tools in the catalogue.", 14],
  invocations: ["Metered calls.", 18_420],

  "Services.": ["The services of the platform."],
  "Services.services": ["One line each.", [CATALOG_SERVICE]],
  total_active: ["How many are there.", 13],
  total_planned: ["How many are still to come.", 4],
  "ServiceLine.": ["A service, and where it is."],
  "ServiceLine.id": ["Its name in code.", "catalog"],
  "ServiceLine.name": ["Its name for people.", "Catalogue"],
  "ServiceLine.description": ["What it does.", "Tools with their prices, free tiers and figures."],
  "ServiceLine.status": ["Whether it is there."],
  "ServiceLine.method": ["The method of its main endpoint; null where it is planned.", "GET"],
  "ServiceLine.endpoint": ["Its main endpoint; null where it is planned.", `${BASE}/api/market/catalog`],
  "ServiceLine.docs": ["Where it is explained; null where it is planned.", `${BASE}/docs`],
  "ServiceLine.auth": ["Whose key it wants; null where it is planned.", "none"],

  "Initialized.": ["The schema is up to date."],
  initialized: ["Always true."],
  applied: ["The migrations that were applied now.", []],
  schema_version: ["The version that the schema is at; 0 where there is none.", 12],
  tables: ["The tables that there are.", ["consumers", "providers", "tools"]],
  "Initialized.message": ["What happened, in a sentence for people.", "The schema was up to date."],

  "AgentsDocument.": ["All that an agent needs to register, pay, call and verify on its own."],
  "AgentsDocument.name": ["The service's name.", NAME],
  "AgentsDocument.description": ["What the service is.", DESCRIPTION],
  authentication: [
    "How to sign in, and where to get a key.",
    {
      type: "bearer",
      header: "Authorization: Bearer <key>",
      register_consumer: `${BASE}/api/market/register-consumer`,
      register_provider: `${BASE}/api/market/register-provider`
    }
  ],
  "AgentsDocument.type": ["The kind of scheme."],
  "AgentsDocument.header": ["The header to send."],
  register_consumer: ["Where agents get their key."],
  register_provider: ["Where providers get theirs."],
  money: ["The unit of every amount, and how payments work here."],
  currency: ["The currency."],
  "AgentsDocument.unit": ["What amounts are counted in."],
  payments: ["`dry_run`: nobody pays; `live`: a balance is loaded with real money.", "dry_run"],
  "AgentsDocument.receipts": [
    "How receipts are signed.",
    {
      algorithm: "HMAC-SHA256",
      signed_fields: ["receipt_id", "tool_id", "agent_id", "provider_id", "timestamp", "cost_microcents", "status"],
      separator: "|",
      verify: `${BASE}/api/v1/verify`
    }
  ],
  "AgentsDocument.algorithm": ["How the signature is made."],
  signed_fields: ["What is signed, in this order."],
  separator: ["What stands between the fields."],
  "AgentsDocument.verify": ["Where anybody can have a receipt verified."],
  how_to_read_steps: ["How to walk the steps.", "Do them in order."],
  steps: ["From nothing to a verified receipt."],
  "AgentsDocument.services": ["The services of the platform.", [CATALOG_SERVICE]],
  "AgentsDocument.links": ["Where to read on.", LINKS],
  "AgentStep.": ["One request."],
  "AgentStep.step": ["Its name.", "register"],
  "AgentStep.description": ["What it is for.", "Register. The key is shown only in this answer."],
  "AgentStep.method": ["The method.", "POST"],
  "AgentStep.url": ["Where to send it.", `${BASE}/api/market/register-consumer`],
  "AgentStep.auth": ["Whose key it wants; null: none.", null],
  "AgentStep.body": ["The JSON body, with placeholders.", { name: "My agent", email: "agent@example.org" }],
  yields: ["What to remember of the answer, by JSON Pointer.", { api_key: "/api_key" }]
}
