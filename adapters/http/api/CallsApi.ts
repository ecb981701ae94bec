/**
 * Calls through the proxy, and their usage.
 */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { readBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
import { CallResult, capHeader, ProxyCall, Quote } from "./ProxyCall.ts"
import { FreeTierList, periodQuery, UsagePage, usageQuery, UsageSummary } from "./UsageBodies.ts"

const usage = <const I extends string>(identifier: I, path: `/${string}`) =>
  Endpoint.get(identifier, path, {
    access: readBy("consumer", "provider"),
    summary: "List your calls",
    description:
      "Returns your calls, newest first, and totals of the period. With a provider key: the calls of your tools.",
    query: usageQuery,
    success: UsagePage
  })

const usageSummary = <const I extends string>(identifier: I, path: `/${string}`) =>
  Endpoint.get(identifier, path, {
    access: readBy("consumer", "provider"),
    summary: "Summarize your usage",
    description: "Returns totals of the period by tool and day. With a provider key: of the calls of your tools.",
    query: { period: periodQuery },
    success: UsageSummary
  })

export class CallsApi extends HttpApiGroup.make("calls")
  .add(
    Endpoint.post("proxy", "/api/market/proxy", {
      access: readBy("consumer"),
      summary: "Call a tool",
      description:
        "Holds the price, forwards the call, settles it, and returns the tool's result with a receipt. Only a successful " +
        "call is billed, unless the tool's `billing_policy` says otherwise. `dry_run: true` returns a quote.\n\n" +
        "An error of the tool itself (a result with `isError`) is answered 200, with `meta.outcome: " +
        '"error"`. A provider that fails is answered 502 `PROVIDER_ERROR`, a provider that times out 504.\n\n' +
        "A usage-priced call (its maximum is above its price) needs a cap: `max_cost_microcents` in the body, else the " +
        "header `X-Max-Cost-Microcents`, else `default_cap_microcents` of the key, else of the account. Without one it is " +
        "answered 422 `CAP_REQUIRED`. The hold never exceeds the cap, and the provider receives the cap. Send the " +
        "`price_version` of a quote to have the call rejected if another version is in effect.\n\n" +
        "A forwarded call completes even if you disconnect, and is billed by its outcome, unless the tool's `on_cancel` " +
        "says otherwise. With an `Idempotency-Key`, the response is then stored for 10 minutes; a later retry is answered " +
        "410 with receipt, outcome and cost. The number of calls in flight per account is limited, including calls that " +
        "you disconnected from.\n\n" +
        "With `Accept: text/event-stream`, the response of a tool that reports progress is a stream: `progress` events, " +
        "then `result` or `problem` with the body of the usual response.",
      headers: { ...idempotencyHeader, ...capHeader },
      payload: ProxyCall,
      success: Schema.Union([CallResult, Quote]),
      problems: [402, 404, 409, 410, 502, 504]
    }),
    usage("usage", "/api/market/usage"),
    usage("usageV1", "/api/v1/market/usage"),
    usageSummary("usageSummary", "/api/market/usage/summary"),
    usageSummary("usageSummaryV1", "/api/v1/market/usage/summary"),
    Endpoint.get("freeTiers", "/api/v1/market/free-tiers", {
      access: readBy("consumer"),
      summary: "List your free tiers",
      description: "Returns the free calls left this month (UTC) for each tool that you have called.",
      success: FreeTierList
    })
  )
  .annotateMerge(OpenApi.annotations({ title: "Calls", description: "Calls of tools, and their usage." })) {}
