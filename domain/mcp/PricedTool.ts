/**
 * The definition of a tool as its provider's server lists it, with what a call costs: in `_meta`, and as the last sentence of
 * the description, where models read it.
 */
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { isUsagePriced, type Terms } from "../catalog/Terms.ts"
import { membersOf } from "../shared/JsonText.ts"
import { formatPrice, MICROCENTS_PER_DOLLAR } from "../shared/Microcents.ts"
import { format } from "../shared/Timestamp.ts"
import { PRICE_META } from "../upstream/Protocol.ts"
import { withMembers, withMeta } from "./ResultText.ts"

/** Cloudflare's name for a tool's price, as a number of dollars. */
const PRICE_USD_META = "agents-x402/priceUSD"

/** In place of an account's own number of free calls. JSON text contains no such character. */
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

/** Undefined for a tool that costs nothing. */
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

/** As JSON. What ends without a full stop, or in a list or a block of code, would continue into the sentence. */
const separatorAfter = (description: string): string => {
  const text = description.trimEnd()
  if (text === "") return ""
  return description.includes("\n") || !ENDS_SENTENCE.test(text) ? String.raw`\n\n` : " "
}

const ENDS_SENTENCE = /[.!?…。！？]["'”’)\]]*$/u
