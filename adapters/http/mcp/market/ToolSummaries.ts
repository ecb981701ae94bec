/**
 * Tools as the market door shows them to models: amounts are JSON numbers.
 */
import { qualifiedName } from "../../../../domain/accounts/Handle.ts"
import type { CatalogEntry } from "../../../../domain/catalog/CatalogStore.ts"
import { isUsagePriced, priceText } from "../../../../domain/catalog/Terms.ts"

export const priceOf = (entry: CatalogEntry) => ({
  price: priceText(entry),
  price_microcents: Number(entry.price),
  max_cost_microcents: Number(entry.maximum),
  usage_priced: isUsagePriced(entry),
  free_calls_per_month: entry.freeTierCalls
})

export const namesOf = ({ provider, tool }: CatalogEntry) => ({
  tool: qualifiedName(provider.handle, tool.toolName),
  tool_id: tool.id
})

export const summaryOf = (entry: CatalogEntry, trustScore: number | undefined, descriptionCharsMax: number) => {
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
