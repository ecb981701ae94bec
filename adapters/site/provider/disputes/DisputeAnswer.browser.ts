/**
 * The provider's answer to a dispute: refund the call, or contest the claim.
 */
import { Fragment } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Dispute, DISPUTES_PATH } from "../../console/DisputeTerms.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { DisputeResponse } from "../../kit/ApiResponses.browser.ts"
import { money } from "../../kit/Format.browser.ts"

export interface DisputeAnswerProps {
  readonly dispute: Dispute
  readonly answered: () => Promise<void>
}

export const DisputeAnswer = ({ answered, dispute }: DisputeAnswerProps): View => {
  const { api } = useConsole()
  const cost = money(dispute.cost_microcents)
  const respond = (body: object, idempotencyKey: string) =>
    api.post<DisputeResponse>(`${DISPUTES_PATH}/${dispute.dispute_id}/respond`, body, idempotencyKey)
  return h(
    "section",
    { id: "answer" },
    h("h2", null, "Your response"),
    h(
      "p",
      null,
      "Refund the call if the developer is right. Otherwise contest the dispute: the operator then decides within 30 days."
    ),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: `Refund ${cost}`,
        style: "danger",
        confirm: {
          title: `Refund ${cost}?`,
          text: h(
            Fragment,
            null,
            h(
              "p",
              null,
              "The refund is paid from your balance; your next earnings cover the rest. The platform refunds its fee."
            ),
            h("p", null, "This cannot be undone, and counts as a lost dispute.")
          ),
          action: "Refund",
          isDangerous: true
        },
        run: async (idempotencyKey) => {
          const { outstanding_microcents: owed, refunded_microcents: paid } = await respond(
            { action: "accept" },
            idempotencyKey
          )
          await answered()
          const rest = owed > 0 ? ` You owe ${money(owed)}, which your next earnings pay.` : ""
          return `Dispute accepted: ${money(paid)} refunded to the developer.${rest}`
        }
      })
    ),
    h(InputForm, {
      id: "contest",
      submit: "Contest dispute",
      fields: [
        {
          name: "message",
          label: "Response",
          type: "textarea",
          hint: "Visible to the developer and the operator. Without a decision within 30 days, the developer is refunded."
        }
      ],
      send: async ({ message }, idempotencyKey) => {
        await respond({ action: "contest", message }, idempotencyKey)
        await answered()
        announce("good", "Dispute contested. The operator decides within 30 days.")
      }
    })
  )
}
