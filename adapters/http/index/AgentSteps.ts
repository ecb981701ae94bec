/**
 * The guide for agents, from the base URL to a verified receipt: its steps in machine-readable form, and as text.
 */
import type { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import type { Route } from "../pipeline/Route.ts"

// What indexes show of the routes. It is read from the routes themselves, so that indexes name only routes that exist.

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

/** Each is represented by one endpoint: active if the endpoint exists, else planned. */
const SERVICES: Readonly<Record<string, string>> = {
  registration: "POST /api/market/register-consumer",
  catalog: "GET /api/market/catalog",
  proxy: "POST /api/market/proxy",
  metering: "POST /api/v1/market/meter",
  balance: "POST /api/market/balance/load",
  usage: "GET /api/v1/market/usage",
  payouts: "POST /api/market/payouts",
  invoices: "GET /api/v1/market/invoices",
  receipts: "GET /api/v1/market/receipts",
  verification: "POST /api/v1/verify",
  transparency_log: "GET /api/v1/market/log/checkpoint",
  provider_verification: "POST /api/v1/market/providers/verify",
  trust: "GET /api/v1/market/providers/:id/trust",
  disputes: "POST /api/v1/market/disputes",
  feedback: "POST /api/v1/feedback"
}

const routeOf = (routes: ReadonlyArray<Route>, name: string): Route | undefined =>
  routes.find(({ method, path }) => `${method} ${path}` === name)

export const servicesOf = (routes: ReadonlyArray<Route>, baseUrl: string) =>
  Object.entries(SERVICES).map(([id, route]) => {
    const found = routeOf(routes, route)
    const name = id.replaceAll("_", " ")
    return {
      id,
      name: name.slice(0, 1).toUpperCase() + name.slice(1),
      description: found?.summary ?? "",
      status: found === undefined ? ("planned" as const) : ("active" as const),
      method: found?.method ?? null,
      endpoint: found === undefined ? null : `${baseUrl}${found.path}`,
      docs: found === undefined ? null : `${baseUrl}/docs`,
      auth: found === undefined ? null : authOf(found)
    }
  })

/** The first steps of consumers and providers. */
const FLOW = [
  SERVICES["registration"]!,
  "POST /api/market/tools",
  SERVICES["balance"]!,
  SERVICES["catalog"]!,
  SERVICES["proxy"]!,
  SERVICES["receipts"]!,
  SERVICES["verification"]!
]

export const flowOf = (routes: ReadonlyArray<Route>): ReadonlyArray<string> =>
  FLOW.map((route, n) => `${n + 1}. ${routeOf(routes, route)?.summary}: ${route}`)

export const authOf = ({ rule }: Route): string => (rule.roles.length === 0 ? "none" : `${rule.roles.join(" or ")} key`)

export const HOW_TO_READ_STEPS =
  "Do them in order. `yields` names values to keep from the response, by JSON Pointer (RFC 6901). `{name}` in a URL or a " +
  "body stands for the value of that name; a text that is only `{name}` is replaced by the value itself. `{arguments}` is " +
  "an object of yours that matches `input_schema`. Where `auth` is not null, send `Authorization: Bearer {api_key}`."

interface StepRow {
  readonly step: string
  readonly description: string
  readonly route: string
  /** Replaces the route's path where the URL has a query or a parameter. */
  readonly url?: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly yields?: Readonly<Record<string, string>>
}

const stepsFor = (payments: PaymentGateway["Service"]["mode"]): ReadonlyArray<StepRow> => [
  {
    step: "register",
    description: "Register. The key is shown only in this response.",
    route: "POST /api/market/register-consumer",
    body: { name: "My agent", email: "agent@example.org" },
    yields: { api_key: "/api_key", consumer_id: "/consumer_id" }
  },
  {
    step: "load",
    description:
      payments === "dry_run"
        ? "Add funds. Payments are simulated: the balance is credited immediately without a payment."
        : "Add funds: pay at `checkout_url`. The balance is credited once the payment succeeds.",
    route: "POST /api/market/balance/load",
    body: { amount_cents: 100 },
    ...(payments === "dry_run" ? {} : { yields: { checkout_url: "/checkout_url" } })
  },
  {
    step: "find",
    description:
      "Find a tool, with its price and the schema of its input. `q` searches, `sort` orders. Call it by its `qualified_name`, " +
      "which always names this tool.",
    route: "GET /api/market/catalog",
    url: "/api/market/catalog?sort=price&limit=10",
    yields: { tool_name: "/tools/0/qualified_name", input_schema: "/tools/0/input_schema" }
  },
  {
    step: "quote",
    description: "Get a quote: free calls cost nothing. The provider is not called, and nothing is charged.",
    route: "POST /api/market/proxy",
    body: { tool_name: "{tool_name}", input: "{arguments}", dry_run: true },
    yields: { price_version: "/quote/price_version", max_cost_microcents: "/quote/max_cost_microcents" }
  },
  {
    step: "call",
    description:
      "Call the tool on the terms of the quote, for at most its maximum. An `Idempotency-Key` header makes the request safe to " +
      "retry. `outcome` is `error` if the tool itself returned an error.",
    route: "POST /api/market/proxy",
    body: {
      tool_name: "{tool_name}",
      input: "{arguments}",
      price_version: "{price_version}",
      max_cost_microcents: "{max_cost_microcents}"
    },
    yields: { result: "/result", outcome: "/meta/outcome", receipt_id: "/meta/receipt_id" }
  },
  {
    step: "receipt",
    description: "Retrieve the receipt of the call.",
    route: "GET /api/v1/market/receipts/:id",
    url: "/api/v1/market/receipts/{receipt_id}",
    yields: { receipt: "/receipt" }
  },
  {
    step: "verify",
    description: "Verify the receipt. No key is needed.",
    route: "POST /api/v1/verify",
    body: { receipt: "{receipt}" },
    yields: { valid: "/verification/valid" }
  }
]

export const agentSteps = (
  routes: ReadonlyArray<Route>,
  baseUrl: string,
  payments: PaymentGateway["Service"]["mode"]
) =>
  stepsFor(payments).flatMap(({ body, description, route: wanted, step, url, yields }) => {
    const found = routeOf(routes, wanted)
    if (found === undefined) return []
    return [
      {
        step,
        description,
        method: found.method,
        url: `${baseUrl}${url ?? found.path}`,
        auth: found.rule.roles.length === 0 ? null : authOf(found),
        ...(body === undefined ? {} : { body }),
        yields: yields ?? {}
      }
    ]
  })

interface LlmsFacts {
  readonly name: string
  readonly description: string
  readonly links: Named
  /** Lines about MCP. */
  readonly mcp: ReadonlyArray<string>
  /** Links to the documentation as Markdown. */
  readonly documents: ReadonlyArray<string>
  readonly steps: ReturnType<typeof agentSteps>
  readonly endpoints: Named
}

/** /llms.txt: the content of the indexes as plain text. */
export const llmsText = ({ description, documents, endpoints, links, mcp, name, steps }: LlmsFacts): string =>
  [
    `# ${name}`,
    "",
    `> ${description}`,
    "",
    "Everything is JSON over HTTP. Amounts are whole microcents: 1 cent = 10 000 microcents, 1 USD = 1 000 000.",
    "A price `up to $X` is usage-priced: send a cap, `max_cost_microcents`, or the call is answered 422 `CAP_REQUIRED`.",
    "A tool is free only if `price_microcents` and `max_cost_microcents` are both 0. `upcoming` announces other terms.",
    "Name a tool by its qualified name `handle/tool_name` or its ID. Your first successful call of a bare `tool_name` pins it:",
    "410 once that tool is withdrawn. Without a pin it is 409 with the qualified names if several tools have the name.",
    "Send your key as `Authorization: Bearer <key>`. Errors are `application/problem+json`: branch on `code`.",
    "",
    ...mcp,
    "## From registration to a verified receipt",
    "",
    ...steps.map(({ auth, body, description: text, method, url }, n) =>
      [
        `${n + 1}. ${text} \`${method} ${url}\`${auth === null ? "" : ` (${auth})`}`,
        ...(body === undefined ? [] : [`   Body: \`${JSON.stringify(body)}\``])
      ].join("\n")
    ),
    "",
    ...(documents.length === 0 ? [] : ["## Documentation", "", ...documents, ""]),
    "## Links",
    "",
    ...Object.entries(links).map(([title, url]) => `- [${title}](${url})`),
    "",
    "## Endpoints",
    "",
    ...Object.entries(endpoints).map(([endpoint, summary]) => `- \`${endpoint}\`: ${summary}`),
    ""
  ].join("\n")
