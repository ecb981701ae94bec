/**
 * The page /providers/dashboard: one panel beside the other, each of which loads and fails by itself.
 */
import { documents } from "./Documents.ts"
import { byId, el, fill } from "./Dom.ts"
import { keys } from "./Keys.ts"
import { calls } from "./ProviderCalls.ts"
import { disputes } from "./ProviderDisputes.ts"
import { earnings } from "./ProviderEarnings.ts"
import { payouts } from "./ProviderPayouts.ts"
import { standing } from "./ProviderStanding.ts"
import { start } from "./ProviderStart.ts"
import { tools } from "./ProviderTools.ts"
import { signedIn, signOut, type Who } from "./Session.ts"

const place = byId("dashboard")

const WAYS = [
  ["earnings", "Earnings"],
  ["calls", "Calls"],
  ["payouts", "Payouts"],
  ["tools", "Tools"],
  ["disputes", "Disputes"],
  ["standing", "Trust"],
  ["documents", "Statements"],
  ["keys", "Keys"]
] as const

const show = (_key: string, who: Who): void => {
  const id = String(who["id"])
  const earned = earnings()
  const paid = payouts()
  const begun = start(id)
  const moneyMoved = () => void Promise.all([earned.reload(), paid.reload()])
  fill(
    place,
    el(
      "div",
      { class: "toolbar" },
      el("p", { class: "lead" }, String(who["name"])),
      el("div", { class: "actions" }, signOut("provider"))
    ),
    el(
      "nav",
      { class: "jump", "aria-label": "Parts of the dashboard" },
      WAYS.map(([to, name]) => el("a", { href: `#${to}` }, name))
    ),
    begun.element,
    earned.element,
    calls().element,
    paid.element,
    tools(id, () => void begun.reload()).element,
    disputes(moneyMoved).element,
    standing(id).element,
    documents("provider").element,
    keys("provider", id).element,
    el("p", { class: "small muted" }, "Provider ", el("code", {}, id))
  )
}

void signedIn(place, "provider", show)
