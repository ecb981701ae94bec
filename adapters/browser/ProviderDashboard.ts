/**
 * The page /providers/dashboard: one panel beside the other, each of which loads and fails by itself.
 */
import { documents } from "./Documents.ts"
import { byId, el, fill } from "./Dom.ts"
import { keys } from "./Keys.ts"
import type { Panel } from "./Panel.ts"
import { calls } from "./ProviderCalls.ts"
import { disputes } from "./ProviderDisputes.ts"
import { earnings } from "./ProviderEarnings.ts"
import { payouts } from "./ProviderPayouts.ts"
import { standing } from "./ProviderStanding.ts"
import { start } from "./ProviderStart.ts"
import { tools } from "./ProviderTools.ts"
import { signedIn, signOut, type Who } from "./Session.ts"

const place = byId("dashboard")

const show = (_key: string, who: Who): void => {
  const id = String(who["id"])
  const earned = earnings()
  const paid = payouts()
  const moneyMoved = () => void Promise.all([earned.reload(), paid.reload()])
  const begun = start(id, (isNew) => place.classList.toggle("new", isNew))
  /** In this order. Some have nothing to show before the first call. */
  const parts: ReadonlyArray<readonly [panel: Panel, name: string, needsCalls: boolean]> = [
    [begun, "First steps", false],
    [earned, "Earnings", true],
    [calls(), "Calls", true],
    [tools(id, () => void begun.reload()), "Tools", false],
    [paid, "Payouts", false],
    [disputes(moneyMoved), "Disputes", true],
    [standing(id), "Trust", false],
    [documents("provider"), "Statements", true],
    [keys("provider", id), "Keys", false]
  ]
  for (const [{ element }, , needsCalls] of parts) element.classList.toggle("later", needsCalls)
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
      parts
        .slice(1)
        .map(([{ element }, name, needsCalls]) =>
          el("a", { href: `#${element.id}`, class: needsCalls ? "later" : "" }, name)
        )
    ),
    parts.map(([{ element }]) => element),
    el("p", { class: "small muted" }, "Provider ", el("code", {}, id))
  )
}

void signedIn(place, "provider", show)
