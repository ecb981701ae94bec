/**
 * A consumer's money, and the trial balance.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { about, KeyAuth, publicRead, readBy, writeBy } from "./Access.ts"
import {
  Balance,
  budgetId,
  BudgetList,
  LoadBalance,
  LoadedDry,
  LoadLive,
  OneBudget,
  RemovedBudget,
  SetBudget
} from "./Balance.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
import { problems } from "./ProblemSchemas.ts"
import { TrialBalance } from "./TrialBalance.ts"
import { WithdrawBalance, Withdrawal, WithdrawalList } from "./Withdrawal.ts"

export class MoneyApi extends HttpApiGroup.make("money")
  .add(
    HttpApiEndpoint.get("balance", "/api/v1/market/balance", { success: Balance, error: problems(401, 403) })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("consumer"),
          "Retrieve your balance",
          "Returns your balance, the holds of calls in flight, and budgets."
        )
      ),
    HttpApiEndpoint.post("load", "/api/market/balance/load", {
      headers: idempotencyHeader,
      payload: LoadBalance,
      success: Schema.Union([LoadedDry, LoadLive]),
      error: problems(400, 401, 403, 409, 413, 415, 422, 502)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer"),
          "Add funds",
          "In live mode, returns the URL of a checkout page; the balance is credited once the payment succeeds. In dry run " +
            "mode, the balance is credited immediately without a payment. `mode` in the response says which."
        )
      ),
    HttpApiEndpoint.post("withdraw", "/api/v1/market/balance/withdraw", {
      headers: idempotencyHeader,
      payload: WithdrawBalance,
      success: Withdrawal.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422, 502)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer"),
          "Withdraw unspent funds",
          "Refunds unspent funds to the payment methods that paid for them, at most the amount of each load. The payment " +
            "processor's fee (`processor_fee_cents`) is not refunded. Credits cannot be withdrawn. In dry run mode, the " +
            "refunds are simulated."
        )
      ),
    HttpApiEndpoint.get("listWithdrawals", "/api/v1/market/balance/withdraw", {
      success: WithdrawalList,
      error: problems(401, 403)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("consumer"),
          "List your withdrawals",
          "Returns the last 100 withdrawals, newest first, and the amount that can be withdrawn."
        )
      ),
    HttpApiEndpoint.get("listBudgets", "/api/v1/market/budgets", { success: BudgetList, error: problems(401, 403) })
      .middleware(KeyAuth)
      .annotateMerge(
        about(readBy("consumer"), "List your budgets", "Returns your budgets, with the amounts spent and left.")
      ),
    HttpApiEndpoint.post("setBudget", "/api/v1/market/budgets", {
      headers: idempotencyHeader,
      payload: SetBudget,
      success: OneBudget.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer"),
          "Set a budget",
          "Limits your spending. A call that exceeds a budget that covers it is rejected with 402 `BUDGET_EXCEEDED`."
        )
      ),
    HttpApiEndpoint.delete("removeBudget", "/api/v1/market/budgets/:budget_id", {
      headers: idempotencyHeader,
      params: { budget_id: budgetId },
      success: RemovedBudget,
      error: problems(400, 401, 403, 404, 409)
    })
      .middleware(KeyAuth)
      .annotateMerge(about(writeBy("consumer"), "Remove a budget", "The budget no longer limits your calls.")),
    HttpApiEndpoint.get("trialBalance", "/api/v1/market/ledger/trial-balance", {
      success: TrialBalance,
      error: problems()
    }).annotateMerge(
      about(
        publicRead,
        "Retrieve the trial balance",
        "Returns credits and debits by type of account. Total debits equal total credits, and `unbacked_microcents` is 0: " +
          "funds that were not received cannot be spent or withdrawn."
      )
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Money", description: "Balance, loads, budgets and trial balance." })) {}
