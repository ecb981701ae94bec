/**
 * `agents.json` on the wire: how an agent registers, pays, calls a tool and verifies the receipt.
 */
import { Schema } from "effect"
import { SIGNED_FIELDS } from "../../../domain/receipts/Receipt.ts"
import * as Field from "../contract/Field.ts"
import { mcpDoors } from "../catalog/McpDoors.ts"
import { feeBps } from "../contract/PlatformFeeBodies.ts"
import { baseUrl, description, endpoints, identity, services, Texts } from "./PlatformIndex.ts"
import { BASE_URL } from "../contract/SampleValues.ts"
import { RECEIPT_SCHEMA_PATH, RECEIPT_SCHEMA_TITLE } from "../contract/SharedFields.ts"

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

export const AgentsDocument = Field.object(
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
