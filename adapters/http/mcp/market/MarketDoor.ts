/**
 * The market door: the tools of the key's toolbox under their aliases, and tools of its own that find, price and call any
 * tool of the catalog. No server stands behind it: calls go to the provider of the tool.
 */
import { DateTime, Effect, Option, Result, Schema } from "effect"
import { qualifiedName } from "../../../../domain/accounts/Handle.ts"
import { Levels, scopesOf } from "../../../../domain/accounts/Levels.ts"
import { Catalog } from "../../../../domain/catalog/Catalog.ts"
import { type CatalogEntry, MarketFigures } from "../../../../domain/catalog/CatalogStore.ts"
import { isUsagePriced, priceText } from "../../../../domain/catalog/Terms.ts"
import { Budgets, type BudgetStatus, resetsAt } from "../../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../../domain/ledger/Ledger.ts"
import { makeAliasReader, searchLoosely, Toolbox, ToolboxChanges, ToolboxList } from "../../../../domain/mcp/Toolbox.ts"
import { Metering } from "../../../../domain/metering/Metering.ts"
import { ToolDirectory, ToolNotFound, type ToolReference } from "../../../../domain/metering/ToolDirectory.ts"
import { FreezeStore } from "../../../../domain/payments/AccountFreezes.ts"
import { ToolId } from "../../../../domain/shared/Ids.ts"
import { membersOf } from "../../../../domain/shared/JsonText.ts"
import { formatPrice, type Microcents } from "../../../../domain/shared/Microcents.ts"
import { guessOf } from "../../../../domain/shared/NearestName.ts"
import { escapeHidden } from "../../../../domain/shared/PlainText.ts"
import { StoreUnavailable } from "../../../../domain/shared/StoreUnavailable.ts"
import { format } from "../../../../domain/shared/Time.ts"
import { Trust } from "../../../../domain/trust/Trust.ts"
import { API_VERSION, BaseUrl, pageUrl } from "../../contract/BaseUrl.ts"
import { PRODUCT_NAME } from "../../contract/SampleValues.ts"
import { pageFields, pageRequest, payloadDecoder } from "../../pipeline/Decoding.ts"
import type { ValidationFailed } from "../../pipeline/Failures.ts"
import { type Consumer, type Door, type DoorRequest, type DoorTool, listClient, type ToolArguments } from "../Door.ts"
import type { DoorPath } from "../DoorRoutes.ts"
import { invalidParams, methodNotFound, type RpcFault } from "../RpcMessages.ts"
import { LIST_CHANGED, makeSubscriptions, subscription } from "../Subscriptions.ts"
import {
  BalanceInput,
  CallToolInput,
  DescribeToolInput,
  isMarketTool,
  MARKET_TOOLS,
  type MarketTool,
  marketToolTexts,
  QuoteInput,
  SearchToolsInput,
  TOOLS_FOUND_DEFAULT
} from "./MarketTools.ts"

// Results of the market door's own tools. A model may read a hidden character that no person sees, so they are shown.

/** Clients that do not read `structuredContent` read the same as text. */
const ownResult = (value: object): string => {
  const json = escapeHidden(JSON.stringify(value))
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}}`
}

/** A model can act on the words. */
const ownError = (text: string): string =>
  JSON.stringify({ content: [{ type: "text", text: escapeHidden(text) }], isError: true })

// Tools as the market door shows them to models: amounts are JSON numbers.

const priceOf = (entry: CatalogEntry) => ({
  price: priceText(entry),
  price_microcents: Number(entry.price),
  max_cost_microcents: Number(entry.maximum),
  usage_priced: isUsagePriced(entry),
  free_calls_per_month: entry.freeTierCalls
})

const namesOf = ({ provider, tool }: CatalogEntry) => ({
  tool: qualifiedName(provider.handle, tool.toolName),
  tool_id: tool.id
})

const summaryOf = (entry: CatalogEntry, trustScore: number | undefined, descriptionCharsMax: number) => {
  const { provider, tool } = entry
  return {
    ...namesOf(entry),
    title: tool.displayName,
    description: shortened(tool.description, descriptionCharsMax),
    category: tool.category,
    provider: provider.name,
    ...priceOf(entry),
    trust_score: trustScore ?? null
  }
}

const shortened = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed().trimEnd()}…`

// The answers of the market door's own tools that call nothing: from the services of the domain, free of charge.

const FOUND_DESCRIPTION_CHARS_MAX = 300

const makeMarketAnswers = Effect.gen(function* () {
  const catalog = yield* Catalog
  const directory = yield* ToolDirectory
  const toolbox = yield* Toolbox
  const figures = yield* MarketFigures
  const trust = yield* Trust
  const metering = yield* Metering
  const ledger = yield* Ledger
  const budgets = yield* Budgets
  const levels = yield* Levels
  const freezes = yield* FreezeStore
  const baseUrl = yield* BaseUrl

  const searchTools = Effect.fnUntraced(function* (input: typeof SearchToolsInput.Type) {
    const sort = input.sort ?? "name"
    const list = `search_tools:${sort}`
    const page = yield* pageRequest(list, { limit: input.limit ?? TOOLS_FOUND_DEFAULT, cursor: input.cursor })
    const found = yield* searchLoosely(catalog, {
      q: input.query,
      category: input.category,
      providerId: undefined,
      maxPrice: input.max_price_microcents,
      sort,
      page
    })
    const scores = yield* trust.catalogScores([...new Set(found.items.map(({ provider }) => provider.id))])
    const { next_cursor: cursor, total } = pageFields(list, page, found)
    return {
      tools: found.items.map((entry) =>
        summaryOf(entry, scores.get(entry.provider.id)?.score, FOUND_DESCRIPTION_CHARS_MAX)
      ),
      total,
      has_all_words: found.hasAllWords,
      next_cursor: cursor
    }
  })

  const describeTool = Effect.fnUntraced(function* (caller: Consumer, reference: ToolReference) {
    const entry = yield* directory.find(reference)
    const { prices, provider, tool } = entry
    const scores = yield* trust.catalogScores([provider.id])
    const stats = (yield* figures.ofTools([tool.id])).get(tool.id)
    const { tools } = yield* toolbox.listed(caller.ownerId, caller.keyId)
    const { upcoming } = prices
    return {
      ...summaryOf(entry, scores.get(provider.id)?.score, Number.POSITIVE_INFINITY),
      alias: tools.find((one) => one.entry.tool.id === tool.id)?.alias ?? null,
      input_schema: tool.inputSchema ?? null,
      output_schema: tool.outputSchema ?? null,
      billing_policy: entry.billingPolicy,
      success_rate_percent: stats?.uptimePct ?? null,
      average_latency_ms: stats?.avgLatencyMs ?? null,
      price_change:
        upcoming === undefined ? null : { price: priceText(upcoming), effective_from: format(upcoming.effectiveFrom) }
    }
  })

  const quote = Effect.fnUntraced(function* (
    caller: Consumer,
    reference: ToolReference,
    input: typeof QuoteInput.Type,
    maxCost: Microcents | undefined
  ) {
    const quoted = yield* metering.quote({
      consumerId: caller.ownerId,
      tool: reference,
      arguments: input.arguments ?? {},
      maxCost,
      defaultCap: caller.defaultCap,
      levels: caller.levels,
      idempotency: undefined
    })
    return {
      ...namesOf(quoted.entry),
      ...priceOf(quoted.entry),
      cost_microcents: Number(quoted.cost),
      hold_microcents: Number(quoted.hold),
      free_calls_left: quoted.freeCallsLeft ?? null,
      available_microcents: Number(quoted.availableMicrocents),
      sufficient_funds: quoted.availableMicrocents >= quoted.hold
    }
  })

  /** A key with bounds sees what it can spend; without the scope `read`, nothing else of the account. */
  const balance = Effect.fnUntraced(function* (caller: Consumer) {
    const { ownerId } = caller
    const wallet = yield* ledger.wallet(ownerId)
    const own = yield* levels.budgets(caller)
    const mayRead = scopesOf(caller.levels)?.includes("read") ?? true
    const leftOf = (budget: BudgetStatus) => budget.cap - budget.spentMicrocents - budget.heldMicrocents
    const least = own.reduce((left, budget) => (leftOf(budget) < left ? leftOf(budget) : left), wallet.available)
    const available = least < 0n ? 0n : least
    const held = mayRead ? wallet.held : 0n
    const shown = [...(mayRead ? yield* budgets.list(ownerId) : []), ...own]
    const now = yield* DateTime.now
    return {
      available: available === 0n ? "$0.00" : formatPrice(available),
      available_microcents: Number(available),
      held_microcents: Number(held),
      frozen: Option.isSome(yield* freezes.find(ownerId)),
      budgets: shown.map((budget) => ({
        tool_id: budget.toolId ?? null,
        provider_id: budget.providerId ?? null,
        cap_microcents: Number(budget.cap),
        left_microcents: Math.max(0, Number(leftOf(budget))),
        period: budget.period,
        resets_at: resetsAt(budget.period, now) ?? null
      })),
      add_funds_url: pageUrl(baseUrl, "/developer/funds")
    }
  })

  return { searchTools, describeTool, quote, balance }
})

const isToolId = Schema.is(ToolId)

const makeOwnTools = Effect.gen(function* () {
  const answers = yield* makeMarketAnswers
  const readAlias = yield* makeAliasReader

  /**
   * A bare name is not accepted: the tool that it would mean is not always the one that the model has in mind, and any
   * provider may list a tool that is named like an alias, or like a qualified name of another provider.
   */
  const referenceOf = (
    caller: Consumer,
    name: string
  ): Effect.Effect<ToolReference, ToolNotFound | StoreUnavailable> => {
    if (isToolId(name)) return Effect.succeed(byId(name))
    if (name.includes("/")) return Effect.succeed(byHandle(name))
    return Effect.flatMap(
      readAlias(name, caller, []),
      Result.match({
        onSuccess: (toolId) => Effect.succeed(byId(toolId)),
        onFailure: (nearest) => Effect.fail(new ToolNotFound({ tool: name, nearest }))
      })
    )
  }

  const answered = (given: Effect.Effect<object, Rejected | StoreUnavailable>) =>
    reported(Effect.map(given, (value): DoorTool => ({ _tag: "Own", result: ownResult(value) })))

  const run: Readonly<
    Record<
      MarketTool,
      (
        caller: Consumer,
        given: ToolArguments,
        maxCost: Microcents | undefined
      ) => Effect.Effect<DoorTool, StoreUnavailable>
    >
  > = {
    search_tools: (_, given) => answered(Effect.flatMap(decode.search(given.value), answers.searchTools)),

    describe_tool: (caller, given) =>
      answered(
        Effect.flatMap(decode.describe(given.value), ({ tool }) =>
          Effect.flatMap(referenceOf(caller, tool), (reference) => answers.describeTool(caller, reference))
        )
      ),

    quote: (caller, given, maxCost) =>
      answered(
        Effect.flatMap(decode.quote(given.value), (input) =>
          Effect.flatMap(referenceOf(caller, input.tool), (reference) =>
            answers.quote(caller, reference, input, maxCost)
          )
        )
      ),

    balance: (caller, given) => answered(Effect.flatMap(decode.balance(given.value), () => answers.balance(caller))),

    call_tool: (caller, given) =>
      reported(
        Effect.flatMap(decode.call(given.value), (input) =>
          Effect.map(referenceOf(caller, input.tool), (tool): DoorTool => ({
            _tag: "Billed",
            tool,
            arguments: {
              text: membersOf(given.text).findLast(({ name }) => name === "arguments")?.text ?? "{}",
              value: input.arguments ?? {}
            },
            maxCost: input.max_cost_microcents,
            idempotencyKey: input.idempotency_key
          }))
        )
      )
  }
  return run
})

type Rejected = Error & { readonly _tag: string }

/** The model has to learn what is wrong with the call: a JSON-RPC error would not reach it. */
const reported = <E extends Rejected>(work: Effect.Effect<DoorTool, E | StoreUnavailable>) =>
  work.pipe(
    Effect.catch((error): Effect.Effect<DoorTool, StoreUnavailable> =>
      error instanceof StoreUnavailable
        ? Effect.fail(error)
        : Effect.succeed({ _tag: "Own", result: ownError(sentencesOf(error)) })
    )
  )

const FAULTS_SHOWN_MAX = 10

const sentencesOf = (error: Rejected): string => {
  if (isInvalid(error))
    return error.faults
      .slice(0, FAULTS_SHOWN_MAX)
      .map(({ message }) => message)
      .join(" ")
  if (error instanceof ToolNotFound) {
    return `${error.message} Send \`tool\` of a result of search_tools, such as \`demo/echo\`.`
  }
  const violations = "violations" in error ? (error.violations as ReadonlyArray<Violation>) : []
  const shown = violations
    .slice(0, FAULTS_SHOWN_MAX)
    .map(({ message, path }) => (path.length === 0 ? message : `\`${path.join(".")}\` ${message}`))
  return [error.message, ...(shown.length === 0 ? [] : [`${shown.join("; ")}.`])].join(" ")
}

interface Violation {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

const isInvalid = (error: Rejected): error is ValidationFailed => error._tag === "ValidationFailed"

const byId = (toolId: ToolId): ToolReference => ({ toolId, toolName: undefined, providerId: undefined })

const byHandle = (name: string): ToolReference => ({
  toolId: undefined,
  toolName: name,
  providerId: undefined,
  isQualified: true
})

const decoderOf = <S extends Schema.Top>(schema: S) =>
  payloadDecoder(schema) as (input: unknown) => Effect.Effect<S["Type"], ValidationFailed>

const decode = {
  search: decoderOf(SearchToolsInput),
  describe: decoderOf(DescribeToolInput),
  call: decoderOf(CallToolInput),
  quote: decoderOf(QuoteInput),
  balance: decoderOf(BalanceInput)
}

// Messages of the market door that belong to no request: the toolbox, a tool or a price in it has changed. They are
// sent in `subscriptions/listen`, or in the GET stream of a session.

const makeMarketMessages = Effect.map(ToolboxChanges, ({ watch }) => {
  /** Watches until it is interrupted. */
  const changes = ({ keyId, ownerId }: Consumer, onChange: () => void): Effect.Effect<never> =>
    Effect.scoped(Effect.andThen(watch(ownerId, keyId, onChange), Effect.never))

  return {
    subscription: (request: DoorRequest, limitMs: number) =>
      subscription(request, limitMs, (onChange) => changes(request.caller, onChange)),
    listen: (caller: Consumer, send: (message: string) => void) => changes(caller, () => send(LIST_CHANGED))
  }
})

const CAPABILITIES = '{"tools":{"listChanged":true}}'

const instructions = (baseUrl: string): string =>
  "A market of tools of many providers, paid per call from one balance. The listed tools besides search_tools, " +
  "describe_tool, call_tool, quote and balance are those that the account has chosen or used; each description ends with " +
  "its price. For anything else, find a tool with search_tools, read describe_tool, and call it with call_tool. Every " +
  "call returns what it cost; a rejected call costs nothing. If the balance is too low, ask the user to add funds at " +
  `${pageUrl(baseUrl, "/developer/funds")}.`

const NAME_CHARS_SHOWN_MAX = 128

const unknownTool = (name: string, nearest: ReadonlyArray<string>): RpcFault => {
  const isQualified = nearest.some((one) => one.includes("/"))
  const then = isQualified ? "Call it with call_tool. Find tools with search_tools." : "Find tools with search_tools."
  return invalidParams(
    `There is no tool \`${name.slice(0, NAME_CHARS_SHOWN_MAX)}\`.${guessOf(nearest)} ${then}`,
    nearest.length === 0 ? undefined : { nearest }
  )
}

const marketDoor = Effect.gen(function* () {
  const list = yield* ToolboxList
  const readAlias = yield* makeAliasReader
  const own = yield* makeOwnTools
  const subscribed = yield* makeSubscriptions
  const { listen, subscription } = yield* makeMarketMessages
  const baseUrl = yield* BaseUrl

  const profile = {
    serverInfo: JSON.stringify({ name: "agent-tool-billing", title: PRODUCT_NAME, version: API_VERSION }),
    instructions: JSON.stringify(instructions(baseUrl))
  }

  const door: Door = {
    callTool: "call_tool" satisfies MarketTool,
    featuresOff: [],

    // Some tools are on servers that run calls as tasks.
    profile: ({ dialect }) => Effect.succeed({ ...profile, capabilities: dialect.withTasks(CAPABILITIES) }),

    tools: Effect.fnUntraced(function* (request, cursor) {
      const { caller, input } = request
      if (cursor !== undefined)
        return yield* invalidParams("`cursor` belongs to no page of this list: it has one page.")
      const isDescribed = new URLSearchParams(input.request.query).get("prices") !== "off"
      const chosen = yield* list.read(listClient(request), caller.ownerId, caller.keyId, isDescribed)
      return { tools: `[${[...marketToolTexts, ...chosen].join(",")}]`, nextCursor: undefined }
    }),

    tool: Effect.fnUntraced(function* ({ caller }, name, given, maxCost) {
      if (isMarketTool(name)) return yield* own[name](caller, given, maxCost)
      const read = yield* readAlias(name, caller, MARKET_TOOLS)
      if (Result.isFailure(read)) return yield* unknownTool(name, read.failure)
      const tool = { toolId: read.success, toolName: undefined, providerId: undefined }
      return { _tag: "Billed" as const, tool, arguments: given }
    }),

    listen,

    pass: (request) => {
      const { method } = request.rpc
      if (method !== "subscriptions/listen") {
        return Effect.fail(methodNotFound(`Method \`${method}\` does not exist here: the market offers tools only.`))
      }
      return subscribed(request, (limitMs) => subscription(request, limitMs))
    }
  }
  return door
})

export const marketDoorPath = Effect.map(marketDoor, (door): DoorPath => ({
  path: "/mcp",
  summary: "Tools that find and call any tool, and those of your toolbox: for MCP clients, with a consumer's key",
  doorOf: () => Effect.succeed(door)
}))
