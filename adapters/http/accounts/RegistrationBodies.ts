/**
 * Registration of providers and consumers on the wire.
 */
import { Schema } from "effect"
import { Handle } from "../../../domain/accounts/Handle.ts"
import { TOOLS_PER_REQUEST_MAX } from "../../../domain/catalog/Catalog.ts"
import { Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { EndpointUrl } from "../../../domain/shared/PlainText.ts"
import { EndpointReport, ImportReport } from "../catalog/ImportBodies.ts"
import { PricingModel } from "../catalog/PriceFields.ts"
import { ToolBody } from "../catalog/ToolBody.ts"
import * as Field from "../contract/Field.ts"
import { Email, IntBetween, Name, Text, WholeCents } from "../contract/InputSchemas.ts"
import { CONSUMER_KEY, PROVIDER_KEY } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { verificationLevel } from "../trust/TrustBodies.ts"

const email = Field.of(Email, "Contact email address; trimmed and lowercased.", "ada@example.org")

export const RegisterProvider = Field.object("RegisterProvider", "An MCP server and its tools.", {
  name: Field.of(Name(200), "Name of the provider, shown in the catalog."),
  handle: Field.optional(
    Handle,
    "Handle, the first part of your qualified tool names: 3 to 32 lowercase letters, digits and single hyphens. Default: " +
      "derived from `name`. Only the operator can change it later."
  ),
  email,
  endpoint_url: Field.of(EndpointUrl, "URL of your MCP server: http or https, without credentials.").pipe(
    Schema.annotateKey({ format: "uri" })
  ),
  description: Field.optional(Text(4_000), "Description of your tools."),
  pricing_model: Field.optional(PricingModel, "Pricing model, shown in the catalog."),
  default_price_cents: Field.optional(
    WholeCents,
    "Default price of a call in cents, for tools without a price. Mutually exclusive with `default_price_microcents`."
  ),
  default_price_microcents: Field.optionalMicrocents("Default price of a call"),
  tools: Field.optional(
    Schema.Array(ToolBody).check(Schema.isMaxLength(TOOLS_PER_REQUEST_MAX)),
    "Tools to register. Add more with `POST /api/market/tools`."
  ),
  import: Field.optional(
    Schema.Boolean,
    "`true`: import the tools that your MCP server lists, at your default price. Default: `false`."
  ),
  listed: Field.optional(
    Schema.Boolean,
    "With `import`: `true` lists the imported tools. Default: `false`, they are drafts."
  )
})
  .check(
    Schema.makeFilter((body) =>
      body.default_price_cents !== undefined && body.default_price_microcents !== undefined
        ? "Send one default price: `default_price_cents` or `default_price_microcents`."
        : undefined
    )
  )
  .annotate({
    identifier: "RegisterProvider",
    examples: [
      {
        name: "Ada Tools",
        handle: "ada-tools",
        email: "ada@example.org",
        endpoint_url: "https://tools.example.org/mcp",
        default_price_microcents: Microcents.make(500n),
        tools: [{ tool_name: "search", description: "Full-text search over public papers", category: "search" }]
      }
    ]
  })

export const ChangeProfile = Field.object("ChangeProviderProfile", "What to change; fields that are not sent stay.", {
  name: Schema.optionalKey(RegisterProvider.fields.name),
  description: RegisterProvider.fields.description,
  endpoint_url: Schema.optionalKey(RegisterProvider.fields.endpoint_url),
  unlisted: Field.optional(
    Schema.Boolean,
    "`true`: change `endpoint_url` even if the new server does not list all of your tools. Default: `false`."
  )
}).annotate({ examples: [{ description: "Tools that search public papers" }] })

export const ChangeEmail = Field.object("ChangeProviderEmail", "The new address, or the code that was mailed to it.", {
  email: Field.optional(Email, "New contact address. Your current one withdraws an open request."),
  token: Field.optional(Text(200), "The code from the mail.")
})
  .check(
    Schema.makeFilter(({ email, token }) =>
      [email, token].filter((given) => given !== undefined).length !== 1
        ? "Send `email` to request a change, then `token` alone to confirm it."
        : undefined
    )
  )
  .annotate({ identifier: "ChangeProviderEmail", examples: [{ email: "ada@example.org" }] })

export const ProviderProfile = Field.object("ProviderProfile", "Your account as you see it.", {
  provider_id: shared.providerId,
  handle: shared.handle,
  name: shared.providerName,
  description: Field.string("Description of your tools.", "Tools that search public papers"),
  endpoint_url: Field.string("URL of your MCP server.", "https://tools.example.org/mcp"),
  email: Field.string("Contact email address.", "ada@example.org"),
  pending_email: Field.nullableString("Requested address that is not confirmed yet. `null`: none."),
  pending_email_expires_at: Field.nullableTimestamp(
    "Time when the code that was mailed expires. `null`: none is open."
  ),
  verification_level: verificationLevel,
  endpoint: Field.nullable(EndpointReport, "What was found at the new endpoint. `null`: it was not changed."),
  message: shared.message("Your profile was changed.")
})

export const RegisterConsumer = Field.object("RegisterConsumer", "A consumer: an agent or a team that runs agents.", {
  name: Field.of(Name(200), "Name of the account."),
  email,
  use_case: Field.optional(Text(4_000), "Purpose of the agent."),
  rate_limit_rpm: Field.optional(
    IntBetween(1, 1_000_000),
    "Requested rate limit in requests per minute, up to the maximum of the service."
  ),
  default_cap_microcents: Field.optional(
    MicrocentsFromInt,
    "Default cap of the account: maximum cost in microcents of a usage-priced call that names no cap. Default: none; then " +
      "such a call is rejected."
  )
}).annotate({ examples: [{ name: "Research agent", email: "dev@example.org", use_case: "literature research" }] })

const registered = Field.always(true)
const message = shared.message("Store api_key now: it is not shown again.")

export const RegisteredProvider = Field.object(
  "RegisteredProvider",
  "The new provider. `api_key` is shown only once.",
  {
    registered,
    provider_id: shared.providerId,
    handle: shared.handle,
    name: shared.providerName,
    api_key: Field.string("API key. Store it now: only its hash is kept.", PROVIDER_KEY),
    api_key_prefix: Field.string("Prefix of the API key: its role and first digits.", "atb_p_01234567"),
    tools_registered: Field.int("Number of registered tools.", 1),
    tools: Field.list(
      Schema.Struct({ id: shared.toolId, tool_name: shared.toolName, qualified_name: shared.qualifiedName }),
      "Registered tools."
    ),
    endpoint: Field.of(EndpointReport, "What was found at your endpoint."),
    import: Field.nullable(ImportReport, "What was imported. `null`: no import, or the server could not be read."),
    message,
    next_steps: shared.nextSteps
  }
)

export const RegisteredConsumer = Field.object(
  "RegisteredConsumer",
  "The new consumer. `api_key` is shown only once.",
  {
    registered,
    consumer_id: shared.consumerId,
    agent_id: shared.sameAgentId,
    name: Field.string("Name of the account.", "Research agent"),
    api_key: Field.string("API key. Store it now: only its hash is kept.", CONSUMER_KEY),
    api_key_prefix: Field.string("Prefix of the API key: its role and first digits.", "atb_c_01234567"),
    balance: Field.dollars("Balance", "$0.00"),
    balance_microcents: Field.microcents("Balance", 0),
    rate_limit_rpm: shared.rateLimitRpm,
    message,
    next_steps: shared.nextSteps
  }
)
