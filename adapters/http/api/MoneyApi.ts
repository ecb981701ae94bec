/**
 * The consumer's money, and the books as a whole.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BudgetPeriod } from "../../../domain/ledger/BudgetPeriod.ts"
import { BudgetId } from "../../../domain/ledger/BudgetStore.ts"
import { LOAD_CENTS_MAX, LOAD_CENTS_MIN } from "../../../domain/payments/Loads.ts"
import { WITHDRAWAL_CENTS_MAX, WITHDRAWAL_CENTS_MIN } from "../../../domain/payments/Withdrawals.ts"
import { WithdrawalPartState } from "../../../domain/payments/WithdrawalStore.ts"
import { ConsumerId, LoadId, ProviderId, ToolId, WithdrawalId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, publicRead, readBy, writeBy } from "./Access.ts"
import { Display } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { problems } from "./Problem.ts"

const Budget = Schema.Struct({
  budget_id: BudgetId,
  tool_id: Schema.NullOr(ToolId),
  provider_id: Schema.NullOr(ProviderId),
  cap_microcents: MicrocentsFromInt,
  spent_microcents: MicrocentsFromInt,
  held_microcents: MicrocentsFromInt,
  left_microcents: MicrocentsFromInt,
  period: BudgetPeriod,
  resets_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Budget" })

export const SetBudget = Schema.Struct({
  cap_microcents: MicrocentsFromInt,
  period: Schema.optionalKey(BudgetPeriod),
  tool_id: Schema.optionalKey(ToolId),
  provider_id: Schema.optionalKey(ProviderId)
}).annotate({ identifier: "SetBudget", examples: [{ cap_microcents: 5_000_000 as never, period: "day" }] })

const Balance = Schema.Struct({
  agent_id: ConsumerId,
  consumer_id: ConsumerId,
  name: Schema.String,
  balance_microcents: MicrocentsFromInt,
  balance_cents: Schema.Int,
  balance: Display,
  debt_microcents: MicrocentsFromInt,
  held_microcents: MicrocentsFromInt,
  available_microcents: MicrocentsFromInt,
  frozen: Schema.Boolean,
  frozen_reason: Schema.NullOr(Schema.String),
  budgets: Schema.Array(Budget),
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

const LoadLive = Schema.Struct({
  mode: Schema.Literal("live"),
  checkout_url: Schema.String,
  url: Schema.String,
  session_id: Schema.String,
  amount_cents: Schema.Int,
  amount: Display,
  message: Schema.String
}).annotate({ identifier: "LoadLive" })

export const WithdrawBalance = Schema.Struct({
  amount_cents: Schema.Int.check(
    Schema.isGreaterThanOrEqualTo(WITHDRAWAL_CENTS_MIN),
    Schema.isLessThanOrEqualTo(WITHDRAWAL_CENTS_MAX)
  )
}).annotate({ identifier: "WithdrawBalance", examples: [{ amount_cents: 500 }] })

const Withdrawal = Schema.Struct({
  mode: Schema.Literals(["dry_run", "live"]),
  withdrawal_id: WithdrawalId,
  status: Schema.Literals(["pending", "paid", "partly_paid", "failed"]),
  amount_cents: Schema.Int,
  processor_fee_cents: Schema.Int,
  refund_cents: Schema.Int,
  created_at: Timestamp,
  refunds: Schema.Array(
    Schema.Struct({
      load_id: LoadId,
      status: WithdrawalPartState,
      amount_cents: Schema.Int,
      processor_fee_cents: Schema.Int,
      refund_cents: Schema.Int,
      refund_id: Schema.NullOr(Schema.String),
      failure: Schema.NullOr(Schema.String)
    }).annotate({ identifier: "WithdrawalRefund" })
  )
}).annotate({ identifier: "Withdrawal" })

/** A sum may be below zero. One that a JSON integer cannot hold is never sent: 2^53 microcents are nine billion dollars. */
const Sum = Schema.Int

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
  unbacked_microcents: Sum,
  shortfall_microcents: Sum,
  timestamp: Timestamp
}).annotate({ identifier: "TrialBalance" })

export class MoneyApi extends HttpApiGroup.make("money")
  .add(
    HttpApiEndpoint.get("balance", "/api/v1/market/balance", { success: Balance, error: problems(401, 403) })
      .annotate(Access, readBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Your balance",
          description: "What you have, what calls under way have reserved, and your budgets."
        })
      ),
    HttpApiEndpoint.post("load", "/api/market/balance/load", {
      headers: idempotencyHeader,
      payload: LoadBalance,
      success: Schema.Union([LoadedDry, LoadLive]),
      error: problems(400, 401, 403, 409, 413, 415, 422, 502)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Load your balance",
          description:
            "Live, you get the address of the payment processor's page, and the balance grows once it says that you have " +
            "paid. In dry run the balance grows at once and nobody pays; the answer's mode says so."
        })
      ),
    HttpApiEndpoint.post("withdraw", "/api/v1/market/balance/withdraw", {
      headers: idempotencyHeader,
      payload: WithdrawBalance,
      success: Withdrawal.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422, 502)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Withdraw unspent funds",
          description:
            "Refunds unspent funds to the payment methods that brought them, never more than each load brought. What the " +
            "processor keeps of a payment is not refunded: `processor_fee_cents`. Credits cannot be withdrawn. In a dry run " +
            "the refund is simulated; the answer's `mode` says so."
        })
      ),
    HttpApiEndpoint.get("listWithdrawals", "/api/v1/market/balance/withdraw", {
      success: Schema.Struct({
        withdrawable_cents: Schema.Int,
        withdrawals: Schema.Array(Withdrawal),
        total: Schema.Int
      }).annotate({ identifier: "Withdrawals" }),
      error: problems(401, 403)
    })
      .annotate(Access, readBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List your withdrawals",
          description: "The last 100, newest first, with their state, and what can be withdrawn now."
        })
      ),
    HttpApiEndpoint.get("listBudgets", "/api/v1/market/budgets", {
      success: Schema.Struct({ budgets: Schema.Array(Budget), total: Schema.Int }).annotate({ identifier: "Budgets" }),
      error: problems(401, 403)
    })
      .annotate(Access, readBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({ summary: "List your budgets", description: "With what is spent and left in each." })
      ),
    HttpApiEndpoint.post("setBudget", "/api/v1/market/budgets", {
      headers: idempotencyHeader,
      payload: SetBudget,
      success: Schema.Struct({ budget: Budget }).annotate({ identifier: "OneBudget" }).pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Cap your own spending",
          description: "A call that does not fit every budget that covers it is refused with 402 BUDGET_EXCEEDED."
        })
      ),
    HttpApiEndpoint.delete("removeBudget", "/api/v1/market/budgets/:budget_id", {
      headers: idempotencyHeader,
      params: { budget_id: BudgetId },
      success: Schema.Struct({ removed: Schema.Literal(true), budget_id: BudgetId }).annotate({
        identifier: "RemovedBudget"
      }),
      error: problems(400, 401, 403, 404, 409)
    })
      .annotate(Access, writeBy("consumer"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({ summary: "Remove a budget", description: "Calls are no longer held against it." })
      ),
    HttpApiEndpoint.get("trialBalance", "/api/v1/market/ledger/trial-balance", {
      success: TrialBalance,
      error: problems()
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "See the trial balance",
          description:
            "Credits and debits for each kind of account. Total debits equal total credits, and `unbacked_microcents` is 0: " +
            "nothing can be spent or withdrawn that was not received."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Money", description: "Balances, loads, and the trial balance." })) {}
