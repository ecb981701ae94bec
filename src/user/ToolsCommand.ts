/**
 * `tools`: finds tools in the catalog and shows what a call costs.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Schemas } from "../../client/Contract.ts"
import { formatPrice } from "../../domain/shared/Microcents.ts"
import { GUESSES_MAX, guessOf, nearestNames } from "../../domain/shared/NearestName.ts"
import { type CommandFailure, failed } from "./CommandFailure.ts"
import { cursor, dollars, given, json, limit, present, textFlag } from "./CommandInput.ts"
import { moreAfter, safeJson, safeText, shown, textFields, textTable } from "./CommandOutput.ts"
import { ask, Market } from "./Market.ts"

type Tool = Schemas["CatalogTool"]

/** A misspelled bare name is compared with the first tools of the catalog. */
const CANDIDATES_MAX = 100

const filters = {
  json,
  limit,
  cursor,
  category: textFlag("category", "Category of the tools"),
  maxPrice: textFlag("max-price", "Highest cost of a call, in dollars"),
  sort: Flag.Literals("sort", ["name", "price", "price_desc", "newest"]).pipe(
    Flag.withDescription("Order of the tools"),
    Flag.withDefault("name")
  )
}

const listed = Effect.fnUntraced(function* (
  wanted: Command.Command.Config.Infer<typeof filters>,
  q: string | undefined
) {
  const maxPrice = given(wanted.maxPrice)
  const query = present({
    limit: wanted.limit,
    cursor: given(wanted.cursor),
    category: given(wanted.category),
    max_price_microcents: maxPrice === undefined ? undefined : yield* dollars("--max-price", maxPrice),
    sort: wanted.sort,
    q
  })
  const page = yield* ask("Reading the catalog", (client, signal) => client.catalog.catalog({ query, signal }))
  yield* shown(wanted.json, page, () =>
    page.tools.length === 0
      ? "No tools found."
      : textTable(
          ["TOOL", "PRICE", "CATEGORY", "DESCRIPTION"],
          page.tools.map((tool) => [tool.qualified_name, priceOf(tool), tool.category, tool.description])
        )
  )
  if (!wanted.json) yield* moreAfter(page)
})

const list = Command.make("list", filters, (wanted) => listed(wanted, undefined)).pipe(
  Command.withDescription("List the tools of the catalog")
)

const search = Command.make(
  "search",
  { ...filters, words: Argument.String("words").pipe(Argument.variadic({ min: 1 })) },
  ({ words, ...wanted }) => listed(wanted, words.join(" "))
).pipe(Command.withDescription("Search the catalog: words that names or descriptions have"))

const show = Command.make(
  "show",
  { json, tool: Argument.String("tool").pipe(Argument.withDescription("Qualified name, such as demo/echo, or ID")) },
  Effect.fn("tools show")(function* ({ json, tool: name }) {
    const tool = yield* Effect.catchIf(
      ask(`Reading ${name}`, (client, signal) => client.catalog.tool({ params: { id: name }, signal })),
      ({ details, kind }) => kind === "not_found" && details?.["code"] === "NOT_FOUND",
      (failure) => unknownTool(name, failure)
    )
    yield* shown(json, tool, () =>
      [
        textFields([
          ["Tool", tool.qualified_name],
          ["ID", tool.id],
          ["Price", priceOf(tool)],
          ["Free calls", `${tool.pricing.free_tier_calls} a month`],
          ["Charged", CHARGED[tool.pricing.billing_policy]],
          ["Provider", `${tool.provider.name} (${tool.provider.handle}, ${tool.provider.badge})`],
          ["Category", tool.category]
        ]),
        "",
        safeText(tool.description),
        "",
        `Input: ${safeJson(tool.input_schema)}`
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Show a tool with its price and its input"))

const CHARGED: Readonly<Record<Tool["pricing"]["billing_policy"], string>> = {
  success: "successful calls",
  valid_output: "calls whose output is valid",
  attempt: "every attempt"
}

export const tools = Command.make("tools").pipe(
  Command.withDescription("Find tools and their prices"),
  Command.withSubcommands([list, search, show]),
  Command.provide(Market.layerPublic)
)

/** A bare name is none of one tool. The service itself guesses qualified names. */
const unknownTool = Effect.fnUntraced(function* (name: string, failure: CommandFailure) {
  if (name.includes("/")) return yield* failure
  const { tools } = yield* ask("Searching for similar names", (client, signal) =>
    client.catalog.catalog({ query: { limit: CANDIDATES_MAX }, signal })
  )
  const near = new Set(
    nearestNames(
      name,
      tools.map((tool) => tool.tool_name),
      GUESSES_MAX
    )
  )
  const guesses = tools.filter((tool) => near.has(tool.tool_name)).map((tool) => tool.qualified_name)
  return yield* failed("not_found", `There is no tool \`${name}\`.${guessOf(guesses.slice(0, GUESSES_MAX))}`)
})

const priceOf = ({ pricing }: Tool): string =>
  pricing.usage_priced
    ? `by usage, at most ${formatPrice(BigInt(pricing.max_cost_microcents))}`
    : formatPrice(BigInt(pricing.price_microcents))
