/**
 * Recorded losses, movements of platform funds that cover them, claims and chargebacks.
 */
import type { ComponentChildren } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, moneyColumn } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { type Badges, figures, h, section, statusBadge, TimeText } from "../../console/View.browser.ts"
import { invalid } from "../../kit/ApiRequest.browser.ts"
import { MICROCENTS_PER_CENT, money, moneyOfCents, parseDollars } from "../../kit/Format.browser.ts"
import {
  type Chargebacks,
  type Claims,
  consumerLink,
  disputeLink,
  named,
  namedId,
  OPERATOR,
  providerLink,
  rowsOf,
  type Solvency
} from "../lists/OperatorLists.browser.ts"

type Claim = Claims["claims"][number]
type Chargeback = Chargebacks["chargebacks"][number]

export const tab = (): ComponentChildren => {
  const { api } = useConsole()
  const solvency = useResource(() => api.get<Solvency>(`${OPERATOR}/solvency`), [])
  return [
    section(
      "losses",
      loaded(solvency, (found) =>
        figures([
          ["Losses to cover", money(found.shortfall_microcents)],
          ["Platform funds", money(found.platform_funds_microcents)],
          ["Owed by providers", money(found.claims_on_providers_microcents), "to consumers"],
          ["Owed by the platform", money(found.claims_on_platform_microcents), "to consumers"],
          ["Advanced", money(found.advanced_microcents), "for providers"]
        ])
      ),
      h("h2", null, "Platform funds"),
      h(InputForm, {
        id: "funds",
        submit: "Record movement",
        fields: [
          {
            name: "action",
            label: "Movement",
            type: "select",
            choices: [
              ["deposit", "Deposit: you added money to the processor's account"],
              ["cover_losses", "Cover losses from platform funds"],
              ["withdraw", "Withdraw: you took out fees or deposits"]
            ]
          },
          { name: "amount_cents", label: "Amount in dollars", type: "number" },
          {
            name: "reference",
            label: "Reference",
            hint: "Of your own accounting. A movement with the same reference is recorded once."
          }
        ],
        send: async ({ action, amount_cents: dollars, reference }, idempotencyKey) => {
          const cents = (parseDollars(dollars) ?? Number.NaN) / MICROCENTS_PER_CENT
          if (!Number.isInteger(cents)) throw invalid({ amount_cents: "Enter dollars and cents, such as 5.00." })
          await api.post(`${OPERATOR}/funds`, { action, amount_cents: cents, reference }, idempotencyKey)
          await solvency.reload()
          return "The movement is recorded."
        }
      })
    ),
    section(
      "claims",
      h("h2", null, "Claims"),
      h(
        "p",
        null,
        "Refunds that were decided when the debtor had too little money. They are paid from its next earnings."
      ),
      h(ListView<Claim>, {
        id: "claims",
        caption: "Claims",
        filters: [
          {
            name: "open",
            label: "Claims",
            choices: [
              ["", "All"],
              ["true", "Open"]
            ]
          }
        ],
        load: rowsOf<"claims", Claim>(api, "/claims", "claims"),
        keyOf: ({ claim_id }) => claim_id,
        textOf: (one) => [one.dispute_id, one.debtor_name, one.debtor_id, one.creditor_name, one.creditor_id].join(" "),
        columns: CLAIM_COLUMNS,
        empty: "No claims: every refund was paid at its decision."
      })
    ),
    section(
      "chargebacks",
      h("h2", null, "Chargebacks"),
      h(ListView<Chargeback>, {
        id: "chargebacks",
        caption: "Chargebacks",
        load: rowsOf<"chargebacks", Chargeback>(api, "/chargebacks", "chargebacks"),
        keyOf: ({ chargeback_id }) => chargeback_id,
        textOf: (one) => `${one.chargeback_id} ${one.consumer_name} ${one.consumer_id}`,
        columns: CHARGEBACK_COLUMNS,
        empty: "No chargebacks: no payment was disputed at a bank."
      })
    )
  ]
}

const CLAIM_COLUMNS: ReadonlyArray<Column<Claim>> = [
  { name: "Since", cell: ({ created_at: at }) => h(TimeText, { at }), csv: ({ created_at: at }) => at },
  { name: "Dispute", cell: ({ dispute_id: id }) => disputeLink(id), csv: ({ dispute_id: id }) => id },
  {
    name: "Owed by",
    cell: ({ debtor_id: id, debtor_name: name }) => (id === null ? "Platform" : named(providerLink, name ?? id, id)),
    csv: ({ debtor_id: id, debtor_name: name }) => (id === null ? "platform" : namedId(name ?? id, id))
  },
  {
    name: "Owed to",
    cell: ({ creditor_id: id, creditor_name: name }) =>
      id === null ? "Platform" : named(consumerLink, name ?? id, id),
    csv: ({ creditor_id: id, creditor_name: name }) => (id === null ? "platform" : namedId(name ?? id, id))
  },
  moneyColumn("Amount", (one) => one.amount_microcents),
  { name: "Paid", cell: (one) => money(one.paid_microcents), isNumber: true, csv: (one) => money(one.paid_microcents) }
]

const STATES: Badges<Chargeback["state"]> = { open: ["Open", "info"], won: ["Won", "good"], lost: ["Lost", "bad"] }

const CHARGEBACK_COLUMNS: ReadonlyArray<Column<Chargeback>> = [
  { name: "Opened", cell: ({ opened_at: at }) => h(TimeText, { at }), csv: ({ opened_at: at }) => at },
  {
    name: "Consumer",
    cell: (one) => named(consumerLink, one.consumer_name, one.consumer_id),
    csv: (one) => namedId(one.consumer_name, one.consumer_id)
  },
  {
    name: "Amount",
    cell: (one) => moneyOfCents(one.amount_cents),
    isNumber: true,
    csv: (one) => moneyOfCents(one.amount_cents)
  },
  { name: "Decision", cell: ({ state }) => statusBadge(STATES, state), csv: ({ state }) => state },
  { name: "Funds", cell: ({ funds }) => funds, csv: ({ funds }) => funds }
]
