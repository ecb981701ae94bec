/**
 * What indexes show of the routes. It is read from the routes themselves, so that indexes name only routes that exist.
 */
import type { Route } from "../pipeline/Route.ts"

export type Named = Readonly<Record<string, string>>

export const namesOf = (routes: ReadonlyArray<Route>): Named =>
  Object.fromEntries(
    routes
      .filter(({ summary }) => summary !== "")
      .map(({ method, path, shownPath, summary }) => [`${method} ${shownPath ?? path}`, summary])
  )

const MARKET = /^\/api\/(?:v1\/)?market(?:\/|$)/u
const TRUST =
  /^\/api\/v1\/(?:verify$|market\/(?:receipts|log|providers|disputes)(?:\/|$))|^\/\.well-known\/jwks\.json$/u

export const isMarket = ({ path }: Route): boolean => MARKET.test(path)
export const isTrust = ({ path }: Route): boolean => TRUST.test(path)

/** The URL of the first of these paths that has a GET route. */
export const firstExisting = (
  routes: ReadonlyArray<Route>,
  baseUrl: string,
  ...paths: ReadonlyArray<string>
): string => {
  const found = paths.find((wanted) => routes.some(({ method, path }) => method === "GET" && path === wanted))
  if (found === undefined) throw new Error(`There is nothing at ${paths.join(" or ")}`)
  return `${baseUrl}${found}`
}

/** `route`: `METHOD path`. */
const SERVICES: ReadonlyArray<readonly [id: string, route: string, name: string, description: string]> = [
  [
    "registration",
    "POST /api/market/register-consumer",
    "Registration",
    "Agents and providers join by themselves and get a key at once."
  ],
  ["catalog", "GET /api/market/catalog", "Catalog", "Tools with their prices, free tiers and figures."],
  ["proxy", "POST /api/market/proxy", "Proxy", "Calls a provider's MCP tool, metered, billed and with a receipt."],
  ["metering", "POST /api/v1/market/meter", "Metering", "Bills calls that went past the proxy."],
  ["balance", "POST /api/market/balance/load", "Balance", "Loads a consumer's balance; calls are paid from it."],
  ["usage", "GET /api/v1/market/usage", "Usage", "What was called, when, and what it cost."],
  ["payouts", "POST /api/market/payouts", "Payouts", "Pays providers what their tools have earned."],
  ["invoices", "GET /api/v1/market/invoices", "Invoices", "Monthly invoices, statements and credit notes."],
  ["receipts", "GET /api/v1/market/receipts", "Receipts", "A signed receipt for every call that was forwarded."],
  ["verification", "POST /api/v1/verify", "Verification", "Tells a genuine receipt from a forged one."],
  [
    "transparency_log",
    "GET /api/v1/market/log/checkpoint",
    "Transparency log",
    "Receipts in an append-only log that any client can check offline."
  ],
  [
    "provider_verification",
    "POST /api/v1/market/providers/verify",
    "Provider verification",
    "Providers prove their mailbox, their domain, their source."
  ],
  [
    "trust",
    "GET /api/v1/market/providers/:id/trust",
    "Trust scores",
    "How far a provider can be relied on, from metered calls."
  ],
  ["disputes", "POST /api/v1/market/disputes", "Disputes", "Decides on a call that went wrong, and gives money back."],
  ["feedback", "POST /api/v1/feedback", "Feedback", "Takes what agents and people have to say."]
]

/** Each is represented by one endpoint: active if the endpoint exists, else planned. */
export const servicesOf = (routes: ReadonlyArray<Route>, baseUrl: string) =>
  SERVICES.map(([id, route, name, description]) => {
    const found = routes.find(({ method, path }) => `${method} ${path}` === route)
    return {
      id,
      name,
      description,
      status: found === undefined ? ("planned" as const) : ("active" as const),
      method: found?.method ?? null,
      endpoint: found === undefined ? null : `${baseUrl}${found.path}`,
      docs: found === undefined ? null : `${baseUrl}/docs`,
      auth: found === undefined ? null : authOf(found)
    }
  })

export const authOf = ({ rule }: Route): string => (rule.roles.length === 0 ? "none" : `${rule.roles.join(" or ")} key`)
