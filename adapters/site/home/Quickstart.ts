/**
 * The first minutes as commands: each works as it stands, one after the other, in one shell.
 */
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { singleQuoted } from "../kit/CurlExample.ts"
import { sampleInput } from "../kit/SampleInput.ts"

export interface Step {
  readonly text: string
  readonly command: string
}

const JSON_TYPE = "-H 'content-type: application/json'"

/** The first thing in the answer that looks like one. */
const keyIn = (prefix: string): string => `grep -o '${prefix}_[0-9a-f]*' | head -1`

export const developerSteps = (
  baseUrl: string,
  tool: CatalogEntry | undefined,
  isLive: boolean
): ReadonlyArray<Step> => {
  const name = tool === undefined ? "<handle>/<tool>" : qualifiedName(tool.provider.handle, tool.tool.toolName)
  const call = { tool_name: name, input: sampleInput(tool?.tool.inputSchema ?? null) }
  const as = (path: string, body: object) =>
    `curl -s ${baseUrl}${path} -H "Authorization: Bearer $KEY" ${JSON_TYPE} -d ${singleQuoted(JSON.stringify(body))}`
  return [
    {
      text: "Register, and keep the key.",
      command: `KEY=$(curl -s ${baseUrl}/api/market/register-consumer ${JSON_TYPE} -d '{"name":"My agent","email":"me@example.org"}' | ${keyIn("atb_c")}); echo $KEY`
    },
    {
      text: isLive
        ? "Load five dollars: the answer has the address to pay at."
        : "Load five dollars. Here they are play money.",
      command: as("/api/market/balance/load", { amount_cents: 500 })
    },
    { text: "Ask what a call costs.", command: as("/api/market/proxy", { ...call, dry_run: true }) },
    {
      text: "Make it. The answer has the tool's result, what it cost, and the receipt.",
      command: as("/api/market/proxy", call)
    }
  ]
}

export const providerSteps = (baseUrl: string): ReadonlyArray<Step> => {
  const registration = {
    name: "My tools",
    email: "me@example.org",
    endpoint_url: "https://tools.example.org/mcp",
    tools: [{ tool_name: "search", description: "Finds papers", price_microcents: 2_500, free_tier_calls: 20 }]
  }
  const as = (method: string, path: string, body?: object) =>
    `curl -s ${method}${baseUrl}${path} -H "Authorization: Bearer $KEY"${body === undefined ? "" : ` ${JSON_TYPE} -d ${singleQuoted(JSON.stringify(body))}`}`
  return [
    {
      text: "Register your MCP server and its first tool, here at a quarter of a cent. Keep the key.",
      command: `KEY=$(curl -s ${baseUrl}/api/market/register-provider ${JSON_TYPE} -d ${singleQuoted(JSON.stringify(registration))} | ${keyIn("atb_p")}); echo $KEY`
    },
    {
      text: "Prove your mailbox: verified providers are trusted more. The domain comes next.",
      command: as("", "/api/v1/market/providers/verify", { level: "email" })
    },
    { text: "See what you earned.", command: as("-X POST ", "/api/v1/market/billing/provider-summary", {}) },
    { text: "See what can be paid out, from $10.00.", command: as("", "/api/market/payouts") }
  ]
}
