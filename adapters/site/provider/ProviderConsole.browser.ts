/**
 * The provider console: its tabs, in the order of the navigation.
 */
import { startConsole } from "../console/ConsoleShell.browser.ts"
import { identifyAccount } from "../console/SignInForm.browser.ts"
import { h } from "../console/View.browser.ts"

startConsole({
  role: "provider",
  path: "/provider",
  name: "Provider dashboard",
  keyLabel: "Your provider key",
  help: ["No key yet? ", h("a", { href: "/providers/register" }, "Register as a provider"), "."],
  identify: identifyAccount("provider"),
  tabs: [
    { path: "overview", title: "Overview", load: () => import("./overview/ProviderOverviewTab.browser.ts") },
    { path: "tools", title: "Tools", load: () => import("./tools/ProviderToolsTab.browser.ts") },
    { path: "calls", title: "Calls", load: () => import("./calls/ProviderCallsTab.browser.ts") },
    { path: "earnings", title: "Earnings and payouts", load: () => import("./earnings/EarningsTab.browser.ts") },
    { path: "trust", title: "Trust", load: () => import("./trust/TrustTab.browser.ts") },
    { path: "disputes", title: "Disputes", load: () => import("./disputes/ProviderDisputesTab.browser.ts") },
    { path: "settings", title: "Settings", load: () => import("./settings/ProviderSettingsTab.browser.ts") }
  ]
})
