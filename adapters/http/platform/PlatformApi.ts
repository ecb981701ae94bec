/**
 * The platform about itself: index, status, health, counts, schema and the guide for agents.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { operatorIfConfigured, probe, publicRead, uncached } from "../contract/Access.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { AgentsDocument } from "./AgentsDocument.ts"
import * as Field from "../contract/Field.ts"
import { Health } from "./HealthBodies.ts"
import { PlatformIndex, PlatformStatus, Services } from "./PlatformIndex.ts"
import { NOW } from "../contract/SampleValues.ts"
import { answeredAt, message } from "../contract/SharedFields.ts"

const health = [
  Health.annotate({ identifier: "PlatformHealth", description: "The service is available, possibly degraded." }),
  Health.annotate({
    identifier: "PlatformHealthDown",
    description: "The service is not available.",
    examples: [
      {
        status: "down",
        version: "0.4.0",
        version_of: "the platform API under /api/v1, and the trust layer",
        uptime_s: 86_400,
        timestamp: NOW,
        checks: { database: { status: "down", latency_ms: 2_000.4, message: "No answer within 2000 ms." } }
      }
    ]
  }).pipe(HttpApiSchema.status(503))
] as const

const Alive = Field.object("Alive", "The check succeeded.", { status: Field.always("ok") })
const NotReady = Field.object("NotReady", "The node should get no requests.", {
  status: Field.of(
    Schema.Literals(["down", "draining"]),
    "`down`: the database does not respond. `draining`: the node stops.",
    "down"
  )
})

const counts = {
  waitlist: Field.int("Waitlist entries.", 12),
  feedback: Field.int("Feedback entries.", 4),
  applications: Field.int("Applications.", 2),
  providers: Field.int("Registered providers.", 5),
  consumers: Field.int("Registered consumers.", 37),
  tools: Field.int("Tools in the catalog.", 14),
  invocations: Field.int("Metered calls.", 18_420)
}

const PlatformStats = Field.object("PlatformStats", "Counts of the platform.", {
  totals: Field.of(Schema.Struct(counts), "Total counts."),
  last_24h: Field.of(
    Schema.Struct({ since: Field.timestamp("Start of the period.", "2026-11-19T09:00:00.000Z"), ...counts }),
    "Counts since the full hour 24 hours ago.",
    {
      since: "2026-11-19T09:00:00.000Z",
      waitlist: 1,
      feedback: 0,
      applications: 0,
      providers: 1,
      consumers: 3,
      tools: 2,
      invocations: 960
    }
  ),
  timestamp: answeredAt
})

const Initialized = Field.object("Initialized", "The schema is up to date.", {
  initialized: Field.always(true),
  applied: Field.strings("Migrations applied by this request."),
  schema_version: Field.int("Version of the schema. `0`: no schema.", 12),
  tables: Field.strings("Tables of the schema.", "consumers", "providers", "tools"),
  message: message("The schema was up to date.")
})

export class PlatformApi extends HttpApiGroup.make("platform")
  .add(
    Endpoint.get("platformIndex", "/api/v1", {
      access: publicRead,
      summary: "List all endpoints",
      description: "Returns every endpoint of the platform, by part, and links.",
      success: PlatformIndex
    }),
    Endpoint.get("platformStatus", "/api/v1/status", {
      access: uncached,
      summary: "Retrieve the status",
      description: "Returns the status of the service with its capabilities and protocols. Always 200.",
      success: PlatformStatus
    }),
    Endpoint.get("platformHealth", "/api/v1/health", {
      access: uncached,
      summary: "Check the health of every part",
      description: "Each check has its own timeout. Returns 503 only if the status is `down`.",
      success: health
    }),
    Endpoint.get("livez", "/livez", {
      access: probe,
      summary: "Liveness probe",
      description: "Checks only that the process responds.",
      success: Alive
    }),
    Endpoint.get("readyz", "/readyz", {
      access: probe,
      summary: "Readiness probe",
      description:
        "Returns 503 while the database does not respond, and while the node stops. Checked at most once a second.",
      success: [Alive, NotReady.pipe(HttpApiSchema.status(503))]
    }),
    Endpoint.get("platformStats", "/api/v1/stats", {
      access: publicRead,
      summary: "Retrieve platform statistics",
      description: "Returns total counts, and counts since the full hour 24 hours ago. At most a few seconds old.",
      success: PlatformStats
    }),
    Endpoint.get("services", "/api/v1/services", {
      access: publicRead,
      summary: "List services",
      description: "`active` services have an endpoint, `planned` services do not.",
      success: Services
    }),
    Endpoint.post("init", "/api/v1/init", {
      access: operatorIfConfigured,
      summary: "Apply pending migrations",
      description:
        "Updates the database schema; repeated requests change nothing. Without a configured operator key, any client can " +
        "call it.",
      success: Initialized
    }),
    Endpoint.get("agents", "/.well-known/agents.json", {
      access: publicRead,
      summary: "Retrieve the guide for agents",
      description:
        "Returns how to register, pay, find a tool, get a quote, call the tool and verify the receipt, step by step.",
      success: AgentsDocument
    })
  )
  .annotateMerge(Endpoint.about("Platform", "Index, status, health and counts.")) {}
