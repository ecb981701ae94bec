/**
 * The switch for automatic payouts.
 */
import { useMemo, useState } from "preact/hooks"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { errorMessage, idempotentRequest } from "../../kit/ApiRequest.browser.ts"
import type { Payouts } from "../../kit/ApiResponses.browser.ts"
import { PAYOUTS_PATH } from "./PayoutTerms.browser.ts"

export const AutomaticPayouts = ({ payouts }: { readonly payouts: Payouts }): View => {
  const { api } = useConsole()
  const request = useMemo(idempotentRequest, [])
  const [isOn, setOn] = useState(payouts.automatic)
  const [isSaving, setSaving] = useState(false)
  const change = async (enabled: boolean) => {
    setOn(enabled)
    setSaving(true)
    try {
      await api.post(`${PAYOUTS_PATH}/automatic`, { enabled }, request.keyFor(String(enabled)))
      request.finished()
      announce(
        "good",
        enabled
          ? `Automatic payouts are on: monthly, from ${payouts.minimum_payout}.`
          : "Automatic payouts are off. Request payouts here."
      )
    } catch (error) {
      request.finished(error)
      setOn(!enabled)
      announce("bad", errorMessage(error))
    } finally {
      setSaving(false)
    }
  }
  return h(
    "p",
    null,
    h(
      "label",
      { for: "automatic" },
      h("input", {
        id: "automatic",
        type: "checkbox",
        role: "switch",
        checked: isOn,
        // Disabling it would lose the focus.
        "aria-disabled": isSaving ? "true" : "false",
        onClick: (event: Event) => {
          if (isSaving) event.preventDefault()
        },
        onChange: ({ currentTarget }: Event) => void change((currentTarget as HTMLInputElement).checked)
      }),
      "Pay out automatically on the first days of each month (UTC)"
    )
  )
}
