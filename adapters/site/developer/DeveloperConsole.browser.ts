/**
 * The developer console: its tabs, in the order of the navigation.
 */
import { startConsole } from "../console/ConsoleShell.browser.ts"
import { identifyAccount } from "../console/SignInForm.browser.ts"
import { h } from "../console/View.browser.ts"

startConsole({
  role: "consumer",
  path: "/developer",
  name: "Developer dashboard",
  keyLabel: "Your developer key",
  help: ["No key yet? ", h("a", { href: "/developers/register" }, "Register as a developer"), "."],
  identify: identifyAccount("consumer"),
  tabs: [
    { path: "overview", title: "Overview", load: () => import("./overview/DeveloperOverviewTab.browser.ts") },
    { path: "calls", title: "Calls", load: () => import("./calls/DeveloperCallsTab.browser.ts") },
    { path: "keys", title: "Keys", load: () => import("./keys/DeveloperKeysTab.browser.ts") },
    { path: "budgets", title: "Budgets", load: () => import("./budgets/BudgetsTab.browser.ts") },
    { path: "funds", title: "Funds", load: () => import("./funds/FundsTab.browser.ts") },
    { path: "invoices", title: "Invoices", load: () => import("./invoices/InvoicesTab.browser.ts") },
    { path: "disputes", title: "Disputes", load: () => import("./disputes/DeveloperDisputesTab.browser.ts") },
    { path: "connect", title: "Connect a client", load: () => import("./connect/ConnectTab.browser.ts") },
    { path: "settings", title: "Settings", load: () => import("./settings/DeveloperSettingsTab.browser.ts") }
  ]
})
