/**
 * The platform about itself: what there is and where, whether it works, and how much of everything there is.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, operatorIfConfigured, probe, publicRead, uncached } from "./Access.ts"
import { problems } from "./Problem.ts"

const Version = Schema.Literal("0.4.0")
const Texts = Schema.Record(Schema.String, Schema.String)
const Condition = Schema.Literals(["ok", "degraded", "down"])

const PlatformIndex = Schema.Struct({
  name: Schema.String,
  version: Version,
  version_of: Schema.String,
  description: Schema.String,
  base_url: Schema.String,
  endpoints: Texts,
  market: Schema.Struct({
    description: Schema.String,
    base_url: Schema.String,
    endpoints: Texts,
    trust_layer: Schema.Struct({
      version: Version,
      version_of: Schema.String,
      endpoints: Texts,
      verification_levels: Texts,
      trust_badges: Texts
    }),
    self_service: Schema.Struct({
      providers: Schema.String,
      provider_dashboard: Schema.String,
      developers: Schema.String,
      developer_dashboard: Schema.String
    })
  }),
  links: Schema.Struct({
    homepage: Schema.String,
    docs: Schema.String,
    openapi: Schema.String,
    specs: Schema.String,
    changelog: Schema.String,
    agents_json: Schema.String,
    llms_txt: Schema.String
  })
}).annotate({ identifier: "PlatformIndex" })

const PlatformStatus = Schema.Struct({
  status: Condition,
  version: Version,
  version_of: Schema.String,
  name: Schema.String,
  uptime: Schema.Int,
  timestamp: Timestamp,
  services: Schema.Record(Schema.String, Schema.Literals(["active", "planned"])),
  capabilities: Schema.Array(Schema.String),
  protocols: Schema.Record(Schema.String, Schema.Array(Schema.String)),
  endpoints: Texts
}).annotate({ identifier: "PlatformStatus" })

const HealthBody = Schema.Struct({
  status: Condition,
  version: Version,
  version_of: Schema.String,
  uptime_s: Schema.Int,
  timestamp: Timestamp,
  checks: Schema.Record(
    Schema.String,
    Schema.Struct({
      status: Condition,
      latency_ms: Schema.Finite,
      message: Schema.optionalKey(Schema.String)
    })
  )
}).annotate({ identifier: "PlatformHealth" })

const Alive = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Alive" })
const NotReady = Schema.Struct({ status: Schema.Literal("down") }).annotate({ identifier: "NotReady" })

const counts = {
  waitlist: Schema.Int,
  feedback: Schema.Int,
  applications: Schema.Int,
  providers: Schema.Int,
  consumers: Schema.Int,
  tools: Schema.Int,
  invocations: Schema.Int
}

const PlatformStats = Schema.Struct({
  totals: Schema.Struct(counts),
  last_24h: Schema.Struct({ since: Timestamp, ...counts }),
  timestamp: Timestamp
}).annotate({ identifier: "PlatformStats" })

const ServiceLine = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  status: Schema.Literals(["active", "planned"]),
  method: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  docs: Schema.NullOr(Schema.String),
  auth: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ServiceLine" })

const Services = Schema.Struct({
  services: Schema.Array(ServiceLine),
  total_active: Schema.Int,
  total_planned: Schema.Int
}).annotate({ identifier: "Services" })

const Initialized = Schema.Struct({
  initialized: Schema.Literal(true),
  applied: Schema.Array(Schema.String),
  schema_version: Schema.Int,
  tables: Schema.Array(Schema.String),
  message: Schema.String
}).annotate({ identifier: "Initialized" })

const Step = Schema.Struct({
  step: Schema.String,
  description: Schema.String,
  method: Schema.String,
  url: Schema.String,
  auth: Schema.NullOr(Schema.String),
  body: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  yields: Texts
}).annotate({ identifier: "AgentStep" })

const AgentsDocument = Schema.Struct({
  name: Schema.String,
  version: Version,
  version_of: Schema.String,
  description: Schema.String,
  base_url: Schema.String,
  authentication: Schema.Struct({
    type: Schema.Literal("bearer"),
    header: Schema.String,
    register_consumer: Schema.String,
    register_provider: Schema.String
  }),
  money: Schema.Struct({
    currency: Schema.Literal("USD"),
    unit: Schema.Literal("microcent"),
    microcents_per_cent: Schema.Literal(10_000),
    platform_fee_bps: Schema.Literal(1_000),
    payments: Schema.Literals(["dry_run", "live"])
  }),
  receipts: Schema.Struct({
    algorithm: Schema.Literal("HMAC-SHA256"),
    signed_fields: Schema.Array(Schema.String),
    separator: Schema.Literal("|"),
    verify: Schema.String
  }),
  transparency_log: Schema.Struct({
    checkpoint: Schema.String,
    jwks: Schema.String,
    vkeys: Schema.Array(Schema.String)
  }).annotate({ identifier: "TransparencyLog" }),
  how_to_read_steps: Schema.String,
  steps: Schema.Array(Step),
  services: Schema.Array(ServiceLine),
  endpoints: Texts,
  links: Texts
}).annotate({ identifier: "AgentsDocument" })

export class PlatformApi extends HttpApiGroup.make("platform")
  .add(
    HttpApiEndpoint.get("platformIndex", "/api/v1", { success: PlatformIndex, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The platform and all its endpoints",
          description:
            "What there is and where, by part; made from the routes, so it names what exists and nothing else."
        })
      ),
    HttpApiEndpoint.get("platformStatus", "/api/v1/status", { success: PlatformStatus, error: problems() })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "What is running, and how",
          description:
            "The state of the service with its parts, capabilities and protocols. Always 200 while it answers."
        })
      ),
    HttpApiEndpoint.get("platformHealth", "/api/v1/health", {
      success: [HealthBody, HealthBody.annotate({ identifier: "PlatformHealthDown" }).pipe(HttpApiSchema.status(503))],
      error: problems()
    })
      .annotate(Access, uncached)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Does every part work",
          description:
            "Each part is asked within a time of its own. `degraded`: something is slow or away, and the service goes on. " +
            "503 only when it is `down`."
        })
      ),
    HttpApiEndpoint.get("livez", "/livez", { success: Alive, error: problems() })
      .annotate(Access, probe)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Is the process alive",
          description: "Asks nothing but the process itself. For whoever restarts it."
        })
      ),
    HttpApiEndpoint.get("readyz", "/readyz", {
      success: [Alive, NotReady.pipe(HttpApiSchema.status(503))],
      error: problems()
    })
      .annotate(Access, probe)
      .annotateMerge(
        OpenApi.annotations({
          summary: "May traffic come",
          description: "503 while the database does not answer. For whoever balances load; asked afresh once a second."
        })
      ),
    HttpApiEndpoint.get("platformStats", "/api/v1/stats", { success: PlatformStats, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "How much of everything there is",
          description: "Counts only, all in all and since the full hour 24 hours ago; a few seconds old at most."
        })
      ),
    HttpApiEndpoint.get("services", "/api/v1/services", { success: Services, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "The services of the platform",
          description: "`active` where the endpoint is there, `planned` where it is not."
        })
      ),
    HttpApiEndpoint.post("init", "/api/v1/init", { success: Initialized, error: problems(401, 403) })
      .annotate(Access, operatorIfConfigured)
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Bring the schema up to date",
          description:
            "Applies the migrations that are pending; again: nothing. Anybody may call it where no operator key is configured."
        })
      ),
    HttpApiEndpoint.get("agents", "/.well-known/agents.json", { success: AgentsDocument, error: problems() })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "All that an agent needs to begin",
          description: "How to register, pay, find a tool, ask its price, call it and verify the receipt, step by step."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Platform", description: "What there is, whether it works, and how much of it." })
  ) {}
