/**
 * The consumer's money, and the books as a whole.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { LOAD_CENTS_MAX, LOAD_CENTS_MIN } from "../../../domain/ledger/Loads.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, publicRead, readBy, writeBy } from "./Access.ts"
import { Display } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { problems } from "./Problem.ts"

const Balance = Schema.Struct({
  agent_id: ConsumerId,
  consumer_id: ConsumerId,
  name: Schema.String,
  balance_microcents: MicrocentsFromInt,
  balance_cents: Schema.Int,
  balance: Display,
  held_microcents: MicrocentsFromInt,
  available_microcents: MicrocentsFromInt,
  budgets: Schema.Array(
    Schema.Struct({
      budget_id: Schema.String,
      tool_id: Schema.NullOr(Schema.String),
      provider_id: Schema.NullOr(Schema.String),
      cap_microcents: MicrocentsFromInt,
      spent_microcents: MicrocentsFromInt,
      held_microcents: MicrocentsFromInt,
      period: Schema.Literals(["day", "month", "total"])
    })
  ),
  rate_limit_rpm: Schema.Int,
  load_balance_url: Schema.String
}).annotate({ identifier: "Balance" })

export const LoadBalance = Schema.Struct({
  amount_cents: Schema.Int.check(
    Schema.isGreaterThanOrEqualTo(LOAD_CENTS_MIN),
    Schema.isLessThanOrEqualTo(LOAD_CENTS_MAX)
  )
}).annotate({ identifier: "LoadBalance", examples: [{ amount_cents: 500 }] })

const LoadedDry = Schema.Struct({
  mode: Schema.Literal("dry_run"),
  previous_balance_cents: Schema.Int,
  added_cents: Schema.Int,
  new_balance_cents: Schema.Int,
  balance_cents: Schema.Int,
  new_balance: Display,
  message: Schema.String
}).annotate({ identifier: "LoadedDry" })

/** Sums may be larger than a JSON integer holds, and may be below zero: decimal text. */
const Sum = Schema.String.check(Schema.isPattern(/^-?\d+$/u))

const TrialBalance = Schema.Struct({
  accounts: Schema.Array(
    Schema.Struct({
      account: Schema.String,
      credits_microcents: Sum,
      debits_microcents: Sum,
      balance_microcents: Sum
    })
  ),
  total_credits_microcents: Sum,
  total_debits_microcents: Sum,
  balanced: Schema.Boolean,
  timestamp: Timestamp
}).annotate({ identifier: "TrialBalance" })

export class MoneyApi extends HttpApiGroup.make("money").add(
  HttpApiEndpoint.get("balance", "/api/v1/market/balance", { success: Balance, error: problems(401, 403) })
    .annotate(Access, readBy("consumer")).middleware(KeyAuth)
    .annotateMerge(OpenApi.annotations({ summary: "Your balance" })),
  HttpApiEndpoint.post("load", "/api/market/balance/load", {
    headers: idempotencyHeader,
    payload: LoadBalance,
    success: LoadedDry,
    error: problems(400, 401, 403, 409, 413, 415, 422)
  }).annotate(Access, writeBy("consumer")).middleware(KeyAuth).annotateMerge(OpenApi.annotations({
    summary: "Load your balance",
    description: "In dry run the balance grows by the amount and nobody pays; the answer's mode says so."
  })),
  HttpApiEndpoint.get("trialBalance", "/api/v1/market/ledger/trial-balance", {
    success: TrialBalance,
    error: problems()
  }).annotate(Access, publicRead).annotateMerge(OpenApi.annotations({
    summary: "The books, in sums",
    description: "Per kind of account, what was credited and debited. What was debited equals what was credited."
  }))
).annotateMerge(OpenApi.annotations({ title: "Money", description: "Balances, loads, and the trial balance." })) {}
