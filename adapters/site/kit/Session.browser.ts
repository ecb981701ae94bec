/**
 * The key of whoever looks: kept in this tab alone, gone with it, never in an address.
 */
import { Refused, ask, words } from "./Api.browser.ts"
import { button, type Child, el, fill, notice, on } from "./Dom.browser.ts"

export type Role = "consumer" | "provider"

const placeOf = (role: Role): string => `agent-tool-billing.${role}`

export const keyOf = (role: Role): string | undefined => sessionStorage.getItem(placeOf(role)) ?? undefined
export const keep = (role: Role, key: string): void => sessionStorage.setItem(placeOf(role), key)
export const forget = (role: Role): void => sessionStorage.removeItem(placeOf(role))

/** As `GET /api/v1/market/whoami` answers. */
export interface Who {
  readonly role: Role
  readonly [field: string]: unknown
}

const NAMES = { consumer: "developer", provider: "provider" } as const
const PLACES = { consumer: "/developers", provider: "/providers" } as const

/** Whom the key belongs to, or why it does not open this page. */
const whoHas = async (key: string, role: Role): Promise<{ readonly who: Who } | { readonly why: Child }> => {
  // Nothing else fits into a header.
  if (!/^[!-~]+$/u.test(key)) return { why: "This is no key: it has characters in it that no key has." }
  try {
    const who = await ask<Who>("GET", "/api/v1/market/whoami", { key })
    return who.role === role ? { who } : { why: elsewhere(who.role) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.status === 401) return { why: `The service does not know this key. ${error.message}` }
    if (error.status === 403)
      return { why: "This is the operator's key. The dashboards are for developers and providers." }
    throw error
  }
}

const elsewhere = (role: Role): Child => [
  `This is a ${NAMES[role]}'s key. Use it on the `,
  el("a", { href: `${PLACES[role]}/dashboard` }, `${NAMES[role]} dashboard`),
  "."
]

/** Shows the page to whoever has a key that fits; asks for one until then. */
export const signedIn = async (
  place: HTMLElement,
  role: Role,
  show: (key: string, who: Who) => void,
  submit?: string
): Promise<void> => {
  const kept = keyOf(role)
  if (kept === undefined) return askForKey(place, role, show, submit)
  try {
    const found = await whoHas(kept, role)
    if ("who" in found) return show(kept, found.who)
    forget(role)
    askForKey(place, role, show, submit, found.why)
  } catch (error) {
    fill(
      place,
      notice("bad", words(error)),
      button("Try again", () => void signedIn(place, role, show, submit))
    )
  }
}

const askForKey = (
  place: HTMLElement,
  role: Role,
  show: (key: string, who: Who) => void,
  label = "Open the dashboard",
  complaint?: Child
): void => {
  const input = el("input", {
    id: "key",
    name: "key",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "key-hint"
  })
  const said = el("div", { "aria-live": "polite" }, complaint === undefined ? undefined : notice("bad", complaint))
  const submit = el("button", { type: "submit" }, label)
  const form = on(
    el(
      "form",
      { class: "stack" },
      el(
        "div",
        { class: "field" },
        el("label", { for: "key" }, `Your ${NAMES[role]} key`),
        input,
        el(
          "p",
          { class: "hint", id: "key-hint" },
          "It stays in this tab until you close it or sign out, and is sent to this service alone."
        )
      ),
      said,
      el("div", { class: "actions" }, submit)
    ),
    {
      submit: (event) => {
        event.preventDefault()
        void enter()
      }
    }
  )
  const enter = async () => {
    submit.disabled = true
    try {
      const key = input.value.trim()
      const found = await whoHas(key, role)
      if ("why" in found) return fill(said, notice("bad", found.why))
      keep(role, key)
      show(key, found.who)
    } catch (error) {
      fill(said, notice("bad", words(error)))
    } finally {
      submit.disabled = false
    }
  }
  fill(
    place,
    form,
    el("p", {}, "No key yet? ", el("a", { href: `${PLACES[role]}/register` }, `Register as a ${NAMES[role]}`), ".")
  )
}

export const signOut = (role: Role): HTMLElement =>
  button(
    "Sign out",
    () => {
      forget(role)
      location.reload()
    },
    "plain"
  )
