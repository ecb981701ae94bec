/**
 * /llms.txt: the content of the indexes as plain text.
 */
import type { Named } from "./RouteMap.ts"
import type { agentSteps } from "./AgentSteps.ts"

export interface LlmsFacts {
  readonly name: string
  readonly description: string
  readonly links: Named
  readonly steps: ReturnType<typeof agentSteps>
  readonly endpoints: Named
}

export const llmsText = ({ description, endpoints, links, name, steps }: LlmsFacts): string =>
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
    "## From registration to a verified receipt",
    "",
    ...steps.map(({ auth, body, description: text, method, url }, n) =>
      [
        `${n + 1}. ${text} \`${method} ${url}\`${auth === null ? "" : ` (${auth})`}`,
        ...(body === undefined ? [] : [`   Body: \`${JSON.stringify(body)}\``])
      ].join("\n")
    ),
    "",
    "## Links",
    "",
    ...Object.entries(links).map(([title, url]) => `- [${title}](${url})`),
    "",
    "## Endpoints",
    "",
    ...Object.entries(endpoints).map(([endpoint, summary]) => `- \`${endpoint}\`: ${summary}`),
    ""
  ].join("\n")
