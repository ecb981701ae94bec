/**
 * The guide for agents, from the base URL to a verified receipt: its steps in machine-readable form, and as text.
 */
import type { PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import type { Route } from "../pipeline/Route.ts"
import { authOf, type Named } from "./RouteMap.ts"

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
    const found = routes.find(({ method, path }) => `${method} ${path}` === wanted)
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
