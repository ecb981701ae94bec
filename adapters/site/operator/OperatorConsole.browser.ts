/**
 * The operator's console: its tabs, in the order of the navigation.
 */
import { startConsole } from "../console/ConsoleShell.browser.ts"
import { operatorSession } from "./OperatorSignIn.browser.ts"

startConsole({
  role: "operator",
  session: operatorSession,
  path: "/operator",
  name: "Operator console",
  tabs: [
    { path: "overview", title: "Overview", load: () => import("./overview/OperatorOverviewTab.browser.ts") },
    { path: "disputes", title: "Disputes", load: () => import("./disputes/OperatorDisputesTab.browser.ts") },
    { path: "accounts", title: "Accounts", load: () => import("./accounts/AccountsTab.browser.ts") },
    { path: "payouts", title: "Payouts", load: () => import("./payouts/OperatorPayoutsTab.browser.ts") },
    { path: "losses", title: "Losses and claims", load: () => import("./losses/LossesTab.browser.ts") },
    { path: "log", title: "Log and witness", load: () => import("./log/LogTab.browser.ts") },
    { path: "jobs", title: "Jobs", load: () => import("./jobs/JobsTab.browser.ts") },
    { path: "audit", title: "Audit trail", load: () => import("./audit/AuditTab.browser.ts") }
  ]
})
