/**
 * Entry points for new clients: the indexes, the list of services, agents.json and llms.txt, all generated from the routes.
 */
import { Effect } from "effect"
import { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { Health } from "../../../domain/platform/Health.ts"
import { RECEIPT_ALGORITHM, SIGNED_FIELDS } from "../../../domain/receipts/Receipts.ts"
import { format } from "../../../domain/shared/Time.ts"
import { MCP_VERSIONS } from "../../../domain/upstream/Protocol.ts"
import { AccountsApi } from "../accounts/AccountsApi.ts"
import { CatalogApi, MARKET_DOOR_TOOLS } from "../catalog/CatalogApi.ts"
import { API_VERSION, API_VERSION_OF, BaseUrl, MARKET_VERSION_OF } from "../contract/BaseUrl.ts"
import { describe, publicRead } from "../contract/Endpoint.ts"
import { PRODUCT_DESCRIPTION, PRODUCT_NAME } from "../contract/SampleValues.ts"
import { RECEIPT_SCHEMA_PATH, RECEIPT_SCHEMA_TITLE } from "../contract/SharedFields.ts"
import { MeteringApi } from "../metering/MeteringApi.ts"
import { documentRoute, Pages, type Route, route } from "../pipeline/Route.ts"
import { RateLimits } from "../pipeline/Stages.ts"
import { PlatformApi, SubmissionsApi } from "../platform/PlatformApi.ts"
import { TRUST_BADGES, VERIFICATION_LEVELS } from "../trust/Trust.ts"

// Indexes are made from the routes themselves, so that they name only routes that exist.

type Named = Readonly<Record<string, string>>

const namesOf = (routes: ReadonlyArray<Route>): Named =>
  Object.fromEntries(
    routes
      .filter(({ summary }) => summary !== "")
      .map(({ method, path, shownPath, summary }) => [`${method} ${shownPath ?? path}`, summary])
  )

const MARKET = /^\/api\/(?:v1\/)?market(?:\/|$)/u
const TRUST =
  /^\/api\/v1\/(?:verify$|market\/(?:receipts|log|providers|disputes)(?:\/|$))|^\/\.well-known\/jwks\.json$/u

const isMarket = ({ path }: Route): boolean => MARKET.test(path)
const isTrust = ({ path }: Route): boolean => TRUST.test(path)

/** The URL of the first of these paths that has a GET route. */
const firstExisting = (routes: ReadonlyArray<Route>, baseUrl: string, ...paths: ReadonlyArray<string>): string => {
  const found = paths.find((wanted) => routes.some(({ method, path }) => method === "GET" && path === wanted))
  if (found === undefined) throw new Error(`There is nothing at ${paths.join(" or ")}`)
  return `${baseUrl}${found}`
}

/** Each is represented by one endpoint: active if the endpoint exists, else planned. */
const SERVICES: Readonly<Record<string, string>> = {
  registration: "POST /api/market/register-consumer",
  catalog: "GET /api/market/catalog",
  proxy: "POST /api/market/proxy",
  metering: "POST /api/v1/market/meter",
  balance: "POST /api/market/balance/load",
  usage: "GET /api/v1/market/usage",
  payouts: "POST /api/market/payouts",
  invoices: "GET /api/v1/market/invoices",
  receipts: "GET /api/v1/market/receipts",
  verification: "POST /api/v1/verify",
  transparency_log: "GET /api/v1/market/log/checkpoint",
  provider_verification: "POST /api/v1/market/providers/verify",
  trust: "GET /api/v1/market/providers/:id/trust",
  disputes: "POST /api/v1/market/disputes",
  feedback: "POST /api/v1/feedback"
}

const routeOf = (routes: ReadonlyArray<Route>, name: string): Route | undefined =>
  routes.find(({ method, path }) => `${method} ${path}` === name)

const servicesOf = (routes: ReadonlyArray<Route>, baseUrl: string) =>
  Object.entries(SERVICES).map(([id, route]) => {
    const found = routeOf(routes, route)
    const name = id.replaceAll("_", " ")
    return {
      id,
      name: name.slice(0, 1).toUpperCase() + name.slice(1),
      description: found?.summary ?? "",
      status: found === undefined ? ("planned" as const) : ("active" as const),
      method: found?.method ?? null,
      endpoint: found === undefined ? null : `${baseUrl}${found.path}`,
      docs: found === undefined ? null : `${baseUrl}/docs`,
      auth: found === undefined ? null : authOf(found)
    }
  })

/** The first steps of consumers and providers. */
const FLOW = [
  SERVICES["registration"]!,
  "POST /api/market/tools",
  SERVICES["balance"]!,
  SERVICES["catalog"]!,
  SERVICES["proxy"]!,
  SERVICES["receipts"]!,
  SERVICES["verification"]!
]

const flowOf = (routes: ReadonlyArray<Route>): ReadonlyArray<string> =>
  FLOW.map((route, n) => `${n + 1}. ${routeOf(routes, route)?.summary}: ${route}`)

const authOf = ({ rule }: Route): string => (rule.roles.length === 0 ? "none" : `${rule.roles.join(" or ")} key`)

// The guide for agents, from the base URL to a verified receipt: its steps in machine-readable form, and as text.

const HOW_TO_READ_STEPS =
  "Do them in order. `yields` names values to keep from the response, by JSON Pointer (RFC 6901). `{name}` in a URL or a " +
  "body stands for the value of that name; a text that is only `{name}` is replaced by the value itself. `{arguments}` is " +
  "an object of yours that matches `input_schema`. Where `auth` is not null, send `Authorization: Bearer {api_key}`."

interface StepRow {
  readonly step: string
  readonly description: string
  readonly route: string
  /** Replaces the route's path where the URL has a query or a parameter. */
  readonly url?: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly yields?: Readonly<Record<string, string>>
}

const stepsFor = (payments: PaymentGateway["Service"]["mode"]): ReadonlyArray<StepRow> => [
  {
    step: "register",
    description: "Register. The key is shown only in this response.",
    route: "POST /api/market/register-consumer",
    body: { name: "My agent", email: "agent@example.org" },
    yields: { api_key: "/api_key", consumer_id: "/consumer_id" }
  },
  {
    step: "load",
    description:
      payments === "dry_run"
        ? "Add funds. Payments are simulated: the balance is credited immediately without a payment."
        : "Add funds: pay at `checkout_url`. The balance is credited once the payment succeeds.",
    route: "POST /api/market/balance/load",
    body: { amount_cents: 100 },
    ...(payments === "dry_run" ? {} : { yields: { checkout_url: "/checkout_url" } })
  },
  {
    step: "find",
    description:
      "Find a tool, with its price and the schema of its input. `q` searches, `sort` orders. Call it by its `qualified_name`, " +
      "which always names this tool.",
    route: "GET /api/market/catalog",
    url: "/api/market/catalog?sort=price&limit=10",
    yields: { tool_name: "/tools/0/qualified_name", input_schema: "/tools/0/input_schema" }
  },
  {
    step: "quote",
    description: "Get a quote: free calls cost nothing. The provider is not called, and nothing is charged.",
    route: "POST /api/market/proxy",
    body: { tool_name: "{tool_name}", input: "{arguments}", dry_run: true },
    yields: { price_version: "/quote/price_version", max_cost_microcents: "/quote/max_cost_microcents" }
  },
  {
    step: "call",
    description:
      "Call the tool on the terms of the quote, for at most its maximum. An `Idempotency-Key` header makes the request safe to " +
      "retry. `outcome` is `error` if the tool itself returned an error.",
    route: "POST /api/market/proxy",
    body: {
      tool_name: "{tool_name}",
      input: "{arguments}",
      price_version: "{price_version}",
      max_cost_microcents: "{max_cost_microcents}"
    },
    yields: { result: "/result", outcome: "/meta/outcome", receipt_id: "/meta/receipt_id" }
  },
  {
    step: "receipt",
    description: "Retrieve the receipt of the call.",
    route: "GET /api/v1/market/receipts/:id",
    url: "/api/v1/market/receipts/{receipt_id}",
    yields: { receipt: "/receipt" }
  },
  {
    step: "verify",
    description: "Verify the receipt. No key is needed.",
    route: "POST /api/v1/verify",
    body: { receipt: "{receipt}" },
    yields: { valid: "/verification/valid" }
  }
]

const agentSteps = (routes: ReadonlyArray<Route>, baseUrl: string, payments: PaymentGateway["Service"]["mode"]) =>
  stepsFor(payments).flatMap(({ body, description, route: wanted, step, url, yields }) => {
    const found = routeOf(routes, wanted)
    if (found === undefined) return []
    return [
      {
        step,
        description,
        method: found.method,
        url: `${baseUrl}${url ?? found.path}`,
        auth: found.rule.roles.length === 0 ? null : authOf(found),
        ...(body === undefined ? {} : { body }),
        yields: yields ?? {}
      }
    ]
  })

interface LlmsFacts {
  readonly name: string
  readonly description: string
  readonly links: Named
  /** Lines about MCP. */
  readonly mcp: ReadonlyArray<string>
  /** Links to the documentation as Markdown. */
  readonly documents: ReadonlyArray<string>
  readonly steps: ReturnType<typeof agentSteps>
  readonly endpoints: Named
}

/** /llms.txt: the content of the indexes as plain text. */
const llmsText = ({ description, documents, endpoints, links, mcp, name, steps }: LlmsFacts): string =>
  [
    `# ${name}`,
    "",
    `> ${description}`,
    "",
    "Everything is JSON over HTTP. Amounts are whole microcents: 1 cent = 10 000 microcents, 1 USD = 1 000 000.",
    "A price `up to $X` is usage-priced: send a cap, `max_cost_microcents`, or the call is answered 422 `CAP_REQUIRED`.",
    "A tool is free only if `price_microcents` and `max_cost_microcents` are both 0. `upcoming` announces other terms.",
    "Name a tool by its qualified name `handle/tool_name` or its ID. Your first successful call of a bare `tool_name` pins it:",
    "410 once that tool is withdrawn. Without a pin it is 409 with the qualified names if several tools have the name.",
    "Send your key as `Authorization: Bearer <key>`. Errors are `application/problem+json`: branch on `code`.",
    "",
    ...mcp,
    "## From registration to a verified receipt",
    "",
    ...steps.map(({ auth, body, description: text, method, url }, n) =>
      [
        `${n + 1}. ${text} \`${method} ${url}\`${auth === null ? "" : ` (${auth})`}`,
        ...(body === undefined ? [] : [`   Body: \`${JSON.stringify(body)}\``])
      ].join("\n")
    ),
    "",
    ...(documents.length === 0 ? [] : ["## Documentation", "", ...documents, ""]),
    "## Links",
    "",
    ...Object.entries(links).map(([title, url]) => `- [${title}](${url})`),
    "",
    "## Endpoints",
    "",
    ...Object.entries(endpoints).map(([endpoint, summary]) => `- \`${endpoint}\`: ${summary}`),
    ""
  ].join("\n")

// The description of the MCP endpoints for programs: in the indexes, and as `server.json` of the MCP registry's format.

const DOORS = [
  ["/mcp", "/mcp", MARKET_DOOR_TOOLS],
  ["/mcp/:provider", "/mcp/{handle}", "The tools of one provider, under their own names."]
] as const

const doorsOf = (routes: ReadonlyArray<Route>) =>
  DOORS.filter(([route]) => routes.some(({ method, path }) => method === "POST" && path === route))

const mcpDescription = (routes: ReadonlyArray<Route>, baseUrl: string) => ({
  transport: "streamable-http" as const,
  protocol_versions: MCP_VERSIONS,
  authentication: {
    type: "bearer" as const,
    header: "Authorization: Bearer <key>",
    alternative_header: "X-API-Key: <key>",
    register: `${baseUrl}/api/market/register-consumer`
  },
  servers: doorsOf(routes).map(([, path, tools]) => ({ url: `${baseUrl}${path}`, tools }))
})

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

/** https://github.com/modelcontextprotocol/registry, docs/reference/server-json */
const serverJson = (routes: ReadonlyArray<Route>, baseUrl: string) => ({
  $schema: SCHEMA,
  name: `${reversed(new URL(baseUrl).hostname)}/agent-tool-billing`,
  title: PRODUCT_NAME,
  description: PRODUCT_DESCRIPTION,
  version: API_VERSION,
  websiteUrl: baseUrl,
  remotes: doorsOf(routes).map(([, path]) => ({
    type: "streamable-http",
    url: `${baseUrl}${path}`,
    headers: [KEY_HEADER],
    ...(path.includes("{handle}") ? { variables: { handle: HANDLE } } : {})
  }))
})

const KEY_HEADER = {
  name: "Authorization",
  description: "The API key of a consumer.",
  value: "Bearer {api_key}",
  isRequired: true,
  isSecret: true,
  variables: { api_key: { description: "API key, such as atb_c_…", isRequired: true, isSecret: true } }
}

const HANDLE = { description: "Handle of the provider.", isRequired: true }

/** The registry's names begin with a domain in reverse order; an address stays as it is. */
const reversed = (hostname: string): string =>
  /^[\d.]+$|:/u.test(hostname) ? hostname.replaceAll(/[^\w.-]/gu, "") : hostname.split(".").toReversed().join(".")

/** The part of llms.txt about MCP. */
const mcpLines = (routes: ReadonlyArray<Route>, baseUrl: string): ReadonlyArray<string> => [
  "## MCP",
  "",
  ...doorsOf(routes).map(([, path, tools]) => `- \`${baseUrl}${path}\`: ${tools}`),
  "- Streamable HTTP. Send your key as `Authorization: Bearer <key>` or `X-API-Key: <key>`.",
  ""
]

// GET of the endpoints that take a POST: their descriptions.

const { registerConsumer, registerProvider } = AccountsApi.endpoints
const { describeRegisterConsumer, describeRegisterProvider, describeTools, registerTools } = CatalogApi.endpoints
const { describeMeter, meter } = MeteringApi.endpoints
const { apply, describeApply, describeFeedback, describeWaitlist, giveFeedback, joinWaitlist } =
  SubmissionsApi.endpoints

export const selfDescriptionRoutes = [
  route(describeRegisterProvider, () => describe(registerProvider)),
  route(describeRegisterConsumer, () => describe(registerConsumer)),
  route(describeTools, () => describe(registerTools)),
  route(describeMeter, () => describe(meter)),
  route(describeWaitlist, () => describe(joinWaitlist)),
  route(describeFeedback, () => describe(giveFeedback)),
  route(describeApply, () => describe(apply))
]

const { endpoints } = PlatformApi

const PROTOCOLS = {
  mcp: MCP_VERSIONS,
  http: ["1.1"],
  openapi: ["3.1"],
  problems: ["RFC 9457"],
  receipts: [RECEIPT_ALGORITHM]
}

/** `others`: every other route of the service. */
export const discoveryRoutes = Effect.fnUntraced(function* (others: ReadonlyArray<Route>) {
  const baseUrl = yield* BaseUrl
  const { mode } = yield* PaymentGateway
  const defaultFee = yield* DefaultFeeBasisPoints
  const health = yield* Health
  const limits = yield* RateLimits
  const log = yield* ReceiptLog
  const { documents } = yield* Pages

  /** Includes these routes. Call it only after all of them exist. */
  const routes = (): ReadonlyArray<Route> => [...others, ...own]
  const there = (...paths: ReadonlyArray<string>) => firstExisting(routes(), baseUrl, ...paths)

  const links = () => ({
    homepage: there("/", "/docs"),
    docs: there("/docs"),
    openapi: there("/api/openapi.json"),
    specs: there("/spec", "/docs"),
    changelog: there("/changelog", "/docs"),
    agents_json: there("/.well-known/agents.json"),
    llms_txt: there("/llms.txt")
  })

  const identity = {
    name: PRODUCT_NAME,
    version: API_VERSION,
    version_of: API_VERSION_OF,
    description: PRODUCT_DESCRIPTION,
    base_url: baseUrl
  }

  const market = route(CatalogApi.endpoints.index, () =>
    Effect.sync(() => ({
      ...identity,
      version: "0.3.0" as const,
      version_of: MARKET_VERSION_OF,
      flow: flowOf(routes()),
      endpoints: namesOf(routes()),
      auth: "Authorization: Bearer <key>; registration shows the key once",
      mcp: mcpDescription(routes(), baseUrl),
      links: links()
    }))
  )

  const platform = route(endpoints.platformIndex, () =>
    Effect.sync(() => ({
      ...identity,
      endpoints: namesOf(routes().filter((one) => !isMarket(one))),
      market: {
        version: API_VERSION,
        description: "Tools, calls and their cost.",
        base_url: `${baseUrl}/api/market`,
        endpoints: namesOf(routes().filter(isMarket)),
        trust_layer: {
          version: API_VERSION,
          version_of: API_VERSION_OF,
          endpoints: namesOf(routes().filter(isTrust)),
          verification_levels: VERIFICATION_LEVELS,
          trust_badges: TRUST_BADGES
        },
        self_service: {
          providers: there("/providers/register", "/api/market/register-provider"),
          provider_dashboard: there("/provider", "/docs"),
          developers: there("/developers/register", "/api/market/register-consumer"),
          developer_dashboard: there("/developer", "/docs")
        }
      },
      links: links()
    }))
  )

  const services = route(endpoints.services, () =>
    Effect.sync(() => {
      const shown = servicesOf(routes(), baseUrl)
      const active = shown.filter(({ status }) => status === "active").length
      return { services: shown, total_active: active, total_planned: shown.length - active }
    })
  )

  const status = route(endpoints.platformStatus, function* () {
    const report = yield* health.check([limits.probe])
    const shown = servicesOf(routes(), baseUrl)
    return {
      status: report.status,
      version: API_VERSION,
      version_of: API_VERSION_OF,
      name: PRODUCT_NAME,
      uptime: report.uptimeSeconds,
      timestamp: format(report.at),
      services: Object.fromEntries(shown.map((one) => [one.id, one.status])),
      capabilities: shown.filter((one) => one.status === "active").map(({ name }) => name),
      protocols: PROTOCOLS,
      endpoints: namesOf(routes())
    }
  })

  const agents = route(endpoints.agents, () =>
    Effect.map(log.logs, (logs) => ({
      ...identity,
      authentication: {
        type: "bearer" as const,
        header: "Authorization: Bearer <key>",
        register_consumer: `${baseUrl}/api/market/register-consumer`,
        register_provider: `${baseUrl}/api/market/register-provider`
      },
      mcp: mcpDescription(routes(), baseUrl),
      money: {
        currency: "USD" as const,
        unit: "microcent" as const,
        microcents_per_cent: 10_000 as const,
        platform_fee_bps: defaultFee,
        payments: mode
      },
      receipts: {
        algorithm: RECEIPT_ALGORITHM,
        signed_fields: SIGNED_FIELDS,
        separator: "|" as const,
        verify: `${baseUrl}/api/v1/verify`,
        schema: { title: RECEIPT_SCHEMA_TITLE, url: there(RECEIPT_SCHEMA_PATH, "/api/openapi.json") }
      },
      transparency_log: {
        checkpoint: `${baseUrl}/api/v1/market/log/checkpoint`,
        jwks: `${baseUrl}/.well-known/jwks.json`,
        vkeys: logs.toReversed().map(({ key }) => key)
      },
      how_to_read_steps: HOW_TO_READ_STEPS,
      steps: agentSteps(routes(), baseUrl, mode),
      services: servicesOf(routes(), baseUrl),
      endpoints: namesOf(routes()),
      links: links()
    }))
  )

  const llms = documentRoute(
    "/llms.txt",
    publicRead,
    Effect.sync(() => ({
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: llmsText({
        ...identity,
        links: links(),
        mcp: mcpLines(routes(), baseUrl),
        documents: documents.map(({ path, summary, title }) => `- [${title}](${baseUrl}${path}): ${summary}`),
        steps: agentSteps(routes(), baseUrl, mode),
        endpoints: namesOf(routes())
      })
    })),
    "Guide for agents as text"
  )

  const registryEntry = documentRoute(
    "/server.json",
    publicRead,
    Effect.sync(() => ({
      status: 200,
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify(serverJson(routes(), baseUrl))
    })),
    "Entry of the MCP registry"
  )

  const own = [market, platform, services, status, agents, llms, registryEntry]
  return own
})
