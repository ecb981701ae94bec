/**
 * The page /providers/dashboard: one panel beside the other, each of which loads and fails by itself.
 */
import { showDashboard } from "../kit/Dashboard.browser.ts"
import { documents } from "../kit/Documents.browser.ts"
import { byId } from "../kit/Dom.browser.ts"
import { keys } from "../kit/KeysPanel.browser.ts"
import { calls } from "./ProviderCalls.browser.ts"
import { disputes } from "./ProviderDisputes.browser.ts"
import { earnings } from "./ProviderEarnings.browser.ts"
import { payouts } from "./ProviderPayouts.browser.ts"
import { signing } from "./ProviderSigning.browser.ts"
import { standing } from "./ProviderStanding.browser.ts"
import { start } from "./ProviderStart.browser.ts"
import { tools } from "./ProviderTools.browser.ts"
import { signedIn, type Who } from "../kit/Session.browser.ts"

const place = byId("dashboard")

const show = (_key: string, who: Who): void => {
  const id = String(who["id"])
  const earned = earnings()
  const paid = payouts()
  const moneyMoved = () => void Promise.all([earned.reload(), paid.reload()])
  const begun = start(id, (hasCalls, isDone) => {
    place.classList.toggle("new", !hasCalls)
    place.classList.toggle("begun", isDone)
  })
  // There is nothing to see of money before the first call, but much to do.
  const ofCalls = [earned, calls(), disputes(moneyMoved), documents("provider")] as const
  for (const { element } of ofCalls) element.classList.add("later")
  begun.element.classList.add("first")
  place.classList.add("begun")
  const [, called, disputed, stated] = ofCalls
  const listed = tools(() => void begun.reload())
  showDashboard(place, "provider", String(who["name"]), [
    begun,
    earned,
    called,
    listed,
    paid,
    disputed,
    standing(id),
    stated,
    signing(),
    keys("provider", id)
  ])
}

void signedIn(place, "provider", show)
