/**
 * The API key of the signed-in account. It is kept in the session storage of this browser tab and never appears in a
 * URL.
 */
export type Role = "consumer" | "provider"
/** Every role that has a console. */
export type KeyRole = Role | "operator"

const storageName = (role: KeyRole): string => `agent-tool-billing.${role}`

/** An event of the window, after a key was stored or removed in this tab. Its detail is why it was removed, if the service said. */
export const KEY_CHANGED = "keychange"

export const storedKey = (role: KeyRole): string | undefined => sessionStorage.getItem(storageName(role)) ?? undefined
export const storeKey = (role: KeyRole, key: string): void => {
  sessionStorage.setItem(storageName(role), key)
  dispatchEvent(new Event(KEY_CHANGED))
}
export const forgetKey = (role: KeyRole, why?: string): void => {
  sessionStorage.removeItem(storageName(role))
  dispatchEvent(new CustomEvent(KEY_CHANGED, { detail: why }))
}

export const ROLE_NAMES = { consumer: "developer", provider: "provider" } as const
export const CONSOLE_PATHS = { consumer: "/developer", provider: "/provider" } as const
export const REGISTRATION_PATHS = { consumer: "/developers/register", provider: "/providers/register" } as const
