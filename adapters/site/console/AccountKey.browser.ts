/**
 * Which account a key belongs to, and what to say where it cannot open the console of its reader.
 */
import { ApiError, request } from "../kit/ApiRequest.browser.ts"
import { CONSOLE_PATHS, type Role, ROLE_NAMES } from "../kit/Session.browser.ts"
import type { Identified } from "./SignInForm.browser.ts"
import { h } from "./View.browser.ts"

/** Of `GET /api/v1/market/whoami`. */
interface WhoAmI {
  readonly role: Role
  readonly id: string
  readonly name: string
  readonly handle: string | null
  readonly frozen_at: string | null
  readonly frozen_reason: string | null
}

export const identifyAccount =
  (role: Role) =>
  async (key: string): Promise<Identified> => {
    // Other characters cannot be sent in a header.
    if (!/^[!-~]+$/u.test(key)) return { error: "This is not an API key: it contains invalid characters." }
    try {
      const account = await request<WhoAmI>("GET", "/api/v1/market/whoami", { key, isConsole: true })
      return account.role === role ? { account } : { error: wrongRole(account.role) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 401) return { error: `Invalid API key. ${error.message}` }
      if (error.status === 403)
        return { error: "This is an operator key. Dashboards are for developers and providers." }
      throw error
    }
  }

const wrongRole = (role: Role) => [
  `This is a ${ROLE_NAMES[role]} key. Use it on the `,
  h("a", { href: CONSOLE_PATHS[role] }, `${ROLE_NAMES[role]} dashboard`),
  "."
]
