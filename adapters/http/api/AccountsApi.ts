/**
 * Registration, and the API keys of an account.
 */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { about, accountRegistration, KeyAuth, readBy, writeBy } from "./Access.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
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
} from "./Keys.ts"
import { problems } from "./ProblemSchemas.ts"
import { RegisterConsumer, RegisteredConsumer, RegisteredProvider, RegisterProvider } from "./Registration.ts"
import { keyId } from "./SharedFields.ts"

const owner = ["consumer", "provider"] as const
const revocation = { headers: idempotencyHeader, success: RevokedKey, error: problems(400, 401, 403, 404, 409) }

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.get("whoAmI", "/api/v1/market/whoami", { success: WhoAmI, error: problems(401, 403) })
      .middleware(KeyAuth)
      .annotateMerge(about(readBy(...owner), "Retrieve your account", "Returns the account of the API key.")),
    HttpApiEndpoint.post("registerProvider", "/api/market/register-provider", {
      headers: idempotencyHeader,
      payload: RegisterProvider,
      success: RegisteredProvider.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 409, 413, 415, 422)
    }).annotateMerge(
      about(
        accountRegistration,
        "Register a provider",
        "Registers an MCP server and its prices. The API key in the response is shown only once."
      )
    ),
    HttpApiEndpoint.post("registerConsumer", "/api/market/register-consumer", {
      headers: idempotencyHeader,
      payload: RegisterConsumer,
      success: RegisteredConsumer.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 409, 413, 415, 422)
    }).annotateMerge(
      about(
        accountRegistration,
        "Register a consumer",
        "Registers an agent developer. The API key in the response is shown only once."
      )
    ),
    HttpApiEndpoint.get("listKeys", "/api/v1/market/keys", { success: KeyList, error: problems(401, 403) })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy(...owner),
          "List your API keys",
          "Returns the active keys and the newest 100 revoked or expired ones, without secrets."
        )
      ),
    HttpApiEndpoint.post("createKey", "/api/v1/market/keys", {
      headers: idempotencyHeader,
      payload: CreateKey,
      success: NewKey.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy(...owner),
          "Create an API key",
          "Creates an additional key. The API key in the response is shown only once."
        )
      ),
    HttpApiEndpoint.delete("revokeKeyByQuery", "/api/v1/market/keys", {
      query: { key_id: keyId },
      ...revocation
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy(...owner),
          "Revoke an API key by query parameter",
          "Same as `DELETE /api/v1/market/keys/{key_id}`, for clients that send IDs in the query."
        )
      ),
    HttpApiEndpoint.delete("revokeKey", "/api/v1/market/keys/:key_id", {
      params: { key_id: keyId },
      ...revocation
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy(...owner),
          "Revoke an API key",
          "The key is rejected on every node within a second. Your only active key cannot be revoked: rotate it instead."
        )
      ),
    HttpApiEndpoint.post("rotateKey", "/api/v1/market/keys/rotate", {
      headers: idempotencyHeader,
      payload: RotateKey,
      success: RotatedKey.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy(...owner),
          "Rotate an API key",
          "Creates a key that replaces another one. The old key stays valid for the grace period, one day by default."
        )
      ),
    HttpApiEndpoint.post("setDefaultCap", "/api/v1/market/default-cap", {
      headers: idempotencyHeader,
      payload: SetDefaultCap,
      success: DefaultCap,
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer"),
          "Set a default cap",
          "Limits the cost of a usage-priced call that names no cap. The cap of a key takes precedence over the cap of the " +
            "account. `null` removes it. Calls with a fixed price are not affected."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Accounts", description: "Registration of providers and consumers, and API keys." })
  ) {}
