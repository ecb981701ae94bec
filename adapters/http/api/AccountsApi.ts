/**
 * Joining, and the keys of an account.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Handle } from "../../../domain/accounts/Handle.ts"
import { KEY_LABEL_CHARS_MAX, ROTATION_GRACE_SECONDS_MAX } from "../../../domain/accounts/Keys.ts"
import { TOOLS_PER_REQUEST_MAX } from "../../../domain/catalog/Catalog.ts"
import { EndpointUrl } from "../../../domain/shared/EndpointUrl.ts"
import { ConsumerId, KeyId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, accountRegistration, KeyAuth, readBy, writeBy } from "./Access.ts"
import { Display, Email, Instant, Name, Text, WholeCents } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { problems } from "./Problem.ts"
import { ToolBody } from "./ToolBody.ts"

export const RegisterProvider = Schema.Struct({
  name: Name(200),
  handle: Schema.optionalKey(Handle),
  email: Email,
  endpoint_url: EndpointUrl.annotateKey({ format: "uri" }),
  description: Schema.optionalKey(Text(4_000)),
  pricing_model: Schema.optionalKey(Schema.Literals(["per_call", "per_token", "free"])),
  default_price_cents: Schema.optionalKey(WholeCents),
  default_price_microcents: Schema.optionalKey(MicrocentsFromInt),
  tools: Schema.optionalKey(Schema.Array(ToolBody).check(Schema.isMaxLength(TOOLS_PER_REQUEST_MAX)))
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

export const RegisterConsumer = Schema.Struct({
  name: Name(200),
  email: Email,
  use_case: Schema.optionalKey(Text(4_000)),
  rate_limit_rpm: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(1), Schema.isLessThanOrEqualTo(1_000_000))
  )
}).annotate({
  identifier: "RegisterConsumer",
  examples: [{ name: "Research agent", email: "dev@example.org", use_case: "literature research" }]
})

const RegisteredProvider = Schema.Struct({
  registered: Schema.Literal(true),
  provider_id: ProviderId,
  handle: Schema.String,
  name: Schema.String,
  api_key: Schema.String,
  api_key_prefix: Schema.String,
  tools_registered: Schema.Int,
  tools: Schema.Array(Schema.Struct({ id: ToolId, tool_name: Schema.String, qualified_name: Schema.String })),
  message: Schema.String,
  next_steps: Schema.Array(Schema.String)
}).annotate({ identifier: "RegisteredProvider" })

const RegisteredConsumer = Schema.Struct({
  registered: Schema.Literal(true),
  consumer_id: ConsumerId,
  agent_id: ConsumerId,
  name: Schema.String,
  api_key: Schema.String,
  api_key_prefix: Schema.String,
  balance: Display,
  balance_microcents: MicrocentsFromInt,
  rate_limit_rpm: Schema.Int,
  message: Schema.String,
  next_steps: Schema.Array(Schema.String)
}).annotate({ identifier: "RegisteredConsumer" })

const Key = Schema.Struct({
  key_id: KeyId,
  api_key_prefix: Schema.String,
  label: Schema.String,
  role: Schema.Literals(["consumer", "provider"]),
  status: Schema.Literals(["active", "revoked", "expired"]),
  current: Schema.Boolean,
  default_cap_microcents: Schema.NullOr(MicrocentsFromInt),
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Key" })

const NewKey = Schema.Struct({ key: Key, api_key: Schema.String, message: Schema.String }).annotate({
  identifier: "NewKey"
})

const RotatedKey = Schema.Struct({
  key: Key,
  api_key: Schema.String,
  replaces: Key,
  message: Schema.String
}).annotate({ identifier: "RotatedKey" })

const RevokedKey = Schema.Struct({ revoked: Schema.Literal(true), key: Key }).annotate({ identifier: "RevokedKey" })

export const CreateKey = Schema.Struct({
  label: Schema.optionalKey(Text(KEY_LABEL_CHARS_MAX)),
  expires_at: Schema.optionalKey(Instant),
  default_cap_microcents: Schema.optionalKey(MicrocentsFromInt)
}).annotate({ identifier: "CreateKey", examples: [{ label: "staging" }] })

export const RotateKey = Schema.Struct({
  key_id: Schema.optionalKey(KeyId).annotate({ description: "The key that you sent, if absent." }),
  grace_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThanOrEqualTo(ROTATION_GRACE_SECONDS_MAX))
  )
}).annotate({ identifier: "RotateKey", examples: [{ grace_seconds: 3_600 }] })

export const SetDefaultCap = Schema.Struct({
  default_cap_microcents: Schema.NullOr(MicrocentsFromInt),
  key_id: Schema.optionalKey(KeyId)
}).annotate({ identifier: "SetDefaultCap", examples: [{ default_cap_microcents: Microcents.make(50_000n) }] })

const DefaultCap = Schema.Struct({
  of: Schema.Literals(["account", "key"]),
  key_id: Schema.NullOr(KeyId),
  default_cap_microcents: Schema.NullOr(MicrocentsFromInt),
  message: Schema.String
}).annotate({ identifier: "DefaultCap" })

const owner = ["consumer", "provider"] as const

const WhoAmI = Schema.Struct({
  role: Schema.Literals(["consumer", "provider"]),
  id: Schema.String,
  handle: Schema.NullOr(Schema.String),
  name: Schema.String,
  key_id: KeyId,
  rate_limit_rpm: Schema.Int,
  default_cap_microcents: Schema.NullOr(MicrocentsFromInt),
  account_default_cap_microcents: Schema.NullOr(MicrocentsFromInt),
  key_expires_at: Schema.NullOr(Timestamp),
  frozen: Schema.Boolean,
  frozen_reason: Schema.NullOr(Schema.String)
}).annotate({ identifier: "WhoAmI" })

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.get("whoAmI", "/api/v1/market/whoami", {
      success: WhoAmI,
      error: problems(401, 403)
    })
      .annotate(Access, readBy(...owner))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({ summary: "Whose key is this", description: "The account behind the key that you send." })
      ),
    HttpApiEndpoint.post("registerProvider", "/api/market/register-provider", {
      headers: idempotencyHeader,
      payload: RegisterProvider,
      success: RegisteredProvider.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 409, 413, 415, 422)
    })
      .annotate(Access, accountRegistration)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Register a provider",
          description: "Registers an MCP server with its prices. The key in the answer is shown once."
        })
      ),
    HttpApiEndpoint.post("registerConsumer", "/api/market/register-consumer", {
      headers: idempotencyHeader,
      payload: RegisterConsumer,
      success: RegisteredConsumer.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 409, 413, 415, 422)
    })
      .annotate(Access, accountRegistration)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Register a consumer",
          description: "Registers an agent developer. The key in the answer is shown once."
        })
      ),
    HttpApiEndpoint.get("listKeys", "/api/v1/market/keys", {
      success: Schema.Struct({ keys: Schema.Array(Key), total: Schema.Int }).annotate({ identifier: "Keys" }),
      error: problems(401, 403)
    })
      .annotate(Access, readBy(...owner))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List your keys",
          description:
            "The live ones, and the newest hundred of those that are revoked or expired; without their secrets."
        })
      ),
    HttpApiEndpoint.post("createKey", "/api/v1/market/keys", {
      headers: idempotencyHeader,
      payload: CreateKey,
      success: NewKey.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy(...owner))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create another key",
          description: "For another machine or another job. The key in the answer is shown once."
        })
      ),
    HttpApiEndpoint.delete("revokeKeyByQuery", "/api/v1/market/keys", {
      headers: idempotencyHeader,
      query: { key_id: KeyId },
      success: RevokedKey,
      error: problems(400, 401, 403, 404, 409)
    })
      .annotate(Access, writeBy(...owner))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Revoke a key, named in the query",
          description: "The same as `DELETE /api/v1/market/keys/{key_id}`, for clients that put ids into the query."
        })
      ),
    HttpApiEndpoint.delete("revokeKey", "/api/v1/market/keys/:key_id", {
      headers: idempotencyHeader,
      params: { key_id: KeyId },
      success: RevokedKey,
      error: problems(400, 401, 403, 404, 409)
    })
      .annotate(Access, writeBy(...owner))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Revoke a key",
          description: "It ends within a second, everywhere. Your only live key cannot be revoked: rotate it instead."
        })
      ),
    HttpApiEndpoint.post("rotateKey", "/api/v1/market/keys/rotate", {
      headers: idempotencyHeader,
      payload: RotateKey,
      success: RotatedKey.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy(...owner))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replace a key",
          description: "The old key works on for the grace time, a day if none is given."
        })
      ),
    HttpApiEndpoint.post("setDefaultCap", "/api/v1/market/default-cap", {
      headers: idempotencyHeader,
      payload: SetDefaultCap,
      success: DefaultCap,
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Set your default cap",
          description:
            "The most that you pay for one usage-priced call that names no cap itself: of the account, or of the key that you " +
            "name, which goes before the account's. `null` takes it away. It says nothing about tools with a fixed price."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Accounts",
      description: "Registration of providers and consumers, and their keys."
    })
  ) {}
