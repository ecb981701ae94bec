/**
 * Ends every session of the operator, such as one that was stolen.
 */
import { useConsole } from "../console/ConsoleContext.browser.ts"
import { InputForm } from "../console/InputForm.browser.ts"
import { forgetKey } from "../kit/Session.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { OPERATOR } from "./OperatorLists.browser.ts"

export const EndSessions = (): View => {
  const { api } = useConsole()
  return h(
    "details",
    { id: "end-sessions" },
    h("summary", null, "End all sessions"),
    h(
      "p",
      null,
      "Signs out everyone who is signed in as the operator, you included. The operator's key still signs in: change ",
      h("code", null, "OPERATOR_KEY"),
      " if others may know it."
    ),
    h(InputForm, {
      id: "end-all",
      submit: "End all sessions",
      fields: [{ name: "reason", label: "Reason", hint: "For the audit trail." }],
      send: async ({ reason }, idempotencyKey) => {
        await api.post(`${OPERATOR}/sessions/end`, { reason }, idempotencyKey)
        forgetKey("operator")
      }
    })
  )
}
