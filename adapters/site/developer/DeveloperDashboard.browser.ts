/**
 * The page /developers/dashboard: everything of a developer's account, each part by itself.
 */
import { budgets } from "./BudgetsPanel.browser.ts"
import { calls } from "../kit/CallsPanel.browser.ts"
import { disputes, fileDispute } from "../kit/Disputing.browser.ts"
import { documents } from "../kit/Documents.browser.ts"
import { showDashboard } from "../kit/Dashboard.browser.ts"
import { byId } from "../kit/Dom.browser.ts"
import { freeCalls } from "./FreeCalls.browser.ts"
import { grants } from "./GrantsPanel.browser.ts"
import { keys } from "../kit/KeysPanel.browser.ts"
import { signedIn } from "../kit/Session.browser.ts"
import { spending } from "./Spending.browser.ts"
import { wallet } from "./Wallet.browser.ts"

const place = byId("dashboard")

void signedIn(place, "consumer", (_, who) => {
  const disputed = disputes()
  const parts = [
    wallet(),
    spending(),
    calls((call, filed) =>
      fileDispute(call, () => {
        filed()
        void disputed.reload()
      })
    ),
    freeCalls(),
    budgets(),
    grants(),
    disputed,
    documents("consumer"),
    keys("consumer", String(who["id"]))
  ]
  showDashboard(place, "consumer", String(who["name"]), parts)
})
