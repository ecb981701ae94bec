/**
 * What the operator of the platform does with its own money, and with what is kept back of providers' earnings.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Handle } from "../../../domain/accounts/Handle.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, readBy, writeBy } from "./Access.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { problems } from "./Problem.ts"

const FUNDS_CENTS_MAX = 100_000_000
const REFERENCE_CHARS_MAX = 100

export const FundsAction = Schema.Literals(["deposit", "withdraw", "cover_losses"])

export const MoveFunds = Schema.Struct({
  action: FundsAction,
  amount_cents: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1), Schema.isLessThanOrEqualTo(FUNDS_CENTS_MAX)),
  reference: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(REFERENCE_CHARS_MAX))
}).annotate({
  identifier: "MoveFunds",
  examples: [{ action: "deposit", amount_cents: 50_000, reference: "wire 2026-11-22" }]
})

const Solvency = Schema.Struct({
  spendable_microcents: Schema.Int,
  received_microcents: Schema.Int,
  sent_microcents: Schema.Int,
  recorded_losses_microcents: Schema.Int,
  shortfall_microcents: Schema.Int,
  unbacked_microcents: Schema.Int,
  platform_funds_microcents: Schema.Int,
  claims_on_providers_microcents: Schema.Int,
  claims_on_platform_microcents: Schema.Int,
  advanced_microcents: Schema.Int,
  timestamp: Timestamp
}).annotate({ identifier: "Solvency" })

const FundsMoved = Schema.Struct({
  action: FundsAction,
  amount_cents: Schema.Int,
  reference: Schema.String,
  repeated: Schema.Boolean,
  solvency: Solvency
}).annotate({ identifier: "FundsMoved" })

export const SetReserve = Schema.Struct({ lifted: Schema.Boolean }).annotate({
  identifier: "SetReserve",
  examples: [{ lifted: true }]
})

export const SetHandle = Schema.Struct({
  handle: Handle,
  retire_previous: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "SetHandle", examples: [{ handle: "ada-tools" }] })

const ProviderHandle = Schema.Struct({
  provider_id: ProviderId,
  handle: Schema.String,
  previous_handle: Schema.String,
  previous_retired: Schema.Boolean
}).annotate({ identifier: "ProviderHandle" })

const HandleImitations = Schema.Struct({
  imitations: Schema.Array(
    Schema.Struct({
      handle: Schema.String,
      provider_id: ProviderId,
      imitates: Schema.String,
      imitated_provider_id: ProviderId
    })
  ),
  total: Schema.Int
}).annotate({ identifier: "HandleImitations" })

export class OperatorApi extends HttpApiGroup.make("operator")
  .add(
    HttpApiEndpoint.get("solvency", "/api/v1/operator/solvency", { success: Solvency, error: problems(401, 403) })
      .annotate(Access, readBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "See whether all money is backed",
          description:
            "For the operator. Compares what can be spent or withdrawn with what was received and sent. " +
            "`unbacked_microcents` is 0, or the service has a fault; `shortfall_microcents` is what processor events cost and " +
            "you have to fund."
        })
      ),
    HttpApiEndpoint.post("moveFunds", "/api/v1/operator/funds", {
      headers: idempotencyHeader,
      payload: MoveFunds,
      success: FundsMoved,
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Record a movement of your own money",
          description:
            "For the operator. `deposit`: you added money to the processor's account. `withdraw`: you took out fees or " +
            "deposits. `cover_losses`: platform funds replace what recorded losses took. The same `reference` is recorded once."
        })
      ),
    HttpApiEndpoint.post("setReserve", "/api/v1/operator/providers/:provider_id/reserve", {
      headers: idempotencyHeader,
      params: { provider_id: ProviderId },
      payload: SetReserve,
      success: Schema.Struct({ provider_id: ProviderId, lifted: Schema.Boolean }).annotate({ identifier: "Reserve" }),
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Lift a provider's rolling reserve",
          description: "For the operator. `lifted: true` releases what is reserved and reserves nothing more."
        })
      ),
    HttpApiEndpoint.post("setHandle", "/api/v1/operator/providers/:provider_id/handle", {
      headers: idempotencyHeader,
      params: { provider_id: ProviderId },
      payload: SetHandle,
      success: ProviderHandle,
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Give a provider another handle",
          description:
            "For the operator. The previous handle is given to no other provider. It still resolves to this provider, so " +
            "that calls which name it go on working, unless `retire_previous` is true."
        })
      ),
    HttpApiEndpoint.get("imitations", "/api/v1/operator/handles/imitations", {
      success: HandleImitations,
      error: problems(401, 403)
    })
      .annotate(Access, readBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List handles that imitate a verified provider's",
          description:
            "For the operator. Such a handle was given before the imitated provider was verified; it is refused afterwards. " +
            "At most 100, by handle."
        })
      ),
    HttpApiEndpoint.post("unfreeze", "/api/v1/operator/consumers/:consumer_id/unfreeze", {
      headers: idempotencyHeader,
      params: { consumer_id: ConsumerId },
      success: Schema.Struct({
        consumer_id: ConsumerId,
        frozen: Schema.Literal(false),
        was_frozen: Schema.Boolean
      }).annotate({ identifier: "Unfrozen" }),
      error: problems(400, 401, 403, 404, 409, 413, 415)
    })
      .annotate(Access, writeBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Unfreeze a consumer's account",
          description:
            "For the operator. Chargebacks that are known by now do not freeze the account again; a new one does. A debt stays."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Operator",
      description: "Solvency, platform funds and reserves. Needs OPERATOR_KEY."
    })
  ) {}
