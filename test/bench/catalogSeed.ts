/**
 * A catalog of any size, the same at every run: providers, tools with realistic texts and schemas, their prices. And
 * how long its pages take.
 */
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { lexemesOf } from "../../adapters/sql/catalog/SearchLexemes.ts"
import { type CatalogFilter, type CatalogSort, CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { tokensOfQuery, tokensOfTool } from "../../domain/catalog/SearchTokens.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import type { PageRequest } from "../../domain/shared/Page.ts"

export const SEED_CATEGORIES = 25
const BATCH_ROWS = 1_000
const FIRST_INSTANT = DateTime.makeUnsafe("2026-01-01T00:00:00.000Z")

export const seedCatalog = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  size: { readonly providers: number; readonly tools: number }
) {
  const random = mulberry32(20_260_101)
  const at = DateTime.toDate(FIRST_INSTANT)
  const providers = Array.from({ length: size.providers }, (_, n) => ({
    id: seedId(1, n),
    name: `${pick(random)} labs ${n}`
  }))
  for (const batch of batches(providers)) {
    yield* sql`
      INSERT INTO providers (id, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at, handle)
      SELECT id, name, 'seed@example.com', 'https://example.com/mcp', '', 'per_call', 0, ${at}, 'seed-' || substr(md5(id::text), 1, 20)
      FROM unnest(${batch.map((one) => one.id)}::uuid[], ${batch.map((one) => one.name)}::text[]) AS seed(id, name)`
  }
  // Otherwise the index would be updated word by word; like this, in batches.
  yield* sql`ALTER INDEX tools_by_search SET (fastupdate = on, gin_pending_list_limit = 65536)`
  const tools = Array.from({ length: size.tools }, (_, n) => {
    const provider = providers[n % providers.length]!
    const tool = {
      toolName: `${pick(random)}_${pick(random)}_${n}`,
      displayName: `${pick(random)} ${pick(random)}`,
      category: `category ${Math.floor(random() * SEED_CATEGORIES)}`,
      description: Array.from({ length: 15 + Math.floor(random() * 45) }, () => pick(random)).join(" ")
    }
    return {
      ...tool,
      id: seedId(2, n),
      providerId: provider.id,
      price: BigInt(Math.floor(random() * 500) * 100),
      lexemes: lexemesOf(tokensOfTool(tool, provider.name)).join(" ")
    }
  })
  for (const batch of batches(tools)) {
    yield* sql`
      WITH stored AS (
        INSERT INTO tools (id, provider_id, tool_name, display_name, category, description, price_microcents,
          effective_price_microcents, effective_max_cost_microcents, effective_free_tier_calls, effective_billing_policy,
          effective_leaving, price_version, price_versions, price_announced_at, price_since, input_schema, billing_policy, idempotent,
          search, created_at, updated_at)
        SELECT id, provider_id, tool_name, display_name, category, description, price, price, price, 100, 'success', 'outcome', 1, 1, ${at},
          ${at}, ${SCHEMA}::json,
          'success', false, array_to_tsvector(string_to_array(lexemes, ' ')), ${at}, ${at}
        FROM unnest(${batch.map((one) => one.id)}::uuid[], ${batch.map((one) => one.providerId)}::uuid[],
          ${batch.map((one) => one.toolName)}::text[], ${batch.map((one) => one.displayName)}::text[],
          ${batch.map((one) => one.category)}::text[], ${batch.map((one) => one.description)}::text[],
          ${batch.map((one) => one.price)}::int8[], ${batch.map((one) => one.lexemes)}::text[])
          AS seed(id, provider_id, tool_name, display_name, category, description, price, lexemes)
        RETURNING id, effective_price_microcents
      )
      INSERT INTO tool_prices (tool_id, version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy,
        leaving, announced_at, effective_from)
      SELECT id, 1, effective_price_microcents, effective_price_microcents, 100, 'success', 'outcome', ${at}, ${at}
      FROM stored`
  }
  // Clears the pending list too.
  yield* sql`VACUUM ANALYZE tools`
  yield* sql`ALTER INDEX tools_by_search RESET (gin_pending_list_limit)`
  yield* sql`ALTER INDEX tools_by_search SET (fastupdate = off)`
})

export interface CatalogQuestion {
  readonly name: string
  readonly filter: CatalogFilter
  readonly sort: CatalogSort
  readonly page: PageRequest
}

export interface CatalogTiming {
  readonly name: string
  readonly total: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

const SORTS: ReadonlyArray<CatalogSort> = ["name", "price", "price_desc", "newest"]

/**
 * No filter, one category, a rare word, a common one, a single letter, two words in a category, a large offset: in
 * every order.
 */
export const catalogQuestions: ReadonlyArray<CatalogQuestion> = [
  { asks: "everything", q: "", category: undefined, offset: 0 },
  { asks: "everything, far in", q: "", category: undefined, offset: 40_000 },
  { asks: "a category", q: "", category: "category 7", offset: 0 },
  { asks: "a rare word", q: "49999", category: undefined, offset: 0 },
  { asks: "a common word", q: "data", category: undefined, offset: 0 },
  { asks: "one letter", q: "s", category: undefined, offset: 0 },
  { asks: "two beginnings", q: "da se", category: undefined, offset: 0 },
  { asks: "a word in a category", q: "data", category: "category 7", offset: 0 },
  { asks: "nothing there", q: "zzzzzz", category: undefined, offset: 0 },
  { asks: "below a price", q: "", category: undefined, offset: 0, maxPrice: Microcents.make(5_000n) },
  { asks: "a word below a price", q: "data", category: undefined, offset: 0, maxPrice: Microcents.make(500n) }
].flatMap(({ asks, category, maxPrice, offset, q }) =>
  SORTS.map((sort) => ({
    name: `${asks}, by ${sort}`,
    filter: { category, providerId: undefined, maxPrice, tokens: tokensOfQuery(q) },
    sort,
    page: { limit: 50, offset, after: undefined }
  }))
)

/** Each query `rounds` times, one after the other, after a few that do not count. */
export const measureCatalog = Effect.fnUntraced(function* (questions: ReadonlyArray<CatalogQuestion>, rounds: number) {
  const store = yield* CatalogStore
  const timings: Array<CatalogTiming> = []
  for (const { filter, name, page, sort } of questions) {
    const durations: Array<number> = []
    let total = 0
    for (let round = -5; round < rounds; round++) {
      const startedAt = performance.now()
      total = (yield* store.search(filter, sort, page)).total
      if (round >= 0) durations.push(performance.now() - startedAt)
    }
    durations.sort((a, b) => a - b)
    const rank = (share: number) => durations[Math.max(0, Math.ceil(share * durations.length) - 1)]!
    timings.push({ name, total, p50Ms: rank(0.5), p99Ms: rank(0.99), maxMs: durations.at(-1)! })
  }
  return timings
})

const WORDS = (
  "data search weather image translate summarize send query read write file mail calendar market price stock news map " +
  "route geocode convert currency pdf text speech audio video code review test deploy metric log trace alert ticket user " +
  "account invoice payment order product review score rank model embed vector cluster graph table sheet chart report " +
  "schedule remind note task project board commit branch issue merge build server domain certificate secret token hash"
).split(" ")

const SYLLABLES = "ka lo mi ren sa tor vel zu pa din gra sel no fi ber tan qui das ses sta".split(" ")

const SCHEMA = JSON.stringify({
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, maxLength: 500, description: "What is looked for" },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
    language: { type: "string", enum: ["en", "de", "fr", "es"] },
    options: { type: "object", properties: { fresh: { type: "boolean" }, region: { type: "string" } } }
  },
  required: ["query"]
})

/** Half plain words, half of a long tail of generated ones. */
const pick = (random: () => number): string =>
  random() < 0.5
    ? WORDS[Math.floor(random() ** 2 * WORDS.length)]!
    : Array.from({ length: 3 }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]!).join("")

const mulberry32 = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** A version 7 UUID of the seed's own instant: `kind` distinguishes providers from tools. */
const seedId = (kind: number, n: number): string => {
  const time = (FIRST_INSTANT.epochMilliseconds + n).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${String(kind).padStart(3, "0")}-8000-${n.toString(16).padStart(12, "0")}`
}

const batches = <A>(rows: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(rows.length / BATCH_ROWS) }, (_, n) =>
    rows.slice(n * BATCH_ROWS, (n + 1) * BATCH_ROWS)
  )
