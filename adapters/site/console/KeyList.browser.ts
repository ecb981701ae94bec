/**
 * API keys of the account: create, rotate, revoke.
 */
import { useState } from "preact/hooks"
import type { Keys, NewKey } from "../kit/ApiResponses.browser.ts"
import { forgetKey, storeKey } from "../kit/Session.browser.ts"
import { ActionButton } from "./ActionButton.browser.ts"
import { announce } from "./Announcements.browser.ts"
import { type ConsoleContext, useConsole } from "./ConsoleContext.browser.ts"
import { type Column, column, statusColumn, timeColumn } from "./DataTable.browser.ts"
import { InputForm } from "./InputForm.browser.ts"
import { ListView } from "./ListView.browser.ts"
import { NewKeyCard } from "./NewKeyCard.browser.ts"
import { Badge, type Badges, h, section, TimeText, type View } from "./View.browser.ts"

type Key = Keys["keys"][number]

const PATH = "/api/v1/market/keys"
const DAY_MS = 86_400_000

const LIFETIMES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"]
] as const

const GRACE_PERIODS = [
  ["0", "Immediately"],
  ["3600", "In an hour"],
  ["86400", "In a day"],
  ["604800", "In 7 days"]
] as const
const GRACE_DEFAULT = "86400"

const STATUSES: Badges<Key["status"]> = {
  active: ["Active", "good"],
  revoked: ["Revoked", "bad"],
  expired: ["Expired", ""]
}

export const KeyList = (): View => {
  const console = useConsole()
  const { account, api } = console
  const [created, setCreated] = useState<string>()
  const [version, setVersion] = useState(0)
  const changed = (key?: string) => {
    if (key !== undefined) setCreated(key)
    setVersion((before) => before + 1)
  }
  return section(
    "keys",
    h(
      "div",
      { "aria-live": "polite" },
      created === undefined ? undefined : h(NewKeyCard, { apiKey: created, ownerId: account.id })
    ),
    h(InputForm, {
      id: "new-key-form",
      style: "row",
      submit: "Create key",
      fields: [
        { name: "label", label: "Label", optional: true, placeholder: "staging" },
        { name: "expires_at", label: "Expires", type: "select", choices: LIFETIMES, optional: true }
      ],
      send: async ({ expires_at: days, label }, idempotencyKey) => {
        const body = {
          ...(label === "" ? {} : { label }),
          ...(days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() })
        }
        changed((await api.post<NewKey>(PATH, body, idempotencyKey)).api_key)
      }
    }),
    h(ListView<Key>, {
      id: "keys",
      caption: "API keys",
      version,
      load: async () => ({ rows: (await api.get<Keys>(PATH)).keys, next: null }),
      keyOf: ({ key_id }) => key_id,
      textOf: (key) => `${key.label} ${key.api_key_prefix}`,
      empty: "No keys.",
      columns: columnsOf(console, changed)
    })
  )
}

const columnsOf = (console: ConsoleContext, changed: (key?: string) => void): ReadonlyArray<Column<Key>> => [
  {
    name: "Key",
    cell: (key) => h("code", { class: "short" }, `${key.api_key_prefix}…`),
    csv: (key) => key.api_key_prefix
  },
  column("Label", ({ label }) => label, {
    cell: (key) => [
      key.label === "" ? "–" : key.label,
      " ",
      key.current ? h(Badge, { key: "current", label: "Current", style: "info" }) : ""
    ]
  }),
  statusColumn("Status", STATUSES, ({ status }) => status),
  timeColumn("Created", (key) => key.created_at),
  {
    name: "Expires",
    cell: (key) => {
      const end = endOf(key)
      return end === undefined ? "Never" : h(TimeText, { at: end })
    },
    csv: (key) => endOf(key) ?? ""
  },
  {
    name: "",
    cell: (key) =>
      key.status === "active"
        ? h(
            "div",
            { class: "actions tight" },
            h(RotateButton, { of: key, console, changed }),
            h(RevokeButton, { of: key, console, changed })
          )
        : undefined
  }
]

const endOf = ({ expires_at: expires, revoked_at: revoked }: Key): string | undefined =>
  [expires, revoked].filter((at) => at !== null).toSorted()[0]

const nameOf = (key: Key): string => (key.label === "" ? `${key.api_key_prefix}…` : key.label)

interface KeyActionProps {
  readonly of: Key
  readonly console: ConsoleContext
  readonly changed: (key?: string) => void
}

const RotateButton = ({ changed, console: { api, role }, of: key }: KeyActionProps): View => {
  let grace: string = GRACE_DEFAULT
  return h(ActionButton, {
    label: "Rotate",
    style: "tiny plain",
    confirm: {
      title: `Rotate key ${nameOf(key)}?`,
      text: [
        h("p", null, "Creates a new key with the same label. Update your clients before the old key expires."),
        h(
          "div",
          { class: "field" },
          h("label", { for: "grace" }, "Old key expires"),
          h(
            "select",
            {
              id: "grace",
              onChange: ({ currentTarget }: Event) => {
                grace = (currentTarget as HTMLSelectElement).value
              }
            },
            GRACE_PERIODS.map(([value, label]) =>
              h("option", { key: value, value, selected: value === GRACE_DEFAULT }, label)
            )
          )
        )
      ],
      action: "Rotate key"
    },
    run: async (idempotencyKey) => {
      const body = { key_id: key.key_id, grace_seconds: Number(grace) }
      // Another grace period is another request.
      const rotated = await api.post<NewKey>(`${PATH}/rotate`, body, `${idempotencyKey}-${grace}`)
      if (key.current) storeKey(role, rotated.api_key)
      changed(rotated.api_key)
      return key.current ? "Key rotated. This tab now uses the new key." : "Key rotated."
    }
  })
}

const RevokeButton = ({ changed, console: { api, role }, of: key }: KeyActionProps): View =>
  h(ActionButton, {
    label: "Revoke",
    style: "tiny danger",
    confirm: {
      title: `Revoke key ${nameOf(key)}?`,
      text: [
        h("p", null, "Requests with this key are rejected within a second. This cannot be undone."),
        key.current ? h("p", null, "You are signed in with this key and will be signed out.") : undefined
      ],
      action: "Revoke key",
      isDangerous: true
    },
    run: async (idempotencyKey) => {
      await api.delete(`${PATH}/${key.key_id}`, idempotencyKey)
      if (key.current) forgetKey(role)
      else changed()
      announce("good", "Key revoked.")
    }
  })
