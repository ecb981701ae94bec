/**
 * Registration, and the API keys of an account.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Handle } from "../../../domain/accounts/Handle.ts"
import { KEY_LABEL_CHARS_MAX, ROTATION_GRACE_SECONDS_MAX } from "../../../domain/accounts/Keys.ts"
import { TOOLS_PER_REQUEST_MAX } from "../../../domain/catalog/Catalog.ts"
import { KeyId } from "../../../domain/shared/Ids.ts"
import { Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { EndpointUrl } from "../../../domain/shared/PlainText.ts"
import { EndpointReport, ImportReport } from "../catalog/ImportApi.ts"
import { PricingModel, ToolBody } from "../catalog/ToolBody.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { accountRegistration, anyKey, manageBy, readBy, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Email, Instant, IntBetween, Line, Name, Text, WholeCents } from "../contract/InputSchemas.ts"
import { CONSUMER_ID, CONSUMER_KEY, KEY_ID, NOW, PROVIDER_KEY } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { verificationLevel } from "../trust/TrustApi.ts"
import { capOf, Key, keyCap, role } from "./KeyFields.ts"
import { newBounds } from "./LevelsApi.ts"

// Registration of providers and consumers on the wire.

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

const ChangeProfile = Field.object("ChangeProviderProfile", "What to change; fields that are not sent stay.", {
  name: Schema.optionalKey(RegisterProvider.fields.name),
  description: RegisterProvider.fields.description,
  endpoint_url: Schema.optionalKey(RegisterProvider.fields.endpoint_url),
  unlisted: Field.optional(
    Schema.Boolean,
    "`true`: change `endpoint_url` even if the new server does not list all of your tools. Default: `false`."
  )
}).annotate({ examples: [{ description: "Tools that search public papers" }] })

const ChangeEmail = Field.object("ChangeProviderEmail", "The new address, or the code that was mailed to it.", {
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

const ProviderProfile = Field.object("ProviderProfile", "Your account as you see it.", {
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

const RegisterConsumer = Field.object("RegisterConsumer", "A consumer: an agent or a team that runs agents.", {
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

const RegisteredProvider = Field.object("RegisteredProvider", "The new provider. `api_key` is shown only once.", {
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
})

const RegisteredConsumer = Field.object("RegisteredConsumer", "The new consumer. `api_key` is shown only once.", {
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
})

const oldKey: typeof Key.Encoded = {
  key_id: KEY_ID,
  api_key_prefix: "atb_c_01234567",
  label: "",
  role: "consumer",
  status: "active",
  current: true,
  default_cap_microcents: null,
  level_id: null,
  created_at: NOW,
  expires_at: null,
  revoked_at: "2026-11-20T10:30:00.000Z"
}

const secret = {
  key: Field.of(Key, "The new key."),
  api_key: Field.string("API key. Store it now: only its hash is kept.", CONSUMER_KEY)
}

const KeyList = Field.object("Keys", "API keys of your account, including revoked ones.", {
  keys: Field.list(Key, "API keys."),
  total: Field.int("Number of keys in the list.", 1)
})

const NewKey = Field.object("NewKey", "The new key. `api_key` is shown only once.", {
  ...secret,
  message: shared.message("Store api_key now: it is not shown again.")
})

const RotatedKey = Field.object("RotatedKey", "The new key and the key that it replaces.", {
  ...secret,
  replaces: Field.of(Key, "The replaced key. `revoked_at` is the end of its grace period.", oldKey),
  message: shared.message("Store api_key now: it is not shown again. The old key is valid for another 3600 seconds.")
})

const RevokedKey = Field.object("RevokedKey", "The key is revoked.", {
  revoked: Field.always(true),
  key: Field.of(Key, "The revoked key.", { ...oldKey, current: false, status: "revoked", revoked_at: NOW })
})

const CreateKey = Field.object("CreateKey", "Options of the new key.", {
  label: Field.optional(Line(KEY_LABEL_CHARS_MAX), "Label of the key."),
  expires_at: Field.optional(Instant, "Time of expiry in ISO 8601. Default: never."),
  default_cap_microcents: Field.optional(MicrocentsFromInt, capOf("key").replace(" `null`: none.", "")),
  parent_key_id: Field.optional(
    KeyId,
    "ID of the key above the new one, whose bounds and limits apply too. Default: your own, if it has bounds."
  ),
  ...newBounds
}).annotate({ examples: [{ label: "staging" }] })

const RotateKey = Field.object("RotateKey", "Options of the rotation.", {
  key_id: Field.optional(KeyId, "ID of the key to replace. Default: the key that authenticates the request."),
  grace_seconds: Field.optional(
    IntBetween(0, ROTATION_GRACE_SECONDS_MAX),
    "Seconds for which the old key stays valid. Default: 86400 (one day)."
  )
}).annotate({ examples: [{ grace_seconds: 3_600 }] })

const SetDefaultCap = Field.object("SetDefaultCap", "A default cap.", {
  default_cap_microcents: keyCap,
  key_id: Field.optional(KeyId, "ID of the key that the cap applies to. Default: the account.")
}).annotate({ examples: [{ default_cap_microcents: Microcents.make(50_000n) }] })

const DefaultCap = Field.object("DefaultCap", "The default cap in effect.", {
  of: Field.of(Schema.Literals(["account", "key"]), "Whether the cap applies to the account or to one key."),
  key_id: Field.nullable(KeyId, "ID of the key. `null`: the cap applies to the account."),
  default_cap_microcents: keyCap,
  message: shared.message("Usage-priced calls of this account that name no cap cost at most $0.05.")
})

const WhoAmI = Field.object("WhoAmI", "The account of the API key, and the limits of the key.", {
  role,
  id: Field.string("ID of the account.", CONSUMER_ID),
  handle: Field.nullableString("Handle of the provider. `null` for a consumer."),
  name: Field.string("Name of the account.", "Research agent"),
  key_id: shared.keyId,
  rate_limit_rpm: shared.rateLimitRpm,
  default_cap_microcents: keyCap,
  account_default_cap_microcents: Field.nullable(MicrocentsFromInt, capOf("account")),
  key_expires_at: Field.nullableTimestamp("Time when the key expires. `null`: never."),
  frozen: shared.frozen,
  frozen_reason: shared.frozenReason,
  frozen_at: shared.frozenAt
})

const owner = ["consumer", "provider"] as const

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    Endpoint.get("whoAmI", "/api/v1/market/whoami", {
      access: anyKey(...owner),
      summary: "Retrieve your account",
      description: "Returns the account of the API key.",
      success: WhoAmI
    }),
    Endpoint.post("registerProvider", "/api/market/register-provider", {
      access: accountRegistration,
      summary: "Register a provider",
      description: "Registers an MCP server and its prices. The API key in the response is shown only once.",
      payload: RegisterProvider,
      success: RegisteredProvider.pipe(HttpApiSchema.status(201)),
      problems: ["DUPLICATE", "BLOCKED_ENDPOINT"]
    }),
    Endpoint.post("registerConsumer", "/api/market/register-consumer", {
      access: accountRegistration,
      summary: "Register a consumer",
      description: "Registers an agent developer. The API key in the response is shown only once.",
      payload: RegisterConsumer,
      success: RegisteredConsumer.pipe(HttpApiSchema.status(201)),
      problems: ["DUPLICATE"]
    }),
    Endpoint.get("providerProfile", "/api/v1/market/providers/profile", {
      access: readBy("provider"),
      summary: "Retrieve your profile",
      description: "Returns your account as you registered and changed it.",
      success: ProviderProfile,
      problems: [404]
    }),
    Endpoint.post("changeProviderProfile", "/api/v1/market/providers/profile", {
      access: writeBy("provider"),
      summary: "Change your profile",
      description:
        "Changes your name, description or endpoint, by the rules of registration. A new endpoint is asked what it is, and must " +
        "list your tools. It is called on every node within a second; calls in flight end at the former one, and sessions of " +
        "MCP clients there begin again. The verification of a domain ends if the new endpoint is not in it. The handle stays.",
      payload: ChangeProfile,
      success: ProviderProfile,
      problems: [404, 429, "BLOCKED_ENDPOINT"]
    }),
    Endpoint.post("changeProviderEmail", "/api/v1/market/providers/email", {
      access: readBy("provider"),
      summary: "Change your email address",
      description:
        "The first request mails a code to the new address. The second one sends the code as `token`: the address counts from " +
        "then on, and is verified. The former address is told.",
      payload: ChangeEmail,
      success: ProviderProfile,
      problems: [404, 429, 502, "NOT_CONFIGURED"]
    }),
    Endpoint.get("listKeys", "/api/v1/market/keys", {
      access: readBy(...owner),
      summary: "List your API keys",
      description: "Returns the active keys and the newest 100 revoked or expired ones, without secrets.",
      success: KeyList
    }),
    Endpoint.post("createKey", "/api/v1/market/keys", {
      access: manageBy(...owner),
      summary: "Create an API key",
      description:
        "Creates an additional key. The API key in the response is shown only once. A key that is given bounds or limits has the " +
        "scope `call` unless you name others. With a key that has bounds, the new key is below it: its bounds and " +
        "limits apply to both.",
      payload: CreateKey,
      success: NewKey.pipe(HttpApiSchema.status(201)),
      problems: [404]
    }),
    Endpoint.delete("revokeKeyByQuery", "/api/v1/market/keys", {
      access: manageBy(...owner),
      summary: "Revoke an API key by query parameter",
      description: "Same as `DELETE /api/v1/market/keys/{key_id}`, for clients that send IDs in the query.",
      query: { key_id: shared.keyId },
      success: RevokedKey,
      problems: [404, "DUPLICATE"]
    }),
    Endpoint.delete("revokeKey", "/api/v1/market/keys/:key_id", {
      access: manageBy(...owner),
      summary: "Revoke an API key",
      description:
        "The key, and every key and run below it, is rejected on every node within a second. Your only active key without bounds " +
        "cannot be revoked: rotate it instead.",
      params: { key_id: shared.keyId },
      success: RevokedKey,
      problems: ["DUPLICATE"]
    }),
    Endpoint.post("rotateKey", "/api/v1/market/keys/rotate", {
      access: writeBy(...owner),
      summary: "Rotate an API key",
      description:
        "Creates a key that replaces another one. The old key stays valid for the grace period, one day by default.",
      payload: RotateKey,
      success: RotatedKey.pipe(HttpApiSchema.status(201)),
      problems: [404]
    }),
    Endpoint.post("setDefaultCap", "/api/v1/market/default-cap", {
      access: writeBy("consumer"),
      summary: "Set a default cap",
      description:
        "Limits the cost of a usage-priced call that names no cap. The cap of a key takes precedence over the cap of the " +
        "account. `null` removes it. Calls with a fixed price are not affected.",
      payload: SetDefaultCap,
      success: DefaultCap,
      problems: [404]
    })
  )
  .annotateMerge(Endpoint.about("Accounts", "Registration of providers and consumers, their profile and API keys.")) {}
