/**
 * The API key of the signed-in account. It is kept in the session storage of this browser tab and never appears in a
 * URL.
 */
import { ApiError, errorMessage, request } from "./ApiRequest.browser.ts"
import { button, type Child, el, fill, notice, on } from "./Dom.browser.ts"

export type Role = "consumer" | "provider"
/** Every role that has a console. */
export type KeyRole = Role | "operator"

const storageName = (role: KeyRole): string => `agent-tool-billing.${role}`

/** An event of the window, after a key was stored or removed in this tab. */
export const KEY_CHANGED = "keychange"

export const storedKey = (role: KeyRole): string | undefined => sessionStorage.getItem(storageName(role)) ?? undefined
export const storeKey = (role: KeyRole, key: string): void => {
  sessionStorage.setItem(storageName(role), key)
  dispatchEvent(new Event(KEY_CHANGED))
}
export const forgetKey = (role: KeyRole): void => {
  sessionStorage.removeItem(storageName(role))
  dispatchEvent(new Event(KEY_CHANGED))
}

/** Response of `GET /api/v1/market/whoami`. */
export interface Account {
  readonly role: Role
  readonly [field: string]: unknown
}

export const ROLE_NAMES = { consumer: "developer", provider: "provider" } as const
export const CONSOLE_PATHS = { consumer: "/developer", provider: "/provider" } as const
const REGISTRATION_PATHS = { consumer: "/developers/register", provider: "/providers/register" } as const

/** The account of the key, or why the key cannot open this page. */
const accountOf = async (
  key: string,
  role: Role
): Promise<{ readonly account: Account } | { readonly error: Child }> => {
  // Other characters cannot be sent in a header.
  if (!/^[!-~]+$/u.test(key)) return { error: "This is not an API key: it contains invalid characters." }
  try {
    const account = await request<Account>("GET", "/api/v1/market/whoami", { key })
    return account.role === role ? { account } : { error: wrongRole(account.role) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return { error: `Invalid API key. ${error.message}` }
    if (error.status === 403) return { error: "This is an operator key. Dashboards are for developers and providers." }
    throw error
  }
}

const wrongRole = (role: Role): Child => [
  `This is a ${ROLE_NAMES[role]} key. Use it on the `,
  el("a", { href: CONSOLE_PATHS[role] }, `${ROLE_NAMES[role]} dashboard`),
  "."
]

/** Shows the page once there is a valid key; asks for one until then. */
export const signIn = async (
  place: HTMLElement,
  role: Role,
  show: (account: Account) => void,
  submit = "Open dashboard"
): Promise<void> => {
  const key = storedKey(role)
  if (key === undefined) return askForKey(place, role, show, submit)
  try {
    const found = await accountOf(key, role)
    if ("account" in found) return show(found.account)
    forgetKey(role)
    askForKey(place, role, show, submit, found.error)
  } catch (error) {
    fill(
      place,
      notice("bad", errorMessage(error)),
      button("Try again", () => void signIn(place, role, show, submit))
    )
  }
}

const askForKey = (
  place: HTMLElement,
  role: Role,
  show: (account: Account) => void,
  label: string,
  error?: Child
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
  const status = el("div", { "aria-live": "polite" }, error === undefined ? undefined : notice("bad", error))
  const submit = el("button", { type: "submit" }, label)
  const field = el(
    "div",
    { class: "field" },
    el("label", { for: "key" }, `Your ${ROLE_NAMES[role]} key`),
    input,
    el("p", { class: "hint", id: "key-hint" }, "Kept in this tab until you close it or sign out.")
  )
  const enter = async () => {
    submit.disabled = true
    try {
      const key = input.value.trim()
      const found = await accountOf(key, role)
      if ("error" in found) return fill(status, notice("bad", found.error))
      storeKey(role, key)
      show(found.account)
    } catch (failure) {
      fill(status, notice("bad", errorMessage(failure)))
    } finally {
      submit.disabled = false
    }
  }
  const form = on(el("form", { class: "stack" }, field, status, el("div", { class: "actions" }, submit)), {
    submit: (event) => {
      event.preventDefault()
      void enter()
    }
  })
  fill(
    place,
    form,
    el("p", "No key yet? ", el("a", { href: REGISTRATION_PATHS[role] }, `Register as a ${ROLE_NAMES[role]}`), ".")
  )
}

export const signOutButton = (role: Role): HTMLElement =>
  button(
    "Sign out",
    () => {
      forgetKey(role)
      location.reload()
    },
    "plain"
  )
