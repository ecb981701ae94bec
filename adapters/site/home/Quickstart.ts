/**
 * Quickstart commands for the home page. They run in sequence in one shell.
 */
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { isUsagePriced } from "../../../domain/catalog/Terms.ts"
import { singleQuoted } from "../kit/CurlExample.ts"
import { sampleInput } from "../kit/SampleInput.ts"

export interface Step {
  readonly text: string
  readonly command: string
}

const JSON_TYPE = "-H 'content-type: application/json'"

/** Registers an account and keeps the key in `$KEY`. */
const registration = (url: string, body: object, keyPrefix: string): string =>
  `KEY=$(curl -s ${url} ${JSON_TYPE} -d ${singleQuoted(JSON.stringify(body))} | grep -o '${keyPrefix}_[0-9a-f]*' | head -1); echo $KEY`

const authorized = (url: string, body?: object): string =>
  `curl -s ${url} -H "Authorization: Bearer $KEY"${body === undefined ? "" : ` ${JSON_TYPE} -d ${singleQuoted(JSON.stringify(body))}`}`

export const developerSteps = (
  baseUrl: string,
  tool: CatalogEntry | undefined,
  isLive: boolean
): ReadonlyArray<Step> => {
  const name = tool === undefined ? "<handle>/<tool>" : qualifiedName(tool.provider.handle, tool.tool.toolName)
  const call = {
    tool_name: name,
    input: sampleInput(tool?.tool.inputSchema ?? null),
    ...(tool !== undefined && isUsagePriced(tool) ? { max_cost_microcents: Number(tool.maximum) } : {})
  }
  return [
    {
      text: "Register and save your key.",
      command: registration(
        `${baseUrl}/api/market/register-consumer`,
        { name: "My agent", email: "me@example.org" },
        "atb_c"
      )
    },
    {
      text: isLive ? "Add $5.00. The response has the payment link." : "Add $5.00 of test credit.",
      command: authorized(`${baseUrl}/api/market/balance/load`, { amount_cents: 500 })
    },
    {
      text: "Get a quote.",
      command: authorized(`${baseUrl}/api/market/proxy`, { ...call, dry_run: true })
    },
    {
      text: "Call the tool. The response has the result, the cost and the receipt.",
      command: authorized(`${baseUrl}/api/market/proxy`, call)
    }
  ]
}

export const providerSteps = (baseUrl: string): ReadonlyArray<Step> => [
  {
    text: "Register your MCP server with a first tool and save your key.",
    command: registration(
      `${baseUrl}/api/market/register-provider`,
      {
        name: "My tools",
        email: "me@example.org",
        endpoint_url: "https://tools.example.org/mcp",
        tools: [{ tool_name: "search", description: "Finds papers", price_microcents: 2_500, free_tier_calls: 20 }]
      },
      "atb_p"
    )
  },
  {
    text: "Verify your email address. Verification raises your trust score.",
    command: authorized(`${baseUrl}/api/v1/market/providers/verify`, { level: "email" })
  },
  {
    text: "See your earnings.",
    command: authorized(`${baseUrl}/api/v1/market/billing/provider-summary`, {})
  },
  {
    text: "See what is available for payout, from $10.00.",
    command: authorized(`${baseUrl}/api/market/payouts`)
  }
]
