/**
 * Everything that the operator changed.
 */
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column, timeColumn } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { place, setQuery } from "../../console/Place.browser.ts"
import { h, section, type View } from "../../console/View.browser.ts"
import { forgetKey } from "../../kit/Session.browser.ts"
import {
  type AuditTrail,
  consumerLink,
  disputeLink,
  OPERATOR,
  providerLink,
  rowsOf
} from "../lists/OperatorLists.browser.ts"

/** Ends every session of the operator, such as one that was stolen. */
const EndSessions = (): View => {
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

type Entry = AuditTrail["entries"][number]

const ACTIONS: Readonly<Record<Entry["action"], string>> = {
  "session.create": "Signed in",
  "session.end": "Signed out",
  "session.end_all": "Ended all sessions",
  "account.freeze": "Froze an account",
  "account.unfreeze": "Unfroze an account",
  "provider.freeze": "Froze a provider",
  "provider.unfreeze": "Unfroze a provider",
  "payout.retry": "Retried a payout",
  "dispute.decide": "Decided a dispute",
  "funds.move": "Moved platform funds",
  "reserve.set": "Set a reserve",
  "platform_fee.set": "Set a platform fee",
  "handle.set": "Changed a handle",
  "invoices.run": "Issued documents",
  "invoice.credit": "Credited an invoice",
  "schema.update": "Updated the schema"
}

export const tab = (): View => {
  const { api } = useConsole()
  const subject = place.value.query.get("subject") ?? undefined
  return section(
    "audit",
    subject === undefined
      ? undefined
      : h(
          "p",
          null,
          "Only entries about ",
          h("code", null, subject),
          ". ",
          h("button", { type: "button", class: "plain tiny", onClick: () => setQuery({ subject: "" }) }, "Show all")
        ),
    h(ListView<Entry>, {
      id: "audit-trail",
      caption: "Audit trail",
      filters: [{ name: "action", label: "Action", choices: [["", "All"], ...Object.entries(ACTIONS)] }],
      version: subject,
      load: (cursor, { action }) =>
        rowsOf<"entries", Entry>(api, "/audit-trail", "entries")(cursor, { action, subject }),
      keyOf: ({ entry_id }) => entry_id,
      textOf: (one) => `${one.actor} ${one.subject ?? ""} ${one.reason ?? ""} ${one.details ?? ""} ${one.address}`,
      columns: COLUMNS,
      empty: "Nothing was changed yet. Each action of the operator appears here, with name, time and reason."
    }),
    h(EndSessions, null)
  )
}

const COLUMNS: ReadonlyArray<Column<Entry>> = [
  timeColumn("Time", ({ at }) => at),
  column("Action", ({ action }) => action, { cell: ({ action }) => ACTIONS[action] }),
  column("By", ({ actor }) => actor, {
    cell: ({ actor, address }) => [actor, h("div", { class: "small muted" }, address)]
  }),
  { name: "Subject", cell: subjectOf, csv: ({ subject }) => subject ?? "" },
  { name: "Reason", cell: ({ reason }) => reason ?? "–", isLong: true, csv: ({ reason }) => reason ?? "" },
  {
    name: "Request",
    cell: ({ details }) => (details === null ? "–" : h("code", { class: "whole" }, details)),
    isLong: true,
    csv: ({ details }) => details ?? ""
  }
]

function subjectOf({ action, subject }: Entry) {
  if (subject === null) return "–"
  if (action.startsWith("account.")) return consumerLink(subject)
  if (action === "dispute.decide") return disputeLink(subject)
  return action.startsWith("provider.") || ["reserve.set", "platform_fee.set", "handle.set"].includes(action)
    ? providerLink(subject)
    : subject
}
