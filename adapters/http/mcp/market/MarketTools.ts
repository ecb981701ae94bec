/**
 * The market door's own tools, which are always listed. Models read the descriptions of their input and output.
 */
import { Schema } from "effect"
import { Category } from "../../../../domain/catalog/Tool.ts"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../../domain/shared/Idempotency.ts"
import { MicrocentsFromInt } from "../../../../domain/shared/Microcents.ts"
import * as Field from "../../contract/Field.ts"
import { Bounded, IntBetween, JsonObject } from "../../contract/InputSchemas.ts"
import { type JsonSchema, tidy } from "../../openapi/OpenApiModel.ts"

export const TOOLS_FOUND_DEFAULT = 10
const TOOLS_FOUND_MAX = 20

const NAME_CHARS_MAX = 161
const tool = Field.of(
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(NAME_CHARS_MAX)),
  "The tool: `tool` of a result of search_tools, such as `demo/echo`, or a tool ID, or a name from the list of tools."
)
const StoredSchema = Schema.Record(Schema.String, Schema.Json)

export const SearchToolsInput = Schema.Struct({
  query: Field.optional(
    Bounded(200),
    "What the tool does, in a few words. Each word is compared with the beginnings of the words in names, categories and " +
      "descriptions. Absent: lists all tools."
  ),
  category: Field.optional(Category, "Only tools of this category."),
  max_price_microcents: Field.optional(
    MicrocentsFromInt,
    "Only tools whose calls cost at most this much. $1 is 1000000 microcents."
  ),
  sort: Field.optional(Schema.Literals(["name", "price", "price_desc", "newest"]), "Order. Default: name."),
  limit: Field.optional(
    IntBetween(1, TOOLS_FOUND_MAX),
    `Maximum number of tools, at most ${TOOLS_FOUND_MAX}. Default: ${TOOLS_FOUND_DEFAULT}.`
  ),
  cursor: Field.optional(Bounded(600), "`next_cursor` of the previous result, with the same other arguments.")
})

export const DescribeToolInput = Schema.Struct({ tool })

export const CallToolInput = Schema.Struct({
  tool,
  arguments: Field.optional(JsonObject, "Arguments of the tool. They must fit its `input_schema`: see describe_tool."),
  max_cost_microcents: Field.optional(
    MicrocentsFromInt,
    "The most that this call may cost, in microcents. $1 is 1000000. Required for usage-priced tools, unless the account " +
      "or the key has a default."
  ),
  idempotency_key: Field.optional(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(IDEMPOTENCY_KEY_CHARS_MAX)),
    "Any text of your own. A repeated call with the same key and arguments is not executed and not charged again: it " +
      "returns the first result."
  )
})

export const QuoteInput = Schema.Struct({
  tool,
  arguments: Field.optional(JsonObject, "Arguments of the call. They are checked, and not sent to the tool.")
})

export const BalanceInput = Schema.Struct({})

const amount = (description: string) => Field.of(Schema.Int, `${description}, in microcents.`)

const priced = {
  price: Field.of(Schema.String, "Price of a call as text."),
  price_microcents: amount("Price of a call"),
  max_cost_microcents: amount("Maximum cost of a call"),
  usage_priced: Field.of(
    Schema.Boolean,
    "Whether the provider reports the cost of each call, up to `max_cost_microcents`. Such calls need a cap."
  ),
  free_calls_per_month: Field.of(Schema.Int, "Free calls of an account in a calendar month.")
}

const listed = {
  tool: Field.of(Schema.String, "Name for describe_tool, quote and call_tool."),
  tool_id: Field.of(Schema.String, "ID of the tool."),
  title: Field.of(Schema.String, "Display name."),
  description: Field.of(Schema.String, "What the tool does."),
  category: Field.of(Schema.String, "Category."),
  provider: Field.of(Schema.String, "Name of the provider."),
  ...priced,
  trust_score: Field.of(
    Schema.NullOr(Schema.Int),
    "Trust score of the provider, from 0 to 100. null: too few calls to tell."
  )
}

const SearchToolsOutput = Schema.Struct({
  tools: Field.of(Schema.Array(Schema.Struct(listed)), "Tools that were found."),
  total: Field.of(Schema.Int, "Number of tools that match, over all pages."),
  has_all_words: Field.of(Schema.Boolean, "false: no tool has all words of the query. These have some of them."),
  next_cursor: Field.of(Schema.NullOr(Schema.String), "`cursor` of the next page. null: this is the last page.")
})

const DescribeToolOutput = Schema.Struct({
  ...listed,
  alias: Field.of(
    Schema.NullOr(Schema.String),
    "Name of the tool if it is in the toolbox: then it can be called directly. null: use call_tool."
  ),
  input_schema: Field.of(Schema.NullOr(StoredSchema), "JSON Schema of the arguments. null: not specified."),
  output_schema: Field.of(Schema.NullOr(StoredSchema), "JSON Schema of the structured result. null: not specified."),
  billing_policy: Field.of(
    Schema.Literals(["success", "valid_output", "attempt"]),
    "When a call is charged: on success, on success with output that fits `output_schema`, or on every attempt."
  ),
  success_rate_percent: Field.of(Schema.NullOr(Schema.Finite), "Share of successful calls. null: no calls."),
  average_latency_ms: Field.of(Schema.NullOr(Schema.Finite), "Average latency. null: no calls."),
  price_change: Field.of(
    Schema.NullOr(Schema.Struct({ price: Schema.String, effective_from: Schema.String })),
    "Announced price. null: none."
  )
})

const QuoteOutput = Schema.Struct({
  tool: listed.tool,
  tool_id: listed.tool_id,
  ...priced,
  cost_microcents: amount("Cost of this call now: 0 while free calls are left"),
  hold_microcents: amount("Amount that is reserved while the call is in flight"),
  free_calls_left: Field.of(Schema.NullOr(Schema.Int), "Free calls left this month. null: the tool has no free calls."),
  available_microcents: amount("Available balance"),
  sufficient_funds: Field.of(Schema.Boolean, "Whether the available balance covers the call.")
})

const BalanceOutput = Schema.Struct({
  available: Field.of(Schema.String, "Available balance as text."),
  available_microcents: amount("Available balance"),
  held_microcents: amount("Amount that is reserved by calls in flight"),
  frozen: Field.of(Schema.Boolean, "Whether the account is frozen: then it cannot call tools."),
  budgets: Field.of(
    Schema.Array(
      Schema.Struct({
        tool_id: Field.of(Schema.NullOr(Schema.String), "Tool that the budget applies to. null: all."),
        provider_id: Field.of(Schema.NullOr(Schema.String), "Provider that the budget applies to. null: all."),
        cap_microcents: amount("Cap of the period"),
        left_microcents: amount("Amount left in the period"),
        period: Field.of(Schema.String, "Period of the budget."),
        resets_at: Field.of(Schema.NullOr(Schema.String), "End of the period. null: never.")
      })
    ),
    "Spending caps of the account."
  ),
  add_funds_url: Field.of(Schema.String, "Page where the user adds funds.")
})

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

/** Calls are read without other arguments. */
const closed = ({ properties = {}, required = [] }: JsonSchema): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

/** Any tool may be called, so a call can have any effect. */
const annotationsOf = ({ readOnly, title }: Definition) =>
  readOnly ? { title, readOnlyHint: true, openWorldHint: false } : { title, readOnlyHint: false, openWorldHint: true }

/** The tools as JSON texts, in the order of `MARKET_TOOLS`. */
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
