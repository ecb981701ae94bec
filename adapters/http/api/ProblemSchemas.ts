/**
 * Errors on the wire: RFC 9457 problem details that also carry `error`, `code`, `message` and `request_id`.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ReceiptId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { codesByStatus, type ProblemStatus, titles } from "./Problem.ts"
import { qualifiedName } from "./SharedFields.ts"

const Fault = Field.object("Fault", "An invalid field.", {
  path: Field.list(
    Schema.Union([Schema.String, Schema.Int]),
    "Path of the field: names and indexes from the body's root.",
    ["tools", 0, "price_microcents"]
  ),
  message: Field.string("What is wrong and what is expected.", "`amount_cents` is required.")
})

const int = (description: string) => Field.optional(Schema.Int, description)
const text = (description: string) => Field.optional(Schema.String, description)

const retry = { retry_after_seconds: int("Seconds to wait before the next attempt; also in `Retry-After`.") }
const cost = {
  cost_cents: int("Cost of the call in whole cents, rounded toward zero."),
  cost_microcents: int("Cost of the call in microcents (1/10,000 of a cent).")
}
const closedCall = {
  ...cost,
  receipt_id: Field.optional(ReceiptId, "ID of the call's receipt."),
  outcome: Field.optional(ReceiptStatus, "Outcome of the call.")
}
const failedCall = {
  tool: text("Display name of the tool."),
  provider: text("Name of the provider."),
  latency_ms: int("Time that the provider took, in milliseconds."),
  attempts: int("Number of attempts to reach the provider."),
  ...closedCall,
  problem: text("Reason why the provider could not be reached."),
  provider_status: int("HTTP status of the provider's response."),
  provider_error: Field.optional(Schema.Unknown, "JSON-RPC error of the provider's response.")
}
const prices = {
  price_microcents: int("List price of a call in microcents."),
  max_cost_microcents: int("Maximum cost of a call in microcents.")
}

/** Extension fields by status. */
const extras: Partial<Record<ProblemStatus, Schema.Struct.Fields>> = {
  402: {
    cost_microcents: cost.cost_microcents,
    cost_cents: cost.cost_cents,
    balance_microcents: int("Balance in microcents."),
    balance_cents: int("Balance in whole cents, rounded toward zero."),
    load_balance_url: text("URL for adding funds."),
    budget_id: text("ID of the exceeded budget."),
    cap_microcents: int("Limit of the budget in microcents."),
    left_microcents: int("Amount left in the budget, in microcents."),
    resets_at: Field.optional(Schema.NullOr(Schema.String), "Time when the budget resets. `null`: never.")
  },
  409: {
    ...retry,
    owed_cents: int("Debt of the account in cents."),
    chargeback_id: text("ID of the chargeback at the payment processor."),
    ...prices,
    needed_microcents: int("Required platform funds in microcents."),
    platform_funds_microcents: int("Available platform funds in microcents."),
    platform_funds_cents: int("Available platform funds in whole cents, rounded toward zero."),
    price_version: int("Price version in effect."),
    candidates: Field.optional(
      Schema.Array(
        Schema.Struct({
          qualified_name: qualifiedName,
          tool_id: Field.of(Schema.String, "ID of the tool."),
          provider_id: Field.of(Schema.String, "ID of the provider."),
          provider: Field.of(Schema.String, "Name of the provider.")
        })
      ),
      "Tools with the requested name."
    )
  },
  410: {
    ...closedCall,
    tool_id: text("ID of the tool."),
    withdrawn_at: text("Time when the provider withdrew the tool.")
  },
  422: {
    ...failedCall,
    ...prices,
    withdrawable_cents: int("Amount that can be withdrawn, in cents."),
    limit_cents: int("Maximum amount of loads within 24 hours, in cents."),
    left_cents: int("Amount that can be loaded now, in cents."),
    retry_at: text("Time from which the requested amount can be loaded."),
    minimum_cents: int("Minimum payout in cents."),
    payout_balance_cents: int("Amount available for payout, in cents."),
    connect_url: text("URL of the endpoint that creates a link to the payout account."),
    registered: Field.optional(Schema.Literal(0), "Always `0`: no tool was registered."),
    errors: int("Number of rejected tools."),
    tools: Field.optional(Schema.Tuple([]), "Always empty: no tool was registered."),
    tool_errors: Field.optional(
      Schema.Array(
        Schema.Struct({
          tool_name: Field.of(Schema.String, "Name of the tool."),
          error: Field.of(Schema.String, "Reason for the rejection.")
        })
      ),
      "Rejected tools, with the reason."
    )
  },
  429: {
    ...retry,
    limit: Field.optional(Schema.Literal("calls_in_flight"), "Exceeded limit. Absent for the rate limit."),
    calls_in_flight_max: int(
      "Maximum number of calls in flight per account, including calls that you disconnected from."
    )
  },
  502: { ...retry, ...failedCall },
  503: { ...retry, ...failedCall },
  504: failedCall
}

const schemaOf = (status: ProblemStatus) =>
  Schema.Struct({
    type: Field.of(Schema.String, "URL of the error code's documentation (RFC 9457)."),
    title: Field.of(Schema.String, "Short description, the same for every problem with this status."),
    status: Field.of(Schema.Literal(status), "HTTP status."),
    detail: Field.of(Schema.String, "What is wrong with this request, and what to do."),
    instance: Field.of(Schema.String, "Path of the request."),
    error: Field.always(true),
    code: Field.of(Schema.Literals(codesByStatus[status]), "Machine-readable error code. Branch on it."),
    message: Field.of(Schema.String, "Same as `detail`."),
    request_id: Field.of(Schema.String, "ID of the request, also in `X-Request-Id`. Include it in support requests."),
    details: Field.optional(Schema.Array(Fault), "Every invalid field."),
    ...extras[status]
  })
    .annotate({ identifier: `Problem${status}`, description: titles[status] })
    .pipe(HttpApiSchema.asJson({ contentType: "application/problem+json" }), HttpApiSchema.status(status))

const cache = new Map<ProblemStatus, ReturnType<typeof schemaOf>>()
const problemSchema = (status: ProblemStatus) => {
  const known = cache.get(status) ?? schemaOf(status)
  cache.set(status, known)
  return known
}

/** The errors of an endpoint. Any endpoint can answer 422 (an unknown query parameter), 429, 500 and 503. */
export const problems = (...statuses: ReadonlyArray<ProblemStatus>) =>
  [...new Set<ProblemStatus>([...statuses, 422, 429, 500, 503])].toSorted((a, b) => a - b).map(problemSchema)
