/**
 * Registration, and the API keys of an account.
 */
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { accountRegistration, readBy, writeBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import {
  CreateKey,
  DefaultCap,
  KeyList,
  NewKey,
  RevokedKey,
  RotatedKey,
  RotateKey,
  SetDefaultCap,
  WhoAmI
} from "./KeyBodies.ts"
import { RegisterConsumer, RegisteredConsumer, RegisteredProvider, RegisterProvider } from "./RegistrationBodies.ts"
import { keyId } from "./SharedFields.ts"

const owner = ["consumer", "provider"] as const

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    Endpoint.get("whoAmI", "/api/v1/market/whoami", {
      access: readBy(...owner),
      summary: "Retrieve your account",
      description: "Returns the account of the API key.",
      success: WhoAmI
    }),
    Endpoint.post("registerProvider", "/api/market/register-provider", {
      access: accountRegistration,
      summary: "Register a provider",
      description: "Registers an MCP server and its prices. The API key in the response is shown only once.",
      payload: RegisterProvider,
      success: RegisteredProvider.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.post("registerConsumer", "/api/market/register-consumer", {
      access: accountRegistration,
      summary: "Register a consumer",
      description: "Registers an agent developer. The API key in the response is shown only once.",
      payload: RegisterConsumer,
      success: RegisteredConsumer.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.get("listKeys", "/api/v1/market/keys", {
      access: readBy(...owner),
      summary: "List your API keys",
      description: "Returns the active keys and the newest 100 revoked or expired ones, without secrets.",
      success: KeyList
    }),
    Endpoint.post("createKey", "/api/v1/market/keys", {
      access: writeBy(...owner),
      summary: "Create an API key",
      description: "Creates an additional key. The API key in the response is shown only once.",
      payload: CreateKey,
      success: NewKey.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.delete("revokeKeyByQuery", "/api/v1/market/keys", {
      access: writeBy(...owner),
      summary: "Revoke an API key by query parameter",
      description: "Same as `DELETE /api/v1/market/keys/{key_id}`, for clients that send IDs in the query.",
      query: { key_id: keyId },
      success: RevokedKey,
      problems: [404]
    }),
    Endpoint.delete("revokeKey", "/api/v1/market/keys/:key_id", {
      access: writeBy(...owner),
      summary: "Revoke an API key",
      description:
        "The key is rejected on every node within a second. Your only active key cannot be revoked: rotate it instead.",
      params: { key_id: keyId },
      success: RevokedKey
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
  .annotateMerge(
    OpenApi.annotations({ title: "Accounts", description: "Registration of providers and consumers, and API keys." })
  ) {}
