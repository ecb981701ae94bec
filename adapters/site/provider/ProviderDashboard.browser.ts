/**
 * The provider dashboard.
 */
import { showDashboard } from "../kit/Dashboard.browser.ts"
import { byId } from "../kit/Dom.browser.ts"
import { invoicesPanel } from "../kit/InvoicesPanel.browser.ts"
import { keysPanel } from "../kit/KeysPanel.browser.ts"
import { signIn } from "../kit/Session.browser.ts"
import { callsPanel } from "./ProviderCalls.browser.ts"
import { disputesPanel } from "./ProviderDisputes.browser.ts"
import { earningsPanel } from "./ProviderEarnings.browser.ts"
import { mcpPanel } from "./ProviderMcp.browser.ts"
import { onboardingPanel } from "./ProviderOnboarding.browser.ts"
import { payoutsPanel } from "./ProviderPayouts.browser.ts"
import { signingPanel } from "./ProviderSigning.browser.ts"
import { toolsPanel } from "./ProviderTools.browser.ts"
import { trustPanel } from "./TrustPanel.browser.ts"

const place = byId("dashboard")

void signIn(place, "provider", (account) => {
  const id = String(account["id"])
  const earnings = earningsPanel()
  const payouts = payoutsPanel()
  const calls = callsPanel()
  const disputes = disputesPanel(() => void Promise.all([earnings.reload(), payouts.reload()]))
  const statements = invoicesPanel("provider")
  const onboarding = onboardingPanel(id, (hasCalls, isDone) => {
    place.classList.toggle("no-calls", !hasCalls)
    place.classList.toggle("onboarded", isDone)
  })
  const tools = toolsPanel(() => void onboarding.reload())
  // Hidden until the first call.
  for (const { element } of [earnings, calls, disputes, statements]) element.classList.add("after-first-call")
  onboarding.element.classList.add("onboarding")
  place.classList.add("onboarded")
  showDashboard(place, "provider", String(account["name"]), [
    onboarding,
    earnings,
    calls,
    tools,
    payouts,
    disputes,
    trustPanel(id),
    statements,
    mcpPanel(),
    signingPanel(),
    keysPanel("provider", id)
  ])
})
