/**
 * The tools that an agent can call at a provider: its server offers them, and the market lists them. The texts of the
 * pages are composed once; only an account's own numbers are filled in per request.
 */
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { isUsagePriced, type Terms } from "../catalog/Terms.ts"
import type { ToolId } from "../shared/Ids.ts"
import { membersOf } from "../shared/JsonText.ts"
import { formatPrice, MICROCENTS_PER_DOLLAR } from "../shared/Microcents.ts"
import { format } from "../shared/Time.ts"
import { PRICE_META } from "../upstream/Protocol.ts"
import type { ListedTool, ToolList } from "../upstream/ProviderServers.ts"
import { type HeaderParameter, headerParametersOf } from "./HeaderParameters.ts"
import { plainItem, withMembers, withMeta } from "./PassedResults.ts"

// The definition of a tool as its provider's server lists it, with what a call costs: in `_meta`, and as the last sentence of
// the description, where models read it.

/** Cloudflare's name for a tool's price, as a number of dollars. */
const PRICE_USD_META = "agents-x402/priceUSD"

/** It stands for an account's own number of free calls. JSON text contains no such character. */
export const FREE_CALLS_LEFT = "\0"

/** `described`: with the price in the description. */
export const pricedTool = (definition: string, entry: CatalogEntry, described: boolean): string => {
  const priced = withMeta(definition, {
    [PRICE_META]: priceText(entry),
    [PRICE_USD_META]: String(Number(entry.price) / Number(MICROCENTS_PER_DOLLAR))
  })
  const sentence = described ? priceSentence(entry) : undefined
  return sentence === undefined ? priced : withSentence(priced, sentence)
}

const priceText = (entry: CatalogEntry): string => {
  const { freeTierCalls, prices, priceVersion } = entry
  const members = JSON.stringify({
    ...amounts(entry),
    price_version: priceVersion,
    usage_priced: isUsagePriced(entry),
    upcoming: prices.upcoming === undefined ? null : upcomingOf(prices.upcoming)
  })
  return `${members.slice(0, -1)},"free_tier_remaining":${freeTierCalls === 0 ? "null" : FREE_CALLS_LEFT}}`
}

const amounts = ({ billingPolicy, maximum, price }: Terms) => ({
  price_microcents: Number(price),
  max_cost_microcents: Number(maximum),
  billing_policy: billingPolicy
})

const upcomingOf = (upcoming: NonNullable<CatalogEntry["prices"]["upcoming"]>) => ({
  ...amounts(upcoming),
  price_version: upcoming.version,
  effective_from: format(upcoming.effectiveFrom)
})

/** Returns undefined for a tool that costs nothing. */
export const priceSentence = (entry: CatalogEntry): string | undefined => {
  if (entry.maximum === 0n) return undefined
  const amount = isUsagePriced(entry)
    ? `Costs up to ${formatPrice(entry.maximum)} per call, by usage`
    : `Costs ${formatPrice(entry.price)} per call`
  return entry.freeTierCalls === 0 ? `${amount}.` : `${amount} after ${entry.freeTierCalls} free calls a month.`
}

/** The sentence is plain ASCII without quotes: it needs no escapes. */
const withSentence = (definition: string, sentence: string): string => {
  const description = membersOf(definition).findLast(({ name }) => name === "description")?.text
  if (description === undefined) return withMembers(definition, { description: JSON.stringify(sentence) })
  if (!description.startsWith('"')) return definition
  const between = separatorAfter(JSON.parse(description) as string)
  return withMembers(definition, { description: `${description.slice(0, -1)}${between}${sentence}"` })
}

/** Returns JSON text. A text without a full stop, or a list or a block of code, would continue into the sentence. */
const separatorAfter = (description: string): string => {
  const text = description.trimEnd()
  if (text === "") return ""
  return description.includes("\n") || !ENDS_SENTENCE.test(text) ? String.raw`\n\n` : " "
}

const ENDS_SENTENCE = /[.!?…。！？]["'”’)\]]*$/u

export const TOOLS_PER_PAGE_MAX = 1_000
const PAGE_CHARS_MAX = 2 * 1024 * 1024

export interface OfferedTool {
  readonly listed: ListedTool
  readonly entry: CatalogEntry
}

export interface ToolPage {
  /** The elements of the array, interrupted where a number of free calls belongs. */
  readonly pieces: ReadonlyArray<string>
  /** The tools whose free calls are left out, one between two pieces. */
  readonly free: ReadonlyArray<{ readonly toolId: ToolId; readonly freeCalls: number }>
  /** The name of the last tool, after which the next page begins; undefined on the last page. */
  readonly last: string | undefined
}

export class ToolOffer {
  readonly list: ToolList
  readonly tools: ReadonlyMap<string, OfferedTool>
  private readonly composed = new Map<boolean, ReadonlyArray<ToolPage>>()
  private readonly headers = new Map<string, ReadonlyArray<HeaderParameter>>()

  constructor(list: ToolList, entries: ReadonlyArray<CatalogEntry>) {
    const byName = new Map(entries.map((entry) => [entry.tool.toolName as string, entry]))
    this.list = list
    this.tools = new Map(
      list.tools.flatMap((listed) => {
        const entry = byName.get(listed.name)
        return entry === undefined
          ? []
          : [[listed.name, { listed: { ...listed, text: plainItem(listed.text) }, entry }] as const]
      })
    )
  }

  /** The page after the one with this last tool. Undefined if there is none: the tools have changed since. */
  page(after: string | undefined, described: boolean): ToolPage | undefined {
    const pages = this.composed.get(described) ?? pagesOf([...this.tools.values()], described)
    this.composed.set(described, pages)
    if (after === undefined) return pages[0]
    const before = pages.findIndex(({ last }) => last === after)
    return before === -1 ? undefined : pages[before + 1]
  }

  /** The arguments of a tool that are sent as headers too. None if its definition of them is invalid. */
  headerParameters(toolName: string): ReadonlyArray<HeaderParameter> {
    const known = this.headers.get(toolName)
    if (known !== undefined) return known
    const listed = this.tools.get(toolName)?.listed
    if (listed === undefined) return []
    const parameters = headerParametersOf(listed.definition["inputSchema"]) ?? []
    this.headers.set(toolName, parameters)
    return parameters
  }
}

const pagesOf = (tools: ReadonlyArray<OfferedTool>, described: boolean): ReadonlyArray<ToolPage> => {
  const pages: Array<ToolPage> = []
  let texts: Array<string> = []
  let chars = 0
  let on: Array<OfferedTool> = []
  const end = (hasMore: boolean) => {
    const free = on
      .filter(({ entry }) => entry.freeTierCalls > 0)
      .map(({ entry }) => ({ toolId: entry.tool.id, freeCalls: entry.freeTierCalls }))
    pages.push({
      pieces: texts.join(",").split(FREE_CALLS_LEFT),
      free,
      last: hasMore ? on.at(-1)?.listed.name : undefined
    })
    texts = []
    chars = 0
    on = []
  }
  for (const tool of tools) {
    const text = pricedTool(tool.listed.text, tool.entry, described)
    if (on.length === TOOLS_PER_PAGE_MAX || (on.length > 0 && chars + text.length > PAGE_CHARS_MAX)) end(true)
    texts.push(text)
    chars += text.length
    on.push(tool)
  }
  end(false)
  return pages
}

/** The elements of the page's array, with the account's free calls. */
export const elementsFor = (page: ToolPage, used: ReadonlyMap<ToolId, number>): string => {
  const [first = "", ...others] = page.pieces
  return page.free.length === 0
    ? first
    : others.reduce((text, piece, n) => {
        const { freeCalls, toolId } = page.free[n]!
        return `${text}${Math.max(0, freeCalls - (used.get(toolId) ?? 0))}${piece}`
      }, first)
}
