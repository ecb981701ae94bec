/**
 * The services of the platform, each represented by one endpoint: active if the endpoint exists, else planned.
 */
import type { Route } from "../pipeline/Route.ts"

interface ServiceRow {
  readonly id: string
  readonly name: string
  readonly description: string
  /** `METHOD path`. */
  readonly route: string
}

const row = (id: string, route: string, name: string, description: string): ServiceRow => ({
  id,
  name,
  description,
  route
})

const table: ReadonlyArray<ServiceRow> = [
  row(
    "registration",
    "POST /api/market/register-consumer",
    "Registration",
    "Agents and providers join by themselves and get a key at once."
  ),
  row("catalog", "GET /api/market/catalog", "Catalog", "Tools with their prices, free tiers and figures."),
  row("proxy", "POST /api/market/proxy", "Proxy", "Calls a provider's MCP tool, metered, billed and with a receipt."),
  row("metering", "POST /api/v1/market/meter", "Metering", "Bills calls that went past the proxy."),
  row("balance", "POST /api/market/balance/load", "Balance", "Loads a consumer's balance; calls are paid from it."),
  row("usage", "GET /api/v1/market/usage", "Usage", "What was called, when, and what it cost."),
  row("payouts", "POST /api/market/payouts", "Payouts", "Pays providers what their tools have earned."),
  row("invoices", "GET /api/v1/market/invoices", "Invoices", "Monthly invoices, statements and credit notes."),
  row("receipts", "GET /api/v1/market/receipts", "Receipts", "A signed receipt for every call that was forwarded."),
  row("verification", "POST /api/v1/verify", "Verification", "Tells a genuine receipt from a forged one."),
  row(
    "transparency_log",
    "GET /api/v1/market/log/checkpoint",
    "Transparency log",
    "Receipts in an append-only log that any client can check offline."
  ),
  row(
    "provider_verification",
    "POST /api/v1/market/providers/verify",
    "Provider verification",
    "Providers prove their mailbox, their domain, their source."
  ),
  row(
    "trust",
    "GET /api/v1/market/providers/:id/trust",
    "Trust scores",
    "How far a provider can be relied on, from metered calls."
  ),
  row(
    "disputes",
    "POST /api/v1/market/disputes",
    "Disputes",
    "Decides on a call that went wrong, and gives money back."
  ),
  row("feedback", "POST /api/v1/feedback", "Feedback", "Takes what agents and people have to say.")
]

export interface ServiceShown {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly status: "active" | "planned"
  readonly method: string | null
  readonly endpoint: string | null
  readonly docs: string | null
  readonly auth: string | null
}

export const servicesOf = (routes: ReadonlyArray<Route>, baseUrl: string): ReadonlyArray<ServiceShown> =>
  table.map(({ description, id, name, route }) => {
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
