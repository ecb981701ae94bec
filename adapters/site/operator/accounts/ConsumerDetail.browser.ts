/**
 * One consumer with its money and its record; freeze and unfreeze.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { Badge, CopyValue, Facts, Figures, Notice, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { count, money, plural } from "../../kit/Format.browser.ts"
import { auditLink, OPERATOR } from "../lists/OperatorLists.browser.ts"
import type { Consumer } from "../lists/OperatorResponses.browser.ts"
import { FreezeForm } from "./FreezeForm.browser.ts"

export const ConsumerDetail = ({ id }: { readonly id: string }): View => {
  const { api } = useConsole()
  const path = `${OPERATOR}/consumers/${encodeURIComponent(id)}`
  const consumer = useResource(() => api.get<Consumer>(path), [id])
  return h(
    Fragment,
    null,
    h("a", { href: pathTo("accounts"), class: "back" }, "← All accounts"),
    h(Loaded<Consumer>, {
      of: consumer,
      show: (one) =>
        h(
          Fragment,
          null,
          h("h2", null, one.name),
          one.frozen ? h(Notice, { style: "bad" }, frozenBy(one), one.frozen_reason) : undefined,
          h(Figures, {
            all: [
              ["Available balance", money(one.available_microcents)],
              ["Reserved", money(one.held_microcents), "for calls in progress"],
              ["Owed", money(one.owed_microcents), "after chargebacks and refunds"],
              ["Disputes", count(one.disputes_filed), `${count(one.disputes_denied)} denied`]
            ]
          }),
          h(Facts, { all: factsOf(one) }),
          h(FreezeForm, {
            path,
            frozen: one.frozen,
            effect:
              "Its calls are rejected until you unfreeze it. Calls in progress end as usual, and the owner can still read and add funds.",
            end: "Its calls are accepted again. Known chargebacks do not freeze it again; a new one does.",
            changed: consumer.reload
          })
        )
    })
  )
}

const frozenBy = ({ frozen_at: at, frozen_by_operator: byOperator }: Consumer) => [
  byOperator ? "Frozen by the operator" : "Frozen by the service",
  at === null ? undefined : [" since ", h(TimeText, { at, key: "at" })],
  ": "
]

const factsOf = (one: Consumer) =>
  [
    ["Status", one.frozen ? h(Badge, { label: "Frozen", style: "bad" }) : h(Badge, { label: "Active", style: "good" })],
    ["ID", h(CopyValue, { name: "the ID", text: one.consumer_id })],
    ["Email", one.email],
    ["Registered", h(TimeText, { at: one.created_at })],
    ["Use case", one.use_case === "" ? undefined : one.use_case],
    ["Rate limit", `${count(one.rate_limit_rpm)} requests per minute`],
    ["Chargebacks", plural(one.chargebacks.length, "chargeback")],
    ["History", auditLink(one.consumer_id)]
  ] as const
