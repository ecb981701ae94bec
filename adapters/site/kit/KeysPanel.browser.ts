/**
 * API keys: create, rotate, revoke.
 */
import { accountApi } from "./AccountApi.browser.ts"
import { actionButton, statusArea } from "./Action.browser.ts"
import { badge, el, fill } from "./Dom.browser.ts"
import { dateTime } from "./Format.browser.ts"
import { form } from "./Form.browser.ts"
import { newKeyCard } from "./NewKey.browser.ts"
import { type Panel, panel } from "./Panel.browser.ts"
import type { Keys, NewKey } from "./ApiResponses.browser.ts"
import { forgetKey, type Role, storeKey } from "./Session.browser.ts"
import { table } from "./Table.browser.ts"

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

const STATUSES = { active: ["Active", "good"], revoked: ["Revoked", "bad"], expired: ["Expired", ""] } as const

export const keysPanel = (role: Role, ownerId: string): Panel => {
  const status = statusArea()
  const created = el("div", { "aria-live": "polite" })
  const showKey = (key: string) => {
    fill(created, newKeyCard(key, ownerId))
    created.scrollIntoView({ block: "nearest" })
  }
  return panel("keys", "API keys", async (reload) => {
    const { keys } = await accountApi(role).get<Keys>(PATH)
    const context: Context = { role, status, showKey, reload }
    return [
      created,
      status,
      table(
        "API keys",
        [
          { name: "Key", cell: (key: Key) => el("code", { class: "short" }, `${key.api_key_prefix}…`) },
          {
            name: "Label",
            cell: (key) => [key.label === "" ? "–" : key.label, " ", key.current ? badge("Current", "info") : ""]
          },
          { name: "Status", cell: (key) => badge(STATUSES[key.status][0], STATUSES[key.status][1]) },
          { name: "Created", cell: (key) => dateTime(key.created_at) },
          { name: "Expires", cell: endOf },
          {
            name: "",
            cell: (key) =>
              key.status === "active"
                ? el("div", { class: "actions tight" }, rotateButton(key, context), revokeButton(key, context))
                : undefined
          }
        ],
        keys
      ),
      el("details", el("summary", "Create key"), createForm(context))
    ]
  })
}

interface Context {
  readonly role: Role
  readonly status: HTMLElement
  readonly showKey: (key: string) => void
  readonly reload: () => Promise<void>
}

const endOf = ({ expires_at: expires, revoked_at: revoked }: Key): Node | string => {
  const ends = [expires, revoked].filter((at) => at !== null).toSorted()
  return ends.length === 0 ? "Never" : dateTime(ends[0]!)
}

const nameOf = (key: Key): string => (key.label === "" ? `${key.api_key_prefix}…` : key.label)

const createForm = ({ reload, role, showKey }: Context): HTMLElement =>
  form({
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
      showKey((await accountApi(role).post<NewKey>(PATH, body, idempotencyKey)).api_key)
      await reload()
    }
  })

const rotateButton = (key: Key, { reload, role, showKey, status }: Context): HTMLElement => {
  const grace = el(
    "select",
    { id: "grace" },
    GRACE_PERIODS.map(([value, label]) => el("option", { value, selected: value === "86400" }, label))
  )
  return actionButton({
    label: "Rotate",
    status,
    style: "tiny plain",
    confirm: {
      title: `Rotate key ${nameOf(key)}?`,
      text: [
        "Creates a new key with the same label. Update your clients before the old key expires.",
        el("div", { class: "field" }, el("label", { for: "grace" }, "Old key expires"), grace)
      ],
      action: "Rotate key"
    },
    run: async (idempotencyKey) => {
      const body = { key_id: key.key_id, grace_seconds: Number(grace.value) }
      // Another grace period is another request.
      const rotated = await accountApi(role).post<NewKey>(`${PATH}/rotate`, body, `${idempotencyKey}-${grace.value}`)
      if (key.current) storeKey(role, rotated.api_key)
      showKey(rotated.api_key)
      await reload()
      return key.current ? "Key rotated. This tab now uses the new key." : "Key rotated."
    }
  })
}

const revokeButton = (key: Key, { reload, role, status }: Context): HTMLElement =>
  actionButton({
    label: "Revoke",
    status,
    style: "tiny danger",
    confirm: {
      title: `Revoke key ${nameOf(key)}?`,
      text: [
        "Requests with this key are rejected within a second. This cannot be undone.",
        key.current ? el("p", "You are signed in with this key and will be signed out.") : undefined
      ],
      action: "Revoke key",
      isDangerous: true
    },
    run: async (idempotencyKey) => {
      await accountApi(role).delete(`${PATH}/${key.key_id}`, idempotencyKey)
      if (key.current) {
        forgetKey(role)
        location.reload()
      } else await reload()
      return "Key revoked."
    }
  })
