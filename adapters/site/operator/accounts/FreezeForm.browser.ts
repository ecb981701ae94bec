/**
 * Freezes and unfreezes an account, with a reason.
 */
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

export interface FreezeProps {
  /** Of the account at the API. */
  readonly path: string
  readonly frozen: boolean
  /** What a freeze means for this account, and its end. */
  readonly effect: string
  readonly end: string
  readonly changed: () => Promise<void>
}

export const FreezeForm = ({ changed, effect, end, frozen, path }: FreezeProps): View => {
  const { api } = useConsole()
  const [verb, done] = frozen ? (["unfreeze", "unfrozen"] as const) : (["freeze", "frozen"] as const)
  return h(
    "section",
    { id: "freeze", key: verb },
    h("h2", null, frozen ? "Unfreeze the account" : "Freeze the account"),
    h("p", null, frozen ? end : effect),
    h(InputForm, {
      id: verb,
      submit: frozen ? "Unfreeze account" : "Freeze account",
      fields: [
        {
          name: "reason",
          label: "Reason",
          hint: frozen ? "For the audit trail." : "The account's owner sees it, and the audit trail records it."
        }
      ],
      send: async ({ reason }, idempotencyKey) => {
        await api.post(`${path}/${verb}`, { reason }, idempotencyKey)
        await changed()
        announce("good", `The account is ${done}.`)
      }
    })
  )
}
