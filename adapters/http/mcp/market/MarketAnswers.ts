/**
 * The answers of the market door's own tools that call nothing: from the services of the domain, free of charge.
 */
import { DateTime, Effect, Option } from "effect"
import { Catalog } from "../../../../domain/catalog/Catalog.ts"
import { MarketFigures } from "../../../../domain/catalog/MarketFigures.ts"
import { priceText } from "../../../../domain/catalog/Terms.ts"
import { Budgets, resetsAt } from "../../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../../domain/ledger/Ledger.ts"
import { Toolbox } from "../../../../domain/mcp/Toolbox.ts"
import { searchLoosely } from "../../../../domain/mcp/ToolboxSearch.ts"
import { Metering } from "../../../../domain/metering/Metering.ts"
import { ToolDirectory, type ToolReference } from "../../../../domain/metering/ToolDirectory.ts"
import { FreezeStore } from "../../../../domain/payments/AccountFreezes.ts"
import { formatPrice, type Microcents } from "../../../../domain/shared/Microcents.ts"
import { format } from "../../../../domain/shared/Time.ts"
import { Trust } from "../../../../domain/trust/Trust.ts"
import { BaseUrl, pageUrl } from "../../contract/BaseUrl.ts"
import { pageFields, pageRequest } from "../../pipeline/Decoding.ts"
import type { Consumer } from "../Door.ts"
import { type QuoteInput, type SearchToolsInput, TOOLS_FOUND_DEFAULT } from "./MarketToolFields.ts"
import { namesOf, priceOf, summaryOf } from "./ToolSummaries.ts"

const FOUND_DESCRIPTION_CHARS_MAX = 300

export const makeMarketAnswers = Effect.gen(function* () {
  const catalog = yield* Catalog
  const directory = yield* ToolDirectory
  const toolbox = yield* Toolbox
  const figures = yield* MarketFigures
  const trust = yield* Trust
  const metering = yield* Metering
  const ledger = yield* Ledger
  const budgets = yield* Budgets
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

  const balance = Effect.fnUntraced(function* ({ ownerId }: Consumer) {
    const { available, held } = yield* ledger.wallet(ownerId)
    const now = yield* DateTime.now
    return {
      available: available === 0n ? "$0.00" : formatPrice(available),
      available_microcents: Number(available),
      held_microcents: Number(held),
      frozen: Option.isSome(yield* freezes.find(ownerId)),
      budgets: (yield* budgets.list(ownerId)).map((budget) => ({
        tool_id: budget.toolId ?? null,
        provider_id: budget.providerId ?? null,
        cap_microcents: Number(budget.cap),
        left_microcents: Math.max(0, Number(budget.cap - budget.spentMicrocents - budget.heldMicrocents)),
        period: budget.period,
        resets_at: resetsAt(budget.period, now) ?? null
      })),
      add_funds_url: pageUrl(baseUrl, "/developer/funds")
    }
  })

  return { searchTools, describeTool, quote, balance }
})
