/**
 * One provider with its earnings, its fee and its reserve.
 */
import { Fragment } from "preact"
import { announce } from "../../console/Announcements.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { CopyValue, Facts, Figures, Notice, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { money } from "../../kit/Format.browser.ts"
import { auditLink, OPERATOR } from "../lists/OperatorLists.browser.ts"
import type { Provider } from "../lists/OperatorResponses.browser.ts"
import { FreezeForm } from "./FreezeForm.browser.ts"

type FeeChange = Provider["fee_changes"][number]

/** The history of a provider's fee. */
export const FeeChanges = ({ all }: { readonly all: ReadonlyArray<FeeChange> }): View =>
  h(DataTable<FeeChange>, {
    caption: "Changes of the fee",
    columns: COLUMNS,
    rows: all,
    keyOf: ({ changed_at: at, platform_fee_bps: points }) => `${at} ${points}`
  })

const percent = (points: number | null): string => (points === null ? "the default" : `${points / 100}%`)

const COLUMNS: ReadonlyArray<Column<FeeChange>> = [
  { name: "Changed", cell: ({ changed_at: at }) => h(TimeText, { at }) },
  { name: "Fee", cell: ({ platform_fee_bps: points }) => percent(points) },
  {
    name: "Announced fee",
    cell: ({ upcoming }) =>
      upcoming === null
        ? "–"
        : [`${percent(upcoming.platform_fee_bps)} from `, h(TimeText, { at: upcoming.effective_from, key: "from" })]
  },
  { name: "Changed by", cell: ({ changed_by: by }) => by },
  { name: "Reason", cell: ({ reason }) => reason ?? "–", isLong: true }
]

export const ProviderDetail = ({ id }: { readonly id: string }): View => {
  const { api } = useConsole()
  const path = `${OPERATOR}/providers/${encodeURIComponent(id)}`
  const provider = useResource(() => api.get<Provider>(path), [id])
  return h(
    Fragment,
    null,
    h("a", { href: `${pathTo("accounts")}?kind=providers`, class: "back" }, "← All providers"),
    h(Loaded<Provider>, {
      of: provider,
      show: (one) =>
        h(
          Fragment,
          null,
          h("h2", null, one.name),
          one.frozen_at === null
            ? undefined
            : h(
                Notice,
                { style: "bad" },
                "Frozen since ",
                h(TimeText, { at: one.frozen_at }),
                `: ${one.frozen_reason ?? ""}`
              ),
          h(Figures, {
            all: [
              ["Available earnings", money(one.available_microcents)],
              ["Maturing", money(one.maturing_microcents)],
              [
                "Reserved",
                money(one.reserved_microcents),
                one.reserve_lifted ? "the reserve is lifted" : "rolling reserve"
              ],
              ["Frozen", money(one.frozen_microcents), "by open disputes"],
              ["Owed", money(one.owed_microcents), "to consumers, for refunds"]
            ]
          }),
          h(Facts, { all: factsOf(one) }),
          h(
            "section",
            { id: "fee" },
            h("h2", null, "Platform fee"),
            h("p", null, "A lower fee applies at once, a higher one after the notice period. The provider sees both."),
            h(InputForm, {
              id: "set-fee",
              submit: "Set fee",
              style: "row",
              fields: [
                {
                  name: "platform_fee_bps",
                  label: "Fee in basis points",
                  type: "number",
                  value: String(one.platform_fee_bps),
                  hint: "100 basis points are 1%."
                },
                { name: "reason", label: "Reason", optional: true, hint: "For the history and the audit trail." }
              ],
              send: async ({ platform_fee_bps: points, reason }, idempotencyKey) => {
                await api.post(`${path}/platform-fee`, { platform_fee_bps: Number(points), reason }, idempotencyKey)
                await provider.reload()
                announce("good", "The fee is set.")
              }
            }),
            h(FeeChanges, { all: one.fee_changes })
          ),
          h(FreezeForm, {
            path,
            frozen: one.frozen,
            effect:
              "Its tools are not listed and cannot be called, and nothing is paid out until you unfreeze it. Calls in progress are settled, a " +
              "payout in progress ends, and refunds are taken from its earnings.",
            end: "Its tools are listed and can be called, and it can be paid out again.",
            changed: provider.reload
          })
        )
    })
  )
}

const feeOf = ({ is_default: isDefault, platform_fee_bps: points }: Provider): string =>
  `${points / 100}%${isDefault ? ", the default" : ""}`

const factsOf = (one: Provider) =>
  [
    ["ID", h(CopyValue, { name: "the ID", text: one.provider_id })],
    ["Handle", one.handle],
    ["Email", one.email],
    ["Endpoint", h("code", { class: "whole" }, one.endpoint_url)],
    ["Description", one.description === "" ? undefined : one.description],
    ["Registered", h(TimeText, { at: one.created_at })],
    ["Platform fee", feeOf(one)],
    [
      "Announced fee",
      one.upcoming === null
        ? undefined
        : [
            `${one.upcoming.platform_fee_bps / 100}% from `,
            h(TimeText, { at: one.upcoming.effective_from, key: "from" })
          ]
    ],
    ["Payout account", one.payout_account ?? "None yet"],
    ["Monthly payouts", one.automatic_payouts ? "On" : "Off"],
    ["History", auditLink(one.provider_id)]
  ] as const
