/**
 * Accounts of consumers and providers: search, details, freeze and unfreeze.
 */
import type { ComponentChildren } from "preact"
import { announce } from "../../console/Announcements.browser.ts"
import { type TabProps, useConsole } from "../../console/ConsoleContext.browser.ts"
import { type Column, column, DataTable, timeColumn } from "../../console/DataTable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { ListView } from "../../console/ListView.browser.ts"
import { pathTo, place, setQuery } from "../../console/Place.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import {
  Badge,
  Choice,
  CopyValue,
  facts,
  figures,
  h,
  Notice,
  section,
  TimeText,
  type View
} from "../../console/View.browser.ts"
import { count, money, plural } from "../../kit/Format.browser.ts"
import {
  auditLink,
  type Consumer,
  consumerLink,
  type Consumers,
  OPERATOR,
  type Provider,
  providerLink,
  type Providers,
  rowsOf,
  shortId
} from "../lists/OperatorLists.browser.ts"

type ConsumerRow = Consumers["consumers"][number]
type ProviderRow = Providers["providers"][number]

const KINDS = [
  ["", "Consumers"],
  ["frozen", "Frozen consumers"],
  ["providers", "Providers"]
] as const

/** The address names what a row is of: `consumer-…` or `provider-…`. */
const DETAIL = /^(consumer|provider)-(.+)$/u

export const tab = ({ detail }: TabProps): View => {
  const [, role, id] = DETAIL.exec(detail ?? "") ?? []
  if (id !== undefined) return role === "consumer" ? h(ConsumerDetail, { id }) : h(ProviderDetail, { id })
  const { query } = place.value
  const kind = query.get("kind") ?? ""
  const search = kind === "frozen" ? undefined : (query.get("find") ?? undefined)
  return section(
    "accounts",
    h(
      "form",
      {
        class: "filters",
        role: "search",
        onSubmit: (event: Event) => {
          event.preventDefault()
          const values = new FormData(event.currentTarget as HTMLFormElement)
          setQuery({ kind: String(values.get("kind")), find: String(values.get("find") ?? "").trim() })
        }
      },
      h(Choice, {
        id: "accounts-kind",
        name: "kind",
        label: "Accounts",
        choices: KINDS,
        value: kind,
        changed: (value) => setQuery({ kind: value, find: "" })
      }),
      kind === "frozen"
        ? undefined
        : [
            h("input", {
              key: kind,
              type: "search",
              name: "find",
              "aria-label": "Find an account",
              placeholder: "Name, email or ID",
              minLength: 2,
              defaultValue: search ?? ""
            }),
            h("button", { type: "submit", class: "plain tiny" }, "Find")
          ]
    ),
    kind === "providers" ? h(ProviderList, { key: "providers", search }) : h(ConsumerList, { key: kind, kind, search })
  )
}

interface ListProps {
  readonly kind?: string
  readonly search: string | undefined
}

const ConsumerList = ({ kind, search }: ListProps): View => {
  const { api } = useConsole()
  const frozen = kind === "frozen" ? "true" : undefined
  return h(ListView<ConsumerRow>, {
    id: "consumers",
    caption: "Consumers",
    version: search,
    load: (cursor) => rowsOf<"consumers", ConsumerRow>(api, "/consumers", "consumers")(cursor, { search, frozen }),
    keyOf: ({ consumer_id }) => consumer_id,
    columns: CONSUMER_COLUMNS,
    empty: frozen === undefined ? found(search) : "No account is frozen."
  })
}

const ProviderList = ({ search }: ListProps): View => {
  const { api } = useConsole()
  return h(ListView<ProviderRow>, {
    id: "providers",
    caption: "Providers",
    version: search,
    load: (cursor) => rowsOf<"providers", ProviderRow>(api, "/providers", "providers")(cursor, { search }),
    keyOf: ({ provider_id }) => provider_id,
    columns: PROVIDER_COLUMNS,
    empty: found(search)
  })
}

const found = (search: string | undefined): string =>
  search === undefined
    ? "No accounts yet. They appear here when they register."
    : "No account has this ID, or begins with this text."

const CONSUMER_COLUMNS: ReadonlyArray<Column<ConsumerRow>> = [
  column("Name", ({ name }) => name, { cell: ({ consumer_id: id, name }) => consumerLink(id, name) }),
  column("Email", ({ email }) => email),
  timeColumn("Registered", (one) => one.created_at),
  column("Status", ({ frozen }) => (frozen ? 1 : 0), {
    cell: ({ frozen, frozen_reason: reason }) => [
      freezeBadge(frozen),
      frozen ? h("div", { class: "small muted", key: "reason" }, reason) : undefined
    ],
    csv: ({ frozen, frozen_reason: reason }) => (frozen ? `frozen: ${reason ?? ""}` : "active")
  }),
  { name: "ID", cell: ({ consumer_id: id }) => shortId(id), csv: ({ consumer_id: id }) => id }
]

const PROVIDER_COLUMNS: ReadonlyArray<Column<ProviderRow>> = [
  column("Name", ({ name }) => name, { cell: ({ name, provider_id: id }) => providerLink(id, name) }),
  column("Handle", ({ handle }) => handle),
  column("Email", ({ email }) => email),
  timeColumn("Registered", (one) => one.created_at),
  column("Status", ({ frozen }) => (frozen ? 1 : 0), {
    cell: ({ frozen }) => freezeBadge(frozen),
    csv: ({ frozen }) => (frozen ? "frozen" : "active")
  }),
  { name: "ID", cell: ({ provider_id: id }) => shortId(id), csv: ({ provider_id: id }) => id }
]

const freezeBadge = (frozen: boolean): View =>
  frozen ? h(Badge, { label: "Frozen", style: "bad" }) : h(Badge, { label: "Active", style: "good" })

// One consumer with its money and its record; freeze and unfreeze.

const ConsumerDetail = ({ id }: { readonly id: string }): ComponentChildren => {
  const { api } = useConsole()
  const path = `${OPERATOR}/consumers/${encodeURIComponent(id)}`
  const consumer = useResource(() => api.get<Consumer>(path), [id])
  return [
    h("a", { href: pathTo("accounts"), class: "back" }, "← All accounts"),
    loaded(consumer, (one) => [
      h("h2", null, one.name),
      one.frozen ? h(Notice, { style: "bad" }, frozenBy(one), one.frozen_reason) : undefined,
      figures([
        ["Available balance", money(one.available_microcents)],
        ["Reserved", money(one.held_microcents), "for calls in progress"],
        ["Owed", money(one.owed_microcents), "after chargebacks and refunds"],
        ["Disputes", count(one.disputes_filed), `${count(one.disputes_denied)} denied`]
      ]),
      facts(consumerFacts(one)),
      h(FreezeForm, {
        path,
        frozen: one.frozen,
        effect:
          "Its calls are rejected until you unfreeze it. Calls in progress end as usual, and the owner can still read and add funds.",
        end: "Its calls are accepted again. Known chargebacks do not freeze it again; a new one does.",
        changed: consumer.reload
      })
    ])
  ]
}

const frozenBy = ({ frozen_at: at, frozen_by_operator: byOperator }: Consumer) => [
  byOperator ? "Frozen by the operator" : "Frozen by the service",
  at === null ? undefined : [" since ", h(TimeText, { at, key: "at" })],
  ": "
]

const consumerFacts = (one: Consumer) =>
  [
    ["Status", freezeBadge(one.frozen)],
    ["ID", h(CopyValue, { name: "the ID", text: one.consumer_id })],
    ["Email", one.email],
    ["Registered", h(TimeText, { at: one.created_at })],
    ["Use case", one.use_case === "" ? undefined : one.use_case],
    ["Rate limit", `${count(one.rate_limit_rpm)} requests per minute`],
    ["Chargebacks", plural(one.chargebacks.length, "chargeback")],
    ["History", auditLink(one.consumer_id)]
  ] as const

// One provider with its earnings, its fee and its reserve.

type FeeChange = Provider["fee_changes"][number]

/** The history of a provider's fee. */
const FeeChanges = ({ all }: { readonly all: ReadonlyArray<FeeChange> }): View =>
  h(DataTable<FeeChange>, {
    caption: "Changes of the fee",
    columns: FEE_COLUMNS,
    rows: all,
    keyOf: ({ changed_at: at, platform_fee_bps: points }) => `${at} ${points}`
  })

const percent = (points: number | null): string => (points === null ? "the default" : `${points / 100}%`)

const FEE_COLUMNS: ReadonlyArray<Column<FeeChange>> = [
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

const ProviderDetail = ({ id }: { readonly id: string }): ComponentChildren => {
  const { api } = useConsole()
  const path = `${OPERATOR}/providers/${encodeURIComponent(id)}`
  const provider = useResource(() => api.get<Provider>(path), [id])
  return [
    h("a", { href: `${pathTo("accounts")}?kind=providers`, class: "back" }, "← All providers"),
    loaded(provider, (one) => [
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
      figures([
        ["Available earnings", money(one.available_microcents)],
        ["Maturing", money(one.maturing_microcents)],
        ["Reserved", money(one.reserved_microcents), one.reserve_lifted ? "the reserve is lifted" : "rolling reserve"],
        ["Frozen", money(one.frozen_microcents), "by open disputes"],
        ["Owed", money(one.owed_microcents), "to consumers, for refunds"]
      ]),
      facts(providerFacts(one)),
      section(
        "fee",
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
    ])
  ]
}

const feeOf = ({ is_default: isDefault, platform_fee_bps: points }: Provider): string =>
  `${points / 100}%${isDefault ? ", the default" : ""}`

const providerFacts = (one: Provider) =>
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

// Freezes and unfreezes an account, with a reason.

interface FreezeProps {
  readonly path: string
  readonly frozen: boolean
  /** Both say what happens to the account. */
  readonly effect: string
  readonly end: string
  readonly changed: () => Promise<void>
}

const FreezeForm = ({ changed, effect, end, frozen, path }: FreezeProps): View => {
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
