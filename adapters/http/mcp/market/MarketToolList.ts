/**
 * Definitions of the market door's own tools, which are always listed.
 */
import { Schema } from "effect"
import { type JsonSchema, tidy } from "../../openapi/OpenApiModel.ts"
import {
  BalanceInput,
  BalanceOutput,
  CallToolInput,
  DescribeToolInput,
  DescribeToolOutput,
  QuoteInput,
  QuoteOutput,
  SearchToolsInput,
  SearchToolsOutput
} from "./MarketToolFields.ts"

export const MARKET_TOOLS = ["search_tools", "describe_tool", "call_tool", "quote", "balance"] as const
export type MarketTool = (typeof MARKET_TOOLS)[number]

export const isMarketTool = (name: string): name is MarketTool => MARKET_TOOLS.includes(name as MarketTool)

interface Definition {
  readonly title: string
  readonly description: string
  readonly input: Schema.Top
  readonly output: Schema.Top | undefined
  readonly readOnly: boolean
}

const definitions: Readonly<Record<MarketTool, Definition>> = {
  search_tools: {
    title: "Search tools",
    description:
      "Finds tools of many providers in the catalog, with their prices. Use it when no listed tool does what you need. " +
      "Then read describe_tool, and call the tool with call_tool. Free of charge.",
    input: SearchToolsInput,
    output: SearchToolsOutput,
    readOnly: true
  },
  describe_tool: {
    title: "Describe a tool",
    description:
      "Returns the input schema, output schema, price, free calls and success rate of one tool. Read it before the first " +
      "call of a tool. Free of charge.",
    input: DescribeToolInput,
    output: DescribeToolOutput,
    readOnly: true
  },
  call_tool: {
    title: "Call a tool",
    description:
      "Calls any tool of the catalog and returns its result. The account is charged the price of the tool; " +
      "max_cost_microcents limits it. Nothing is charged where the call is rejected.",
    input: CallToolInput,
    output: undefined,
    readOnly: false
  },
  quote: {
    title: "Quote a call",
    description:
      "Returns what a call would cost now, the free calls left, and whether the available balance covers it. The tool is " +
      "not called. Free of charge.",
    input: QuoteInput,
    output: QuoteOutput,
    readOnly: true
  },
  balance: {
    title: "Show the balance",
    description:
      "Returns the available balance and the budgets of the account, and the URL for adding funds. Free of charge.",
    input: BalanceInput,
    output: BalanceOutput,
    readOnly: true
  }
}

const schemaOf = (schema: Schema.Top): JsonSchema =>
  tidy(Schema.toJsonSchemaDocument(schema).schema as JsonSchema, true)

/** As the calls are read: without other arguments. */
const closed = ({ properties = {}, required = [] }: JsonSchema): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

/** Any tool may be called, so a call can have any effect. */
const annotationsOf = ({ readOnly, title }: Definition) =>
  readOnly ? { title, readOnlyHint: true, openWorldHint: false } : { title, readOnlyHint: false, openWorldHint: true }

/** As JSON texts, in the order of `MARKET_TOOLS`. */
export const marketToolTexts: ReadonlyArray<string> = MARKET_TOOLS.map((name) => {
  const definition = definitions[name]
  const { description, input, output, title } = definition
  return JSON.stringify({
    name,
    title,
    description,
    inputSchema: closed(schemaOf(input)),
    ...(output === undefined ? {} : { outputSchema: schemaOf(output) }),
    annotations: annotationsOf(definition)
  })
})
