/**
 * The platform's index, services and status on the wire.
 */
import { Schema } from "effect"
import * as Field from "../contract/Field.ts"
import { BASE_URL, PRODUCT_DESCRIPTION, PRODUCT_NAME } from "../contract/SampleValues.ts"
import { answeredAt, versionOf } from "../contract/SharedFields.ts"
import { trustBadges, verificationLevels } from "../trust/TrustApi.ts"

export const Texts = Schema.Record(Schema.String, Schema.String)

export const identity = {
  name: Field.string("Name of the service.", PRODUCT_NAME),
  version: Field.always("0.4.0"),
  version_of: versionOf
}
export const description = Field.string("Description of the service.", PRODUCT_DESCRIPTION)
export const baseUrl = Field.string("Base URL of every path.", BASE_URL)
export const endpoints = Field.of(Texts, "Endpoints, each with its summary.", {
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

export const PlatformIndex = Field.object("PlatformIndex", "Endpoints and links of the platform.", {
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

export const ServiceLine = Field.object("ServiceLine", "A service and its main endpoint.", {
  id: Field.string("ID of the service.", "catalog"),
  name: Field.string("Name of the service.", "Catalog"),
  description: Field.string("Description of the service.", "Tools with their prices, free tiers and statistics."),
  status: Field.of(serviceStatus, "Whether the service is available."),
  method: whileActive("HTTP method of the main endpoint.", "GET"),
  endpoint: whileActive("URL of the main endpoint.", `${BASE_URL}/api/market/catalog`),
  docs: whileActive("URL of the documentation.", `${BASE_URL}/docs`),
  auth: whileActive("Role whose key is required, or `none`.", "none")
})

export const services = Field.list(ServiceLine, "Services of the platform.")

export const Services = Field.object("Services", "Services of the platform.", {
  services,
  total_active: Field.int("Number of active services.", 13),
  total_planned: Field.int("Number of planned services.", 4)
})

export const Condition = Schema.Literals(["ok", "degraded", "down"])

export const PlatformStatus = Field.object("PlatformStatus", "Status and services of the platform.", {
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
    {
      mcp: ["2026-07-28", "2025-11-25"]
    }
  ),
  endpoints
})
