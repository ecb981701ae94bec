/**
 * The page /developers/dashboard: everything of a developer's account, each part by itself.
 */
import { budgets } from "./BudgetsPanel.ts"
import { calls } from "./Calls.ts"
import { disputes, fileDispute } from "./Disputing.ts"
import { documents } from "./Documents.ts"
import { showDashboard } from "./Dashboard.ts"
import { byId } from "./Dom.ts"
import { freeCalls } from "./FreeCalls.ts"
import { grants } from "./GrantsPanel.ts"
import { keys } from "./Keys.ts"
import { signedIn } from "./Session.ts"
import { spending } from "./Spending.ts"
import { wallet } from "./Wallet.ts"

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
