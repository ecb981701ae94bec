/**
 * Disputes a paid call, or leads to its dispute.
 */
import { Fragment } from "preact"
import type { Receipt } from "../../console/CallDetail.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Dispute, DISPUTE_REASONS, DISPUTES_PATH, reasonLabel } from "../../console/DisputeDetail.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { Empty, statusBadge } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { STATUSES } from "../disputes/DisputeStatuses.browser.ts"
import { disputedCalls } from "../disputes/DisputedCalls.browser.ts"

const DISPUTABLE_DAYS = 30
const DAY_MS = 86_400_000

export const CallDispute = ({ receipt }: { readonly receipt: Receipt }): View => {
  const { api } = useConsole()
  const dispute = useResource(async () => {
    // A dispute is filed after its call.
    const disputed = await disputedCalls(api, Date.parse(receipt.created_at))
    return disputed.get(receipt.receipt_id) ?? null
  }, [receipt.receipt_id])
  return h(
    "section",
    { id: "dispute" },
    h("h2", null, "Dispute"),
    h(Loaded<Dispute | null>, {
      of: dispute,
      show: (found) => (found === null ? h(NewDispute, { receipt, filed: dispute.reload }) : filedDispute(found))
    })
  )
}

const filedDispute = (dispute: Dispute): View =>
  h(
    "p",
    null,
    h("a", { href: pathTo("disputes", dispute.dispute_id) }, reasonLabel(dispute.reason)),
    " ",
    statusBadge(STATUSES, dispute.status)
  )

interface NewDisputeProps {
  readonly receipt: Receipt
  readonly filed: () => Promise<void>
}

const NewDispute = ({ filed, receipt }: NewDisputeProps): View => {
  const { api } = useConsole()
  if (receipt.cost_microcents === 0) return h(Empty, null, "This call was not charged, so there is nothing to dispute.")
  if (Date.now() - Date.parse(receipt.timestamp) > DISPUTABLE_DAYS * DAY_MS) {
    return h(Empty, null, `A call can be disputed for ${DISPUTABLE_DAYS} days.`)
  }
  return h(
    Fragment,
    null,
    h("p", { class: "muted" }, "If the provider does not respond within 7 days, you are refunded."),
    h(InputForm, {
      id: "new-dispute",
      submit: "File dispute",
      fields: [
        { name: "reason", label: "Reason", type: "select", choices: DISPUTE_REASONS, value: "quality" },
        { name: "description", label: "Description", type: "textarea", optional: true }
      ],
      send: async ({ description, reason }, idempotencyKey) => {
        const body = { receipt_id: receipt.receipt_id, reason, ...(description === "" ? {} : { description }) }
        await api.post(DISPUTES_PATH, body, idempotencyKey)
        await filed()
      }
    })
  )
}
