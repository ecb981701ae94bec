/**
 * A consumer's money, and the trial balance.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { publicRead, readBy, writeBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
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
} from "./BalanceBodies.ts"
import { TrialBalance } from "./TrialBalance.ts"
import { WithdrawBalance, Withdrawal, WithdrawalList } from "./WithdrawalBodies.ts"

export class MoneyApi extends HttpApiGroup.make("money")
  .add(
    Endpoint.get("balance", "/api/v1/market/balance", {
      access: readBy("consumer"),
      summary: "Retrieve your balance",
      description: "Returns your balance, the holds of calls in flight, and budgets.",
      success: Balance
    }),
    Endpoint.post("load", "/api/market/balance/load", {
      access: writeBy("consumer"),
      summary: "Add funds",
      description:
        "In live mode, returns the URL of a checkout page; the balance is credited once the payment succeeds. In dry run " +
        "mode, the balance is credited immediately without a payment. `mode` in the response says which.",
      payload: LoadBalance,
      success: Schema.Union([LoadedDry, LoadLive]),
      problems: [502]
    }),
    Endpoint.post("withdraw", "/api/v1/market/balance/withdraw", {
      access: writeBy("consumer"),
      summary: "Withdraw unspent funds",
      description:
        "Refunds unspent funds to the payment methods that paid for them, at most the amount of each load. The payment " +
        "processor's fee (`processor_fee_cents`) is not refunded. Credits cannot be withdrawn. In dry run mode, the " +
        "refunds are simulated.",
      payload: WithdrawBalance,
      success: Withdrawal.pipe(HttpApiSchema.status(201)),
      problems: [502]
    }),
    Endpoint.get("listWithdrawals", "/api/v1/market/balance/withdraw", {
      access: readBy("consumer"),
      summary: "List your withdrawals",
      description: "Returns the last 100 withdrawals, newest first, and the amount that can be withdrawn.",
      success: WithdrawalList
    }),
    Endpoint.get("listBudgets", "/api/v1/market/budgets", {
      access: readBy("consumer"),
      summary: "List your budgets",
      description: "Returns your budgets, with the amounts spent and left.",
      success: BudgetList
    }),
    Endpoint.post("setBudget", "/api/v1/market/budgets", {
      access: writeBy("consumer"),
      summary: "Set a budget",
      description:
        "Limits your spending. A call that exceeds a budget that covers it is rejected with 402 `BUDGET_EXCEEDED`.",
      payload: SetBudget,
      success: OneBudget.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.delete("removeBudget", "/api/v1/market/budgets/:budget_id", {
      access: writeBy("consumer"),
      summary: "Remove a budget",
      description: "The budget no longer limits your calls.",
      params: { budget_id: budgetId },
      success: RemovedBudget
    }),
    Endpoint.get("trialBalance", "/api/v1/market/ledger/trial-balance", {
      access: publicRead,
      summary: "Retrieve the trial balance",
      description:
        "Returns credits and debits by type of account. Total debits equal total credits, and `unbacked_microcents` is 0: " +
        "funds that were not received cannot be spent or withdrawn.",
      success: TrialBalance
    })
  )
  .annotateMerge(OpenApi.annotations({ title: "Money", description: "Balance, loads, budgets and trial balance." })) {}
