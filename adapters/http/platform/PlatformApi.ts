/**
 * The platform about itself: index, status, health with its history, counts, schema, the guide for agents, and submissions.
 */
import { Schema, SchemaGetter } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { HISTORY_DAYS, HISTORY_DAYS_KEPT } from "../../../domain/platform/HealthHistory.ts"
import { SUBMISSION_ITEMS_MAX, WAITLIST_SOURCE_CHARS_MAX } from "../../../domain/platform/Submissions.ts"
import { SIGNED_FIELDS } from "../../../domain/receipts/Receipts.ts"
import { isPlainText, withNewlines } from "../../../domain/shared/PlainText.ts"
import { MCP_VERSIONS } from "../../../domain/upstream/Protocol.ts"
import { mcpDoors } from "../catalog/CatalogApi.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { operatorIfConfigured, probe, publicRead, registration, uncached } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Bounded, Email, Line, Name, takesOtherFields, Text, WholeNumber } from "../contract/InputSchemas.ts"
import { BASE_URL, NOW, PRODUCT_DESCRIPTION, PRODUCT_NAME, SUBMISSION_ID, TODAY } from "../contract/SampleValues.ts"
import {
  answeredAt,
  date,
  feeBps,
  message,
  nextSteps,
  RECEIPT_SCHEMA_PATH,
  RECEIPT_SCHEMA_TITLE,
  versionOf
} from "../contract/SharedFields.ts"
import { trustBadges, verificationLevels } from "../trust/TrustApi.ts"

const Texts = Schema.Record(Schema.String, Schema.String)

const identity = {
  name: Field.string("Name of the service.", PRODUCT_NAME),
  version: Field.always("0.4.0"),
  version_of: versionOf
}
const description = Field.string("Description of the service.", PRODUCT_DESCRIPTION)
const baseUrl = Field.string("Base URL of every path.", BASE_URL)
const endpoints = Field.of(Texts, "Endpoints, each with its summary.", {
  "GET /api/v1/status": "Retrieve the status"
})

const url = (what: string, path: string) => Field.string(`URL of ${what}.`, `${BASE_URL}${path}`)

const TrustLayer = Schema.Struct({
  version: identity.version,
  version_of: versionOf,
  endpoints: Field.of(Texts, "Endpoints, each with its summary.", { "POST /api/v1/verify": "Verify a receipt" }),
  verification_levels: verificationLevels,
  trust_badges: trustBadges
})

const Market = Schema.Struct({
  version: identity.version,
  description: Field.string("Description of the market API.", "Tools, calls and payments."),
  base_url: Field.string("Base URL of the market API.", `${BASE_URL}/api/market`),
  endpoints: Field.of(Texts, "Endpoints, each with its summary.", { "GET /api/market/catalog": "Search the catalog" }),
  trust_layer: Field.of(TrustLayer, "Receipts, transparency log, verification and disputes."),
  self_service: Field.of(
    Schema.Struct({
      providers: url("the registration of providers", "/providers/register"),
      provider_dashboard: url("the provider dashboard", "/provider"),
      developers: url("the registration of developers", "/developers/register"),
      developer_dashboard: url("the developer dashboard", "/developer")
    }),
    "Pages for registration and dashboards."
  )
})

/** The platform's index, services and status on the wire. */
const PlatformIndex = Field.object("PlatformIndex", "Endpoints and links of the platform.", {
  ...identity,
  description,
  base_url: baseUrl,
  endpoints,
  market: Field.of(Market, "The market API."),
  links: Field.of(
    Schema.Struct({
      homepage: url("the home page", "/"),
      docs: url("the documentation", "/docs"),
      openapi: url("the OpenAPI 3.1 document", "/api/openapi.json"),
      specs: url("the specification", "/spec"),
      changelog: url("the changelog", "/changelog"),
      agents_json: url("the machine-readable guide for agents", "/.well-known/agents.json"),
      llms_txt: url("the same guide as text", "/llms.txt")
    }),
    "Links to the documentation."
  )
})

const serviceStatus = Schema.Literals(["active", "planned"])
const whileActive = (what: string, example: string) => Field.nullableString(`${what} \`null\`: planned.`, example)

const ServiceLine = Field.object("ServiceLine", "A service and its main endpoint.", {
  id: Field.string("ID of the service.", "catalog"),
  name: Field.string("Name of the service.", "Catalog"),
  description: Field.string("Description of the service.", "Tools with their prices, free tiers and statistics."),
  status: Field.of(serviceStatus, "Whether the service is available."),
  method: whileActive("HTTP method of the main endpoint.", "GET"),
  endpoint: whileActive("URL of the main endpoint.", `${BASE_URL}/api/market/catalog`),
  docs: whileActive("URL of the documentation.", `${BASE_URL}/docs`),
  auth: whileActive("Role whose key is required, or `none`.", "none")
})

const services = Field.list(ServiceLine, "Services of the platform.")

const Services = Field.object("Services", "Services of the platform.", {
  services,
  total_active: Field.int("Number of active services.", 13),
  total_planned: Field.int("Number of planned services.", 4)
})

const Condition = Schema.Literals(["ok", "degraded", "down"])

const PlatformStatus = Field.object("PlatformStatus", "Status and services of the platform.", {
  status: Field.of(Condition, "`degraded`: the service is available, but a part is slow or fails."),
  version: identity.version,
  version_of: versionOf,
  name: identity.name,
  uptime: Field.int("Uptime of this process in seconds.", 86_400),
  timestamp: answeredAt,
  services: Field.of(Schema.Record(Schema.String, serviceStatus), "Status of each service by its ID.", {
    catalog: "active"
  }),
  capabilities: Field.strings("Names of the active services.", "Catalog", "Proxy"),
  protocols: Field.of(
    Schema.Record(Schema.String, Schema.Array(Schema.String)),
    "Supported protocols with their versions.",
    { mcp: MCP_VERSIONS.slice(0, 2) }
  ),
  endpoints
})

// The health of a node, part by part.

const Check = Schema.Struct({
  status: Field.of(Condition, "Status of the part."),
  latency_ms: Field.of(Schema.Finite, "Duration of the check in milliseconds."),
  message: Field.optional(Schema.String, "What is wrong.")
})

export const Health = Schema.Struct({
  status: Field.of(Condition, "`down`: an essential part fails. `degraded`: another part is slow or fails."),
  version: identity.version,
  version_of: versionOf,
  uptime_s: Field.int("Uptime of this process in seconds.", 86_400),
  timestamp: answeredAt,
  checks: Field.of(Schema.Record(Schema.String, Check), "Checks by name.", {
    database: { status: "ok", latency_ms: 0.8 },
    schema: { status: "ok", latency_ms: 1.2 },
    background: { status: "ok", latency_ms: 0.1 },
    rate_limits: { status: "ok", latency_ms: 0.1 }
  })
})

const Step = Field.object("AgentStep", "A request.", {
  step: Field.string("Name of the step.", "register"),
  description: Field.string("Purpose of the step.", "Register. The key is shown only in this answer."),
  method: Field.string("HTTP method.", "POST"),
  url: Field.string("URL of the request.", `${BASE_URL}/api/market/register-consumer`),
  auth: Field.nullableString("Role whose key is required. `null`: none."),
  body: Field.optional(Schema.Record(Schema.String, Schema.Unknown), "JSON body of the request, with placeholders."),
  yields: Field.of(Texts, "Values to keep from the response, by JSON Pointer.", { api_key: "/api_key" })
})

const LOG = "The transparency log of the receipts."

/** `agents.json` on the wire: how an agent registers, pays, calls a tool and verifies the receipt. */
const AgentsDocument = Field.object(
  "AgentsDocument",
  "How an agent registers, pays, calls tools and verifies receipts.",
  {
    ...identity,
    description,
    base_url: baseUrl,
    authentication: Field.of(
      Schema.Struct({
        type: Field.always("bearer"),
        header: Field.string("Header to send.", "Authorization: Bearer <key>"),
        register_consumer: Field.string("URL for registering a consumer.", `${BASE_URL}/api/market/register-consumer`),
        register_provider: Field.string("URL for registering a provider.", `${BASE_URL}/api/market/register-provider`)
      }),
      "How to authenticate, and where to get a key."
    ),
    mcp: mcpDoors,
    money: Field.of(
      Schema.Struct({
        currency: Field.always("USD"),
        unit: Field.always("microcent"),
        microcents_per_cent: Field.always(10_000, "Number of microcents in a cent."),
        platform_fee_bps: feeBps("Default platform fee"),
        payments: Field.of(Schema.Literals(["dry_run", "live"]), "`dry_run`: payments are simulated.", "dry_run")
      }),
      "Unit of amounts, and payment mode."
    ),
    receipts: Field.of(
      Schema.Struct({
        algorithm: Field.always("HMAC-SHA256", "Algorithm of the signature."),
        signed_fields: Field.strings("Signed fields, in the order of signing.", ...SIGNED_FIELDS),
        separator: Field.always("|", "Separator of the signed fields."),
        verify: Field.string("URL for verifying a receipt.", `${BASE_URL}/api/v1/verify`),
        schema: Field.of(
          Schema.Struct({
            title: Field.always(RECEIPT_SCHEMA_TITLE, "Title of the schema."),
            url: Field.string("URL of the JSON Schema.", `${BASE_URL}${RECEIPT_SCHEMA_PATH}`)
          }),
          "JSON Schema of a receipt."
        )
      }),
      "How receipts are signed."
    ),
    transparency_log: Field.of(
      Field.object("TransparencyLog", LOG, {
        checkpoint: Field.string("URL of the newest checkpoint.", `${BASE_URL}/api/v1/market/log/checkpoint`),
        jwks: Field.string("URL of the log's public keys as JWK.", `${BASE_URL}/.well-known/jwks.json`),
        vkeys: Field.strings(
          "Public keys of the log as C2SP vkeys, newest first.",
          "billing.example.org+1c2d3e4f+AepFdGyJTo…"
        )
      }),
      LOG
    ),
    how_to_read_steps: Field.string("How to read the steps.", "Do them in order."),
    steps: Field.list(Step, "Requests from registration to a verified receipt."),
    services,
    endpoints,
    links: Field.of(Texts, "Links to the documentation.", { docs: `${BASE_URL}/docs` })
  }
)

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

const outcomes = {
  samples: Field.int("Number of checks by all nodes. `0`: no record.", 1_440),
  ok: Field.int("Number of checks with status `ok`.", 1_438),
  degraded: Field.int("Number of checks with status `degraded`.", 1),
  down: Field.int("Number of checks with status `down`.", 1),
  good_pct: Field.nullableNumber("Share of `ok` in percent, truncated to three decimals. `null`: no record.", 99.861)
}

const HealthDay = Field.object("HealthDay", "One day of a check.", { date, ...outcomes })

const CheckHistory = Field.object("CheckHistory", "Record of a check, in total and by day.", {
  name: Field.string("Name of the check in `GET /api/v1/health`; `service` is the whole service.", "service"),
  ...outcomes,
  by_day: Field.list(HealthDay, "Days of the period, oldest first.")
})

const StatusHistory = Field.object("StatusHistory", "Record of every check by day.", {
  days: Field.int("Number of days, including today.", 1),
  from: Field.string("First day (UTC).", TODAY),
  to: Field.string("Last day (UTC): today.", TODAY),
  checks: Field.list(CheckHistory, "Checks. The first, `service`, is the whole service."),
  timestamp: answeredAt
})

/** The record of health checks; the page /status shows the same. */
export class StatusApi extends HttpApiGroup.make("status")
  .add(
    Endpoint.get("history", "/api/v1/status/history", {
      access: publicRead,
      summary: "Retrieve the status history",
      description:
        `The service checks itself every minute. Returns the totals by day (UTC), of ${HISTORY_DAYS} days by default. A day ` +
        "with 0 `samples` has no record.",
      query: {
        days: Field.optional(
          WholeNumber(1, HISTORY_DAYS_KEPT),
          `Number of days, including today. Default: ${HISTORY_DAYS}.`
        )
      },
      success: StatusHistory
    })
  )
  .annotateMerge(Endpoint.about("Status", "Record of health checks.")) {}

// Waitlist, feedback and applications: submissions that need no account.

const JoinWaitlist = Schema.Struct({
  email: Field.of(Email, "Email address; stored in lowercase."),
  source: Field.optional(Line(WAITLIST_SOURCE_CHARS_MAX), "Where you heard of the service.")
}).annotate({
  identifier: "JoinWaitlist",
  description: "An email address for the waitlist.",
  ...takesOtherFields(),
  examples: [{ email: "ada@example.org", source: "docs" }]
})

const storedEmail = Field.string("Email address as stored.", "ada@example.org")
const id = Field.string("ID of the entry.", SUBMISSION_ID)

const Joined = Field.object("WaitlistJoined", "The address was added to the waitlist.", {
  message: message("You are on the waitlist."),
  email: storedEmail,
  id
})
const JoinedBefore = Field.object("WaitlistJoinedBefore", "The address was on the waitlist before.", {
  message: message("This address is on the waitlist already."),
  email: storedEmail
})

/** Items are trimmed; blank ones are dropped. */
const Items = (charsMax: number) =>
  Schema.Array(Bounded(charsMax))
    .check(Schema.isMaxLength(SUBMISSION_ITEMS_MAX))
    .pipe(
      Schema.decodeTo(Schema.Array(Schema.String.check(isPlainText)), {
        decode: SchemaGetter.transform((items: ReadonlyArray<string>) =>
          items.map((item) => withNewlines(item).trim()).filter((item) => item !== "")
        ),
        encode: SchemaGetter.transform((items: ReadonlyArray<string>) => items)
      })
    )

/** May be shown as a link, so nothing but a web address; empty counts as absent. */
const WebAddress = Line(2_000).check(
  Schema.makeFilter((value: string) => {
    const protocol = URL.parse(value)?.protocol
    return value === "" || protocol === "http:" || protocol === "https:"
      ? undefined
      : "must be an http or https address"
  })
)

const isBlank = (text: string | undefined) => text === undefined || text.trim() === ""
const isEmpty = (items: ReadonlyArray<string> | undefined) => items === undefined || items.length === 0

const GiveFeedback = Field.object("GiveFeedback", "Feedback: at least one of `walls`, `needs` and `message`.", {
  agent_name: Field.optional(Line(200), "Name of the agent."),
  agent_url: Field.optional(WebAddress, "URL of the agent: http or https."),
  contact: Field.optional(Line(320), "How to contact you."),
  walls: Field.optional(Items(1_000), "Obstacles that you met, one per item."),
  needs: Field.optional(Items(1_000), "What you need, one per item."),
  message: Field.optional(Text(10_000), "Message."),
  platform: Field.optional(Line(200), "Platform that the agent runs on."),
  use_case: Field.optional(Text(4_000), "Purpose of the agent.")
})
  .check(
    Schema.makeFilter((body) =>
      isEmpty(body.walls) && isEmpty(body.needs) && isBlank(body.message)
        ? "Send at least one of `walls`, `needs` and `message`."
        : undefined
    )
  )
  .annotate({
    identifier: "GiveFeedback",
    ...takesOtherFields(),
    examples: [
      {
        agent_name: "Research agent",
        walls: ["Most tools want a credit card before the first call"],
        needs: ["A price before the call"],
        message: "Quotes without a call are useful.",
        platform: "MCP"
      }
    ]
  })

const Apply = Schema.Struct({
  name: Field.of(Name(200), "Your name."),
  contact: Field.of(Name(320), "How to contact you."),
  type: Field.optional(Line(100), "Your role: provider, developer, agent."),
  skills: Field.optional(Items(200), "Your skills, one per item."),
  projects: Field.optional(Items(1_000), "Your projects, one per item."),
  agents: Field.optional(Items(1_000), "Agents that you run, one per item."),
  interest: Field.optional(Text(4_000), "Why you are interested."),
  pitch: Field.optional(Text(10_000), "What you want to build or offer."),
  availability: Field.optional(Text(500), "When you are available.")
}).annotate({
  identifier: "Apply",
  description: "Your application.",
  ...takesOtherFields(),
  examples: [
    {
      name: "Ada",
      contact: "ada@example.org",
      type: "provider",
      skills: ["search"],
      projects: ["A full-text index of public papers"],
      interest: "Selling search by the call"
    }
  ]
})

const Received = Field.object("FeedbackReceived", "The feedback is stored.", {
  received: Field.always(true),
  id,
  message: message("Thank you. Your feedback is stored.")
})

const ApplicationReceived = Field.object("ApplicationReceived", "The application is stored.", {
  received: Field.always(true),
  id,
  message: message("Your application is stored."),
  next_steps: nextSteps
})

export class SubmissionsApi extends HttpApiGroup.make("submissions")
  .add(
    Endpoint.post("joinWaitlist", "/api/v1/waitlist", {
      access: registration,
      summary: "Join the waitlist",
      description: "Returns 201 for a new address and 200 for an address on the list.",
      payload: JoinWaitlist,
      success: [Joined.pipe(HttpApiSchema.status(201)), JoinedBefore]
    }),
    Endpoint.post("giveFeedback", "/api/v1/feedback", {
      access: registration,
      summary: "Give feedback",
      description: "Open to agents and people. Send at least one of `walls`, `needs` and `message`.",
      payload: GiveFeedback,
      success: Received.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.post("apply", "/api/v1/apply", {
      access: registration,
      summary: "Apply for a partnership",
      description: "Send who you are, how to contact you, and what you want to build or offer.",
      payload: Apply,
      success: ApplicationReceived.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.describing("describeWaitlist", "/api/v1/waitlist"),
    Endpoint.describing("describeFeedback", "/api/v1/feedback"),
    Endpoint.describing("describeApply", "/api/v1/apply")
  )
  .annotateMerge(Endpoint.about("Waitlist and feedback", "Waitlist, feedback and applications, without an account.")) {}
