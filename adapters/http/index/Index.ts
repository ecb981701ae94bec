/**
 * Entry points for new clients: the indexes, the list of services, agents.json and llms.txt, all generated from the routes.
 */
import { Effect } from "effect"
import { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { Health } from "../../../domain/platform/Health.ts"
import { RECEIPT_ALGORITHM, SIGNED_FIELDS } from "../../../domain/receipts/Receipt.ts"
import { format } from "../../../domain/shared/Time.ts"
import { LEGACY_VERSIONS, MODERN_VERSION } from "../../../domain/upstream/Protocol.ts"
import { AccountsApi } from "../accounts/AccountsApi.ts"
import { CatalogApi, MARKET_DOOR_TOOLS } from "../catalog/CatalogApi.ts"
import { publicRead } from "../contract/Access.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { PRODUCT_DESCRIPTION, PRODUCT_NAME } from "../contract/SampleValues.ts"
import { describe } from "../contract/SelfDescription.ts"
import { RECEIPT_SCHEMA_PATH, RECEIPT_SCHEMA_TITLE } from "../contract/SharedFields.ts"
import { API_VERSION, API_VERSION_OF, MARKET_VERSION_OF } from "../contract/Versions.ts"
import { MeteringApi } from "../metering/MeteringApi.ts"
import { documentRoute, Pages, type Route, route } from "../pipeline/Route.ts"
import { RateLimits } from "../pipeline/Stages.ts"
import { PlatformApi } from "../platform/PlatformApi.ts"
import { SubmissionsApi } from "../platform/SubmissionsApi.ts"
import { TRUST_BADGES, VERIFICATION_LEVELS } from "../trust/Trust.ts"
import {
  agentSteps,
  firstExisting,
  flowOf,
  HOW_TO_READ_STEPS,
  isMarket,
  isTrust,
  llmsText,
  namesOf,
  servicesOf
} from "./AgentSteps.ts"

// What programs read of the MCP endpoints: in the indexes, and as `server.json` in the format of the MCP registry.

export const MCP_VERSIONS = [MODERN_VERSION, ...LEGACY_VERSIONS]

/** Of these, only those that the service has. */
const DOORS = [
  ["/mcp", "/mcp", MARKET_DOOR_TOOLS],
  ["/mcp/:provider", "/mcp/{handle}", "The tools of one provider, under their own names."]
] as const

const doorsOf = (routes: ReadonlyArray<Route>) =>
  DOORS.filter(([route]) => routes.some(({ method, path }) => method === "POST" && path === route))

export const mcpDescription = (routes: ReadonlyArray<Route>, baseUrl: string) => ({
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
export const serverJson = (routes: ReadonlyArray<Route>, baseUrl: string) => ({
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
export const mcpLines = (routes: ReadonlyArray<Route>, baseUrl: string): ReadonlyArray<string> => [
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
export const indexRoutes = Effect.fnUntraced(function* (others: ReadonlyArray<Route>) {
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

  const own: ReadonlyArray<Route> = [market, platform, services, status, agents, llms, registryEntry]
  return own
})
