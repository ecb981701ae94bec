/**
 * The developer dashboard.
 */
import { showDashboard } from "../kit/Dashboard.browser.ts"
import { byId } from "../kit/Dom.browser.ts"
import { invoicesPanel } from "../kit/InvoicesPanel.browser.ts"
import { keysPanel } from "../kit/KeysPanel.browser.ts"
import { signIn } from "../kit/Session.browser.ts"
import { balancePanel } from "./BalancePanel.browser.ts"
import { budgetsPanel } from "./BudgetsPanel.browser.ts"
import { connectPanel } from "./ConnectPanel.browser.ts"
import { callsPanel } from "./DeveloperCalls.browser.ts"
import { disputesPanel } from "./DeveloperDisputes.browser.ts"
import { freeCallsPanel } from "./FreeCallsPanel.browser.ts"
import { grantsPanel } from "./GrantsPanel.browser.ts"
import { spendingPanel } from "./SpendingPanel.browser.ts"

const place = byId("dashboard")

void signIn(place, "consumer", (account) => {
  const disputes = disputesPanel()
  showDashboard(place, "consumer", String(account["name"]), [
    balancePanel(),
    connectPanel(),
    spendingPanel(),
    callsPanel(() => void disputes.reload()),
    freeCallsPanel(),
    budgetsPanel(),
    grantsPanel(),
    disputes,
    invoicesPanel("consumer"),
    keysPanel("consumer", String(account["id"]))
  ])
})
