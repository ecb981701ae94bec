/**
 * The keys of whoever is signed in: which there are, another one, in place of one, none of one. A new key is shown once.
 */
import type { Keys, NewKey } from "./Answers.browser.ts"
import { ask } from "./Api.browser.ts"
import { confirmed } from "./Confirm.browser.ts"
import { deed, saying } from "./Action.browser.ts"
import { badge, el, fill } from "./Dom.browser.ts"
import { moment } from "./Figures.browser.ts"
import { form } from "./Form.browser.ts"
import { keyShown } from "./KeyShown.browser.ts"
import { type Panel, panel } from "./Panel.browser.ts"
import { forget, keep, keyOf, type Role } from "./Session.browser.ts"
import { table } from "./Table.browser.ts"

type Key = Keys["keys"][number]

const PATH = "/api/v1/market/keys"
const DAY_MS = 86_400_000

const LIVES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"]
] as const

const GRACES = [
  ["0", "at once"],
  ["3600", "in an hour"],
  ["86400", "in a day"],
  ["604800", "in 7 days"]
] as const

const STATES = { active: ["Active", "good"], revoked: ["Revoked", "bad"], expired: ["Expired", ""] } as const

export const keys = (role: Role, ownerId: string): Panel => {
  const said = saying()
  const made = el("div", { "aria-live": "polite" })
  const arrived = (secret: string) => {
    fill(made, keyShown(secret, ownerId))
    made.scrollIntoView({ block: "nearest" })
  }
  return panel("keys", "Keys", async (reload) => {
    const { keys: all } = await ask<Keys>("GET", PATH, { key: keyOf(role) })
    const parts: Parts = { role, said, arrived, reload }
    return [
      made,
      said,
      table(
        "Keys",
        [
          { name: "Key", cell: (key: Key) => el("code", { class: "short" }, `${key.api_key_prefix}…`) },
          {
            name: "Label",
            cell: (key) => [key.label === "" ? "–" : key.label, " ", key.current ? badge("This tab's", "info") : ""]
          },
          { name: "State", cell: (key) => badge(STATES[key.status][0], STATES[key.status][1]) },
          { name: "Created", cell: (key) => moment(key.created_at) },
          { name: "Ends", cell: (key) => endOf(key) },
          {
            name: "",
            cell: (key) =>
              key.status === "active"
                ? el("div", { class: "actions tight" }, replacing(key, parts), revoking(key, parts))
                : undefined
          }
        ],
        all
      ),
      el("details", {}, el("summary", {}, "Create another key"), creating(parts))
    ]
  })
}

interface Parts {
  readonly role: Role
  readonly said: HTMLElement
  readonly arrived: (secret: string) => void
  readonly reload: () => Promise<void>
}

const endOf = ({ expires_at: expires, revoked_at: revoked }: Key): Node | string => {
  const ends = [expires, revoked].filter((at) => at !== null).toSorted()
  return ends.length === 0 ? "Never" : moment(ends[0]!)
}

const nameOf = (key: Key): string => (key.label === "" ? `${key.api_key_prefix}…` : key.label)

const creating = ({ arrived, reload, role }: Parts): HTMLElement =>
  form({
    id: "new-key-form",
    style: "row",
    submit: "Create it",
    fields: [
      { name: "label", label: "Label", optional: true, placeholder: "staging" },
      { name: "expires_at", label: "Ends", type: "select", choices: LIVES, optional: true }
    ],
    send: async ({ expires_at: days, label }, idempotencyKey) => {
      const body = {
        ...(label === "" ? {} : { label }),
        ...(days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() })
      }
      arrived((await ask<NewKey>("POST", PATH, { key: keyOf(role), idempotencyKey, body })).api_key)
      await reload()
      return undefined
    }
  })

const replacing = (key: Key, { arrived, reload, role, said }: Parts): HTMLElement => {
  const grace = el(
    "select",
    { id: "grace" },
    GRACES.map(([value, label]) => el("option", { value, selected: value === "86400" }, label))
  )
  return deed(
    "Replace",
    said,
    async (idempotencyKey) => {
      const agreed = await confirmed({
        title: `Replace the key ${nameOf(key)}?`,
        text: [
          el("p", {}, "A new key is made, with the same label. Give it to whatever uses the old one."),
          el("div", { class: "field" }, el("label", { for: "grace" }, "The old key ends"), grace)
        ],
        yes: "Replace it"
      })
      if (!agreed) return undefined
      const answer = await ask<NewKey>("POST", `${PATH}/rotate`, {
        key: keyOf(role),
        // Another grace is another wish.
        idempotencyKey: `${idempotencyKey}-${grace.value}`,
        body: { key_id: key.key_id, grace_seconds: Number(grace.value) }
      })
      if (key.current) keep(role, answer.api_key)
      arrived(answer.api_key)
      await reload()
      return key.current ? "Replaced. This tab goes on with the new key." : "Replaced."
    },
    "tiny plain"
  )
}

const revoking = (key: Key, { reload, role, said }: Parts): HTMLElement =>
  deed(
    "Revoke",
    said,
    async (idempotencyKey) => {
      const agreed = await confirmed({
        title: `Revoke the key ${nameOf(key)}?`,
        text: [
          el("p", {}, "Whatever uses it is refused within a second. It cannot be undone."),
          key.current ? el("p", {}, "It is this tab's own key: you will be signed out.") : undefined
        ],
        yes: "Revoke it",
        isDangerous: true
      })
      if (!agreed) return undefined
      await ask<unknown>("DELETE", `${PATH}/${key.key_id}`, { key: keyOf(role), idempotencyKey })
      if (key.current) {
        forget(role)
        location.reload()
      } else await reload()
      return "Revoked."
    },
    "tiny danger"
  )
