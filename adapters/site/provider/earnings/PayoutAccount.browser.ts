/**
 * The provider's account at the payment processor, which receives payouts.
 */
import { Fragment } from "preact"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Badges, Facts, Notice, statusBadge } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Connection, ConnectResponse } from "../../kit/ApiResponses.browser.ts"
import { CONNECT_PATH } from "./PayoutTerms.browser.ts"

type Status = Connection["status"]

const STATUSES: Badges<Status> = {
  not_started: ["Not set up", ""],
  pending: ["Pending", "info"],
  complete: ["Complete", "good"],
  restricted: ["Restricted", "bad"]
}

const MEANINGS: Readonly<Record<Status, string>> = {
  not_started: "The payment processor must verify your identity before it can pay you.",
  pending: "The payment processor is reviewing your account or needs more information.",
  complete: "Payouts are enabled.",
  restricted: "Payouts are disabled until you provide the required information."
}

export interface PayoutAccountProps {
  readonly connection: Connection
  readonly isDryRun: boolean
}

export const PayoutAccount = ({ connection, isDryRun }: PayoutAccountProps): View =>
  h(
    "section",
    { id: "payout-account" },
    h("h3", null, "Payout account"),
    isDryRun
      ? h(
          Notice,
          null,
          "This service runs in dry run mode: payouts are simulated, so you need no payout account. No money moves."
        )
      : h(Account, { connection })
  )

const Account = ({ connection }: { readonly connection: Connection }): View => {
  const { api } = useConsole()
  const { requirements, status, stripe_account_id: accountId } = connection
  return h(
    Fragment,
    null,
    h("p", null, statusBadge(STATUSES, status), " ", MEANINGS[status]),
    h(Facts, {
      all: [
        ["Account ID", accountId === null ? undefined : h("code", null, accountId)],
        ["Required now", listOf(requirements.currently_due)],
        ["Required later", listOf(requirements.eventually_due)],
        ["Errors", listOf(requirements.errors)]
      ]
    }),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: status === "not_started" ? "Set up payouts" : "Update payout account",
        style: status === "complete" ? "plain" : "",
        run: async (idempotencyKey) => {
          const { url } = await api.post<ConnectResponse>(CONNECT_PATH, {}, idempotencyKey)
          if (!/^https?:/u.test(url)) throw new Error(`The payment processor returned an invalid URL: ${url}`)
          location.assign(url)
          return "Opening the payment processor…"
        }
      })
    )
  )
}

const listOf = (all: ReadonlyArray<string>): ReadonlyArray<View> | undefined =>
  all.length === 0 ? undefined : all.map((one) => h("div", { key: one }, requirementLabel(one)))

/** Formats names of the processor such as `individual.dob.day`. */
const requirementLabel = (name: string): string => {
  if (!/^[\w.]+$/u.test(name)) return name
  const words = name.replaceAll("_", " ").replaceAll(".", ": ")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
