/**
 * Calling tools through the proxy, and the usage that follows from it.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { ReceiptStatus } from "../../../domain/receipts/Receipt.ts"
import { ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, readBy } from "./Access.ts"
import { Cursor, Display, LimitUpTo, Offset } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { UpcomingPrice } from "./PriceFields.ts"
import { problems } from "./Problem.ts"
import { CanceledCallCostsWord, OnCancelWord } from "./ToolBody.ts"

export const USAGE_LIMIT_MAX = 200

const JsonObject = Schema.Record(Schema.String, Schema.Json)

export const ProxyCall = Schema.Struct({
  tool_id: Schema.optionalKey(ToolId),
  tool_name: Schema.optionalKey(ToolNameSent),
  input: Schema.optionalKey(JsonObject),
  arguments: Schema.optionalKey(JsonObject),
  provider_id: Schema.optionalKey(ProviderId),
  max_cost_microcents: Schema.optionalKey(MicrocentsFromInt),
  price_version: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  dry_run: Schema.optionalKey(Schema.Boolean),
  metadata: Schema.optionalKey(JsonObject)
})
  .check(
    Schema.makeFilter((body) => {
      if (body.tool_id === undefined && body.tool_name === undefined) return "Send `tool_id` or `tool_name`."
      return body.input !== undefined && body.arguments !== undefined
        ? "Send the input once: either `input` or `arguments`."
        : undefined
    })
  )
  .annotate({ identifier: "ProxyCall", examples: [{ tool_name: "ada-tools/search", input: { q: "sea" } }] })

const capHeaderField = {
  "x-max-cost-microcents": Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^\d{1,16}$/u)).annotate({
      description: "The most that you pay for this call, where the body has no `max_cost_microcents`."
    })
  )
}

const CallMeta = Schema.Struct({
  tool: Schema.String,
  tool_name: Schema.String,
  tool_id: ToolId,
  provider: Schema.String,
  provider_id: ProviderId,
  cost_cents: Schema.Int,
  cost_microcents: MicrocentsFromInt,
  cost: Display,
  latency_ms: Schema.Int,
  remaining_balance_cents: Schema.Int,
  remaining_balance_microcents: MicrocentsFromInt,
  free_tier_remaining: Schema.NullOr(Schema.Int),
  receipt_id: ReceiptId,
  invocation_id: ReceiptId,
  attempts: Schema.Int,
  outcome: Schema.Literals(["success", "error"])
}).annotate({ identifier: "CallMeta" })

const CallResult = Schema.Struct({ result: JsonObject, meta: CallMeta }).annotate({ identifier: "CallResult" })

const Quote = Schema.Struct({
  dry_run: Schema.Literal(true),
  quote: Schema.Struct({
    tool: Schema.String,
    tool_name: Schema.String,
    qualified_name: Schema.String,
    tool_id: ToolId,
    provider: Schema.String,
    provider_id: ProviderId,
    price_microcents: MicrocentsFromInt,
    price_cents: Schema.Int,
    price: Display,
    max_cost_microcents: MicrocentsFromInt,
    usage_priced: Schema.Boolean,
    price_version: Schema.Int,
    billing_policy: Schema.Literals(["success", "valid_output", "attempt"]),
    on_cancel: OnCancelWord,
    canceled_call_costs: CanceledCallCostsWord,
    free_tier_calls: Schema.Int,
    upcoming: Schema.NullOr(UpcomingPrice),
    cost_microcents: MicrocentsFromInt,
    hold_microcents: MicrocentsFromInt,
    free_tier_remaining: Schema.NullOr(Schema.Int),
    balance_microcents: MicrocentsFromInt,
    balance_after_microcents: Schema.Int,
    sufficient_funds: Schema.Boolean
  })
}).annotate({ identifier: "Quote" })

const Owner = Schema.Struct({
  id: Schema.String,
  type: Schema.Literals(["consumer", "provider"]),
  name: Schema.String,
  balance_cents: Schema.Int
})

const UsageCall = Schema.Struct({
  id: ReceiptId,
  receipt_id: ReceiptId,
  tool: Schema.String,
  tool_name: Schema.String,
  tool_id: ToolId,
  status: ReceiptStatus,
  success: Schema.Boolean,
  cost_cents: Schema.Int,
  cost_microcents: MicrocentsFromInt,
  latency_ms: Schema.Int,
  duration_ms: Schema.Int,
  created_at: Timestamp
}).annotate({ identifier: "UsageCall" })

const Period = Schema.Literals(["24h", "7d", "30d", "90d"])

const UsagePage = Schema.Struct({
  owner: Owner,
  period: Period,
  summary: Schema.Struct({
    total_calls: Schema.Int,
    successful_calls: Schema.Int,
    error_rate: Schema.Finite,
    total_cost_cents: Schema.Int,
    total_cost_microcents: MicrocentsFromInt,
    total_cost: Display,
    avg_latency_ms: Schema.NullOr(Schema.Finite)
  }),
  recent_calls: Schema.Array(UsageCall),
  records: Schema.Array(UsageCall),
  total: Schema.Int,
  limit: Schema.Int,
  offset: Schema.Int,
  next_cursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "UsagePage" })

const UsageSummary = Schema.Struct({
  owner: Owner,
  period: Period,
  summary: Schema.Struct({
    total_calls: Schema.Int,
    successful_calls: Schema.Int,
    error_rate: Schema.Finite,
    total_spend_cents: Schema.Int,
    total_spend_microcents: MicrocentsFromInt,
    total_spend: Display,
    data_volume: Schema.Struct({
      request_bytes: Schema.Int,
      response_bytes: Schema.Int,
      tokens_input: Schema.Int,
      tokens_output: Schema.Int
    })
  }),
  total_calls: Schema.Int,
  total_spend_cents: Schema.Int,
  total_spend: Display,
  top_tools: Schema.Array(
    Schema.Struct({
      tool: Schema.String,
      tool_name: Schema.String,
      tool_id: ToolId,
      calls: Schema.Int,
      spend_cents: Schema.Int,
      spend_microcents: MicrocentsFromInt,
      spend: Display
    })
  ),
  calls_by_tool: Schema.Record(Schema.String, Schema.Int),
  calls_by_day: Schema.Array(
    Schema.Struct({
      date: Schema.String,
      calls: Schema.Int,
      spend_cents: Schema.Int,
      spend_microcents: MicrocentsFromInt,
      errors: Schema.Int
    })
  )
}).annotate({ identifier: "UsageSummary" })

const usageQuery = {
  period: Schema.optionalKey(Period),
  tool_id: Schema.optionalKey(ToolId),
  status: Schema.optionalKey(ReceiptStatus),
  limit: Schema.optionalKey(LimitUpTo(USAGE_LIMIT_MAX)),
  offset: Schema.optionalKey(Offset),
  cursor: Schema.optionalKey(Cursor)
}

const usage = <const I extends string>(identifier: I, path: `/${string}`) =>
  HttpApiEndpoint.get(identifier, path, { query: usageQuery, success: UsagePage, error: problems(400, 401, 403) })
    .annotate(Access, readBy("consumer", "provider"))
    .middleware(KeyAuth)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Your calls, newest first",
        description: "For a provider key: the calls of its own tools."
      })
    )

const usageSummary = <const I extends string>(identifier: I, path: `/${string}`) =>
  HttpApiEndpoint.get(identifier, path, {
    query: { period: Schema.optionalKey(Period) },
    success: UsageSummary,
    error: problems(400, 401, 403)
  })
    .annotate(Access, readBy("consumer", "provider"))
    .middleware(KeyAuth)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Your usage by tool and day",
        description: "Sums of the whole period. For a provider key: of the calls of its own tools."
      })
    )

const FreeTier = Schema.Struct({
  tool_id: ToolId,
  tool_name: Schema.String,
  provider_id: ProviderId,
  provider: Schema.String,
  free_tier_calls: Schema.Int,
  used: Schema.Int,
  left: Schema.Int
}).annotate({ identifier: "FreeTier" })

const FreeTierList = Schema.Struct({
  free_tiers: Schema.Array(FreeTier),
  total: Schema.Int,
  resets_at: Timestamp
}).annotate({ identifier: "FreeTiers" })

export class CallsApi extends HttpApiGroup.make("calls")
  .add(
    HttpApiEndpoint.post("proxy", "/api/market/proxy", {
      headers: { ...idempotencyHeader, ...capHeaderField },
      payload: ProxyCall,
      success: Schema.Union([CallResult, Quote]),
      error: problems(400, 401, 402, 403, 404, 409, 410, 413, 415, 422, 502, 504)
    })
      .annotate(Access, readBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Call a tool",
          description:
            "Holds the price, forwards the call, settles, and answers with the provider's own result and a " +
            "receipt. Only a success costs money, unless the tool's billing_policy says otherwise. `dry_run: true` quotes.\n\n" +
            "An error of the tool itself (a result with `isError`) is an answer: 200 with the result and `meta.outcome: " +
            '"error"`. A provider that fails as a server is 502 `PROVIDER_ERROR`, one that is too slow 504.\n\n' +
            "A usage-priced call (its maximum is above its price) needs a cap: `max_cost_microcents` in the body, else the " +
            "header `X-Max-Cost-Microcents`, else `default_cap_microcents` of the key, else of the account; without one it is " +
            "422 `CAP_REQUIRED`. Never is more held than the cap, and the provider is told it. Name the `price_version` of " +
            "a quote, and a call is refused rather than charged under another one.\n\n" +
            "A forwarded call runs to its end even if you disconnect, and is billed by its outcome, unless the tool's " +
            "on_cancel says otherwise. With an `Idempotency-Key` its answer is then kept for 10 minutes; after that a " +
            "replay is 410 with receipt, outcome and cost. An account has a maximum number of calls in flight; those " +
            "that you no longer wait for count until they end.\n\n" +
            "With `Accept: text/event-stream` the answer of a tool that says how far it is becomes a stream: `progress` " +
            "events as they come, and last one `result` or `problem` with the body that the answer would have had."
        })
      ),
    usage("usage", "/api/market/usage"),
    usage("usageV1", "/api/v1/market/usage"),
    usageSummary("usageSummary", "/api/market/usage/summary"),
    usageSummary("usageSummaryV1", "/api/v1/market/usage/summary"),
    HttpApiEndpoint.get("freeTiers", "/api/v1/market/free-tiers", { success: FreeTierList, error: problems(401, 403) })
      .annotate(Access, readBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Your free calls",
          description: "What is left this month (UTC) of the free calls of each tool that you have called."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Calls",
      description: "Metered calls of tools, and what they added up to."
    })
  ) {}
