/**
 * The catalog in PostgreSQL.
 */
import { Array as Arr, type DateTime, Effect, Option } from "effect"
import type { Statement } from "effect/sql"
import {
  type CatalogFilter,
  type CatalogSort,
  CatalogStore,
  type ChangeSource,
  type DefinitionField,
  definitionOf,
  isPosition,
  positionOf,
  type ToolDefinition,
  type ToolState,
  type ToolUpsert,
  type ToolVersion
} from "../../../domain/catalog/CatalogStore.ts"
import type { JsonSchemaObject, ToolAnnotations } from "../../../domain/catalog/Tool.ts"
import { ToolId } from "../../../domain/shared/Ids.ts"
import { sameJson } from "../../../domain/shared/JsonText.ts"
import { pageOf, type PageRequest, type Position } from "../../../domain/shared/Page.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { columnsOf } from "../shared/Columns.ts"
import { isStorable, toDate, toDateOrNull, toInstant } from "../shared/Rows.ts"
import { type StoreSql, storeLayer } from "../shared/StoreSql.ts"
import { ENTRY_COLUMNS, type EntryRow, toEntry, toPriceVersion } from "./CatalogRows.ts"

// Search tokens as PostgreSQL lexemes. A tool's vector holds its tokens and, marked, their first letters. A short
// prefix matches very many words; its marked lexeme is one index lookup instead of thousands.

const LETTERS_MAX = 3
/** Occurs in no token: tokens consist of letters and digits. */
const MARK = "^"

export const lexemesOf = (tokens: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lexemes = new Set(tokens)
  for (const token of tokens) {
    const letters = [...token].slice(0, LETTERS_MAX)
    for (let n = 1; n <= letters.length; n++) lexemes.add(MARK + letters.slice(0, n).join(""))
  }
  return [...lexemes]
}

/** Text of a `tsquery`: every token is the prefix of some word. Quoted, because a token is data with any characters. */
export const prefixQueryOf = (tokens: ReadonlyArray<string>): string =>
  tokens.map((token) => ([...token].length <= LETTERS_MAX ? quote(MARK + token) : `${quote(token)}:*`)).join(" & ")

const quote = (lexeme: string): string => `'${lexeme.replace(/['\\]/gu, "$&$&")}'`

// Totals of searches. Counting tens of thousands costs more than the page itself, so a total is cached with
// the catalog's number of changes and the frozen providers, and is valid only while these stay the same.

const TOTALS_KEPT_MAX = 1_000

interface Tally {
  readonly tools: bigint
  readonly changes: bigint
  /** Identifies the providers that are frozen; null: none. */
  readonly frozen: string | null
}

interface CatalogTotals {
  readonly tally: Effect.Effect<Tally, StoreUnavailable>
  /** Counts listed ones, without those of frozen providers. */
  everything(tally: Tally): Effect.Effect<number, StoreUnavailable>
  /** `key` identifies the conditions, which refer to the table as `t`. */
  matching(
    tally: Tally,
    key: string,
    conditions: ReadonlyArray<Statement.Fragment>
  ): Effect.Effect<number, StoreUnavailable>
}

const FROZEN = "(SELECT id FROM providers WHERE frozen_at IS NOT NULL)"

/** The few frozen providers are read once and hashed. */
const ofNoFrozenProvider = (sql: StoreSql): Statement.Fragment => sql`t.provider_id NOT IN ${sql.literal(FROZEN)}`

const catalogTotals = (sql: StoreSql): CatalogTotals => {
  const kept = new Map<string, { readonly changes: bigint; readonly frozen: string | null; readonly total: number }>()

  const columns = sql.literal(
    "sum(tools)::int8 AS tools, sum(changes)::int8 AS changes, " +
      "(SELECT md5(string_agg(id::text, '' ORDER BY id)) FROM providers WHERE frozen_at IS NOT NULL) AS frozen"
  )
  const tally = sql<Tally>`SELECT ${columns} FROM catalog_tallies`.one((row) => row)

  const keep = (key: string, { changes, frozen }: Tally, total: number): void => {
    kept.delete(key)
    if (kept.size >= TOTALS_KEPT_MAX) kept.delete(kept.keys().next().value!)
    kept.set(key, { changes, frozen, total })
  }

  // Planned for these values.
  const count = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql<Tally & { readonly total: bigint }>`
      SELECT (SELECT count(*) FROM tools t WHERE ${sql.and(conditions)}) AS total, ${columns}
      FROM catalog_tallies`.unprepared.one(({ total, ...counted }) => ({ total: Number(total), counted }))

  // PostgreSQL's estimate does not include the cost of comparing word lists: for common words it prefers to scan the
  // whole table. Before version 18, disabling that scan makes the estimate so large that the plan is first compiled to
  // machine code.
  const countByIndex = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql`SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.pipe(
      Effect.andThen(count(conditions)),
      sql.withTransaction
    )

  const matching: CatalogTotals["matching"] = Effect.fnUntraced(function* (now, key, conditions) {
    // Changes of an open transaction may be rolled back, so totals are not cached in one.
    if (yield* sql.isInTransaction) return (yield* count(conditions)).total
    const known = kept.get(key)
    if (known !== undefined && known.changes === now.changes && known.frozen === now.frozen) return known.total
    const { counted, total } = yield* countByIndex(conditions)
    if (counted.frozen === now.frozen) keep(key, counted, total)
    return total
  })

  return {
    tally,
    matching,

    everything: Effect.fnUntraced(function* (now) {
      if (now.frozen === null) return Number(now.tools)
      const hidden = [sql`t.withdrawn_at IS NULL`, sql`t.provider_id IN ${sql.literal(FROZEN)}`]
      return Number(now.tools) - (yield* matching(now, "of frozen providers", hidden))
    })
  }
}

// One page of the catalog. Every sort order walks an index, so a deep page costs the same as the first.

const catalogSearch = (sql: StoreSql, totals: CatalogTotals) => {
  const columns = sql.literal(ENTRY_COLUMNS)

  const conditions = ({ category, maxPrice, providerId, tokens }: CatalogFilter): ReadonlyArray<Statement.Fragment> => [
    ...(category === undefined ? [] : [isStorable(category) ? sql`t.category = ${category}` : sql`false`]),
    ...(providerId === undefined ? [] : [sql`t.provider_id = ${providerId}`]),
    ...(maxPrice === undefined ? [] : [sql`t.effective_max_cost_microcents <= ${maxPrice}`]),
    ...(tokens.length === 0 ? [] : [sql`t.search @@ ${prefixQueryOf(tokens)}::tsquery`])
  ]

  const ofState: Readonly<Record<ToolState, ReadonlyArray<Statement.Fragment>>> = {
    listed: [sql`t.withdrawn_at IS NULL`],
    withdrawn: [sql`t.withdrawn_at IS NOT NULL AND NOT t.draft`],
    draft: [sql`t.draft`],
    any: []
  }

  const beyond = (after: Position | undefined, sort: CatalogSort): ReadonlyArray<Statement.Fragment> => {
    if (after === undefined) return []
    if (!isPosition(after, sort)) return [sql`false`]
    switch (sort) {
      case "name":
        return [sql`(t.tool_name, t.id) > (${after.key}, ${after.id}::uuid)`]
      case "price":
        return [sql`(t.effective_max_cost_microcents, t.id) > (${BigInt(after.key)}, ${after.id}::uuid)`]
      case "price_desc":
        return [sql`(t.effective_max_cost_microcents, t.id) < (${BigInt(after.key)}, ${after.id}::uuid)`]
      case "newest":
        return [sql`t.id < ${after.id}::uuid`]
    }
  }

  return Effect.fnUntraced(function* (filter: CatalogFilter, sort: CatalogSort, { after, limit, offset }: PageRequest) {
    const state = filter.state ?? "listed"
    const isOffered = state === "listed" && filter.own !== true
    const narrowed = conditions(filter)
    const tally = yield* totals.tally
    // Unless a provider is frozen, positions are found in indexes alone, which do not have the provider.
    const notFrozen = isOffered && tally.frozen !== null ? [ofNoFrozenProvider(sql)] : []
    const where = [...ofState[state], ...notFrozen, ...narrowed]
    const total =
      narrowed.length === 0 && isOffered
        ? yield* totals.everything(tally)
        : yield* totals.matching(tally, keyOf(filter), where)
    // Planned for these values: the best plan depends on how many tools match a word. The position is found on ids
    // alone, so that a deep page does not read all rows before it.
    const order = sql.literal(ORDERS[sort])
    const entries = yield* sql<EntryRow>`
      SELECT ${columns} FROM (
        SELECT t.id FROM tools t WHERE ${sql.and([...where, ...beyond(after, sort)])}
        ORDER BY ${order} LIMIT ${limit + 1} OFFSET ${offset}
      ) page JOIN tools t ON t.id = page.id JOIN providers p ON p.id = t.provider_id
      ORDER BY ${order}`.unprepared.all(toEntry)
    return pageOf(entries, limit, total, (last) => positionOf(last, sort))
  })
}

const keyOf = ({ category, maxPrice, own = false, providerId, state = "listed", tokens }: CatalogFilter): string =>
  JSON.stringify([
    state,
    own,
    category ?? null,
    providerId ?? null,
    maxPrice === undefined ? null : String(maxPrice),
    tokens
  ])

const ORDERS: Readonly<Record<CatalogSort, string>> = {
  name: "t.tool_name, t.id",
  price: "t.effective_max_cost_microcents, t.id",
  price_desc: "t.effective_max_cost_microcents DESC, t.id DESC",
  newest: "t.id DESC"
}

// Versions of tools' definitions in PostgreSQL: part of the catalog's store.

type VersionStore = Pick<CatalogStore["Service"], "addVersions" | "lastVersions" | "removeVersions" | "versions">

const toolVersions = (sql: StoreSql): VersionStore => ({
  addVersions: Effect.fnUntraced(function* (versions, { bytesMax, versionsMax }) {
    if (versions.length === 0) return
    const { int4, text, timestamptz, uuid } = columnsOf(versions)
    yield* sql`
      INSERT INTO tool_versions (tool_id, version, changed_at, source, changed, definition)
      SELECT tool_id, version, changed_at, source, string_to_array(changed, ','), definition::json
      FROM unnest(${uuid(([id]) => id)}, ${int4(([, one]) => one.version)},
        ${timestamptz(([, one]) => toDate(one.changedAt))}, ${text(([, one]) => one.source)},
        ${text(([, one]) => one.changed.join(","))}, ${text(([, one]) => JSON.stringify(one.definition))})
        AS v (tool_id, version, changed_at, source, changed, definition)`
    const later = versions.flatMap(([id, { version }]) => (version === 1 ? [] : [id]))
    if (later.length === 0) return
    yield* sql`
      DELETE FROM tool_versions v USING (
        SELECT tool_id, version, row_number() OVER newest AS place,
          sum(octet_length(definition::text)) OVER newest AS bytes
        FROM tool_versions WHERE tool_id = ANY (${later}::uuid[])
        WINDOW newest AS (PARTITION BY tool_id ORDER BY version DESC)
      ) o
      WHERE v.tool_id = o.tool_id AND v.version = o.version AND o.place > 1
        AND (o.place > ${versionsMax}::int8 OR o.bytes > ${bytesMax}::int8)`
  }),

  lastVersions: Effect.fnUntraced(function* (ids) {
    if (ids.length === 0) return new Map()
    const rows = yield* sql<VersionRow & { readonly tool_id: string }>`
      SELECT tool.id AS tool_id, v.version, v.changed_at, v.source, v.changed, v.definition
      FROM unnest(${ids}::uuid[]) AS tool (id) CROSS JOIN LATERAL (
        SELECT * FROM tool_versions WHERE tool_id = tool.id ORDER BY version DESC LIMIT 1) v`
    return new Map(rows.map((row) => [ToolId.make(row.tool_id), toVersion(row)]))
  }),

  versions: (id, limit) =>
    sql<VersionRow>`
      SELECT version, changed_at, source, changed, definition FROM tool_versions
      WHERE tool_id = ${id} ORDER BY version DESC LIMIT ${limit}`.all(toVersion),

  removeVersions: (providerId) =>
    sql`DELETE FROM tool_versions v USING tools t WHERE t.id = v.tool_id AND t.provider_id = ${providerId}`.done
})

interface VersionRow {
  readonly version: number
  readonly changed_at: Date
  readonly source: ChangeSource
  readonly changed: ReadonlyArray<DefinitionField>
  readonly definition: ToolDefinition
}

const toVersion = ({ changed, changed_at, definition, source, version }: VersionRow): ToolVersion => ({
  version,
  changedAt: toInstant(changed_at),
  source,
  changed,
  // Absent members become undefined ones.
  definition: definitionOf(definition)
})

// Stores tools and their price versions in PostgreSQL, many in one statement: part of the catalog's store.

const toolUpserts = (sql: StoreSql) => {
  // `countOf` has locked the provider's row, so the versions that the prices were planned from are still the latest.
  const putTools = (tools: ReadonlyArray<ToolUpsert>) => {
    const { bool, int4, int8, text, timestamptz, uuid } = columnsOf(tools)
    return sql<{ readonly id: string; readonly provider_id: string; readonly tool_name: string }>`
      INSERT INTO tools AS t
        (id, provider_id, tool_name, category, display_name, description, price_microcents, free_tier_calls,
         effective_price_microcents, effective_max_cost_microcents, effective_free_tier_calls,
         effective_billing_policy, effective_leaving, price_version, price_versions, price_announced_at, price_since,
         upcoming_version, upcoming_from, input_schema, output_schema, effective_output_schema, annotations, billing_policy,
         max_cost_microcents, timeout_ms, idempotent, on_cancel, canceled_call_costs, search, created_at, updated_at,
         withdrawn_at, draft)
      SELECT id, provider_id, tool_name, category, display_name, description, price, free_tier, effective_price,
        effective_max_cost, effective_free_tier, effective_policy, effective_leaving, price_version, price_versions,
        announced_at, since, upcoming_version, upcoming_from, input_schema::json, output_schema::json,
        effective_schema::json, annotations::json, billing_policy, max_cost, timeout_ms, idempotent, on_cancel, canceled_call_costs,
        array_to_tsvector(string_to_array(lexemes, ' ')), at, at, CASE WHEN draft THEN at END, draft
      FROM unnest(
        ${uuid((one) => one.id)}, ${uuid((one) => one.providerId)}, ${text((one) => one.declaration.toolName)},
        ${text((one) => one.declaration.category)}, ${text((one) => one.declaration.displayName)},
        ${text((one) => one.declaration.description)}, ${int8((one) => one.declaration.price ?? null)},
        ${int4((one) => one.declaration.freeTierCalls ?? null)}, ${int8((one) => one.prices.inEffect.price)},
        ${int8((one) => one.prices.inEffect.maximum)}, ${int4((one) => one.prices.inEffect.freeTierCalls)},
        ${text((one) => one.prices.inEffect.billingPolicy)}, ${text((one) => one.prices.inEffect.cancellation)},
        ${int4((one) => one.prices.inEffect.version)}, ${int4((one) => one.prices.lastVersion)},
        ${timestamptz((one) => toDate(one.prices.inEffect.announcedAt))},
        ${timestamptz((one) => toDate(one.prices.inEffect.effectiveFrom))},
        ${int4((one) => one.prices.upcoming?.version ?? null)},
        ${timestamptz((one) => toDateOrNull(one.prices.upcoming?.effectiveFrom))},
        ${text((one) => jsonOrNull(one.declaration.inputSchema))},
        ${text((one) => jsonOrNull(one.declaration.outputSchema))}, ${text((one) => jsonOrNull(earlierSchema(one)))},
        ${text((one) => jsonOrNull(one.declaration.annotations))}, ${text((one) => one.declaration.billingPolicy)},
        ${int8((one) => one.declaration.maxCost ?? null)}, ${int4((one) => one.declaration.timeoutMs ?? null)},
        ${bool((one) => one.declaration.idempotent)}, ${text((one) => one.declaration.onCancel)},
        ${text((one) => one.declaration.canceledCallCosts)}, ${text((one) => lexemesOf(one.searchTokens).join(" "))},
        ${timestamptz((one) => toDate(one.at))}, ${bool((one) => one.draft ?? false)}
      ) AS given (id, provider_id, tool_name, category, display_name, description, price, free_tier, effective_price,
        effective_max_cost, effective_free_tier, effective_policy, effective_leaving, price_version, price_versions,
        announced_at, since, upcoming_version, upcoming_from, input_schema, output_schema, effective_schema,
        annotations, billing_policy, max_cost, timeout_ms, idempotent, on_cancel, canceled_call_costs, lexemes, at, draft)
      ON CONFLICT (provider_id, tool_name) DO UPDATE SET
        category = excluded.category, display_name = excluded.display_name, description = excluded.description,
        price_microcents = excluded.price_microcents, free_tier_calls = excluded.free_tier_calls,
        effective_price_microcents = excluded.effective_price_microcents,
        effective_max_cost_microcents = excluded.effective_max_cost_microcents,
        effective_free_tier_calls = excluded.effective_free_tier_calls,
        effective_billing_policy = excluded.effective_billing_policy,
        effective_leaving = excluded.effective_leaving, price_version = excluded.price_version,
        price_versions = excluded.price_versions, price_announced_at = excluded.price_announced_at,
        price_since = excluded.price_since, upcoming_version = excluded.upcoming_version,
        upcoming_from = excluded.upcoming_from, input_schema = excluded.input_schema,
        output_schema = excluded.output_schema, effective_output_schema = excluded.effective_output_schema,
        annotations = excluded.annotations,
        billing_policy = excluded.billing_policy, max_cost_microcents = excluded.max_cost_microcents,
        timeout_ms = excluded.timeout_ms, idempotent = excluded.idempotent, on_cancel = excluded.on_cancel,
        canceled_call_costs = excluded.canceled_call_costs, search = excluded.search,
        updated_at = GREATEST(t.updated_at, excluded.updated_at), withdrawn_at = excluded.withdrawn_at,
        draft = excluded.draft, withdrawn_by_server = false
      RETURNING id, provider_id, tool_name`
  }

  /** Versions that a tool's row no longer names will never take effect. */
  const replaceUpcoming = (tools: ReadonlyArray<{ readonly id: string; readonly at: DateTime.Utc }>) => {
    const { timestamptz, uuid } = columnsOf(tools)
    return sql`
      UPDATE tool_prices p SET replaced_at = given.at
      FROM unnest(${uuid((tool) => tool.id)}, ${timestamptz((tool) => toDate(tool.at))}) AS given (id, at)
      JOIN tools t ON t.id = given.id
      WHERE p.tool_id = t.id AND p.effective_from > given.at AND p.effective_from > p.announced_at
        AND p.replaced_at IS NULL AND p.version <> t.price_version
        AND p.version IS DISTINCT FROM t.upcoming_version`
  }

  const addPrices = (tools: ReadonlyArray<Pick<ToolUpsert, "id" | "prices">>) => {
    const { int4, int8, text, timestamptz, uuid } = columnsOf(
      tools.flatMap(({ id, prices: { inEffect, upcoming } }) =>
        (upcoming === undefined ? [inEffect] : [inEffect, upcoming]).map((price) => ({ ...price, toolId: id }))
      )
    )
    return sql`
      INSERT INTO tool_prices
        (tool_id, version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy, leaving,
         announced_at, effective_from)
      SELECT * FROM unnest(${uuid((one) => one.toolId)}, ${int4((one) => one.version)}, ${int8((one) => one.price)},
        ${int8((one) => one.maximum)}, ${int4((one) => one.freeTierCalls)}, ${text((one) => one.billingPolicy)},
        ${text((one) => one.cancellation)}, ${timestamptz((one) => toDate(one.announcedAt))},
        ${timestamptz((one) => toDate(one.effectiveFrom))})
      ON CONFLICT (tool_id, version) DO NOTHING`
  }

  const upsert: CatalogStore["Service"]["upsert"] = Effect.fnUntraced(function* (tools) {
    if (tools.length === 0) return []
    const rows = yield* putTools(tools)
    const ids = new Map(rows.map((row) => [`${row.provider_id} ${row.tool_name}`, ToolId.make(row.id)]))
    const stored = tools.map((tool) => {
      const id = ids.get(`${tool.providerId} ${tool.declaration.toolName}`)!
      return { ...tool, id, isNew: id === tool.id }
    })
    const priced = stored.filter(({ draft }) => draft !== true)
    const known = priced.filter(({ isNew }) => !isNew)
    if (known.length > 0) yield* replaceUpcoming(known)
    if (priced.length > 0) yield* addPrices(priced)
    return stored.map(({ declaration, id, isNew, prices }) => ({
      id,
      toolName: declaration.toolName,
      action: isNew ? "created" : "updated",
      priceVersion: prices.inEffect.version
    }))
  })

  return { replaceUpcoming, upsert }
}

/** The output schema of the terms in effect, where another one is announced. */
const earlierSchema = ({ declaration, prices }: ToolUpsert): JsonSchemaObject | undefined => {
  const { outputSchema } = prices.inEffect
  return outputSchema === undefined || sameJson(outputSchema, declaration.outputSchema) ? undefined : outputSchema
}

const jsonOrNull = (schema: JsonSchemaObject | ToolAnnotations | undefined): string | null =>
  schema === undefined ? null : JSON.stringify(schema)

export const layer = storeLayer(CatalogStore, (sql) => {
  const columns = sql.literal(ENTRY_COLUMNS)
  const totals = catalogTotals(sql)
  const offered = sql`t.withdrawn_at IS NULL AND ${ofNoFrozenProvider(sql)}`

  const { replaceUpcoming, upsert } = toolUpserts(sql)

  return {
    upsert,

    withdraw: Effect.fnUntraced(function* (providerId, id, at, byServer = false) {
      const rows = yield* sql<{ readonly withdrawn_at: Date }>`
        UPDATE tools SET withdrawn_at = coalesce(withdrawn_at, ${toDate(at)}),
          withdrawn_by_server = ${byServer} AND NOT draft AND (withdrawn_at IS NULL OR withdrawn_by_server),
          upcoming_version = CASE WHEN upcoming_from <= ${toDate(at)} THEN upcoming_version END,
          upcoming_from = CASE WHEN upcoming_from <= ${toDate(at)} THEN upcoming_from END
        WHERE id = ${id} AND provider_id = ${providerId} RETURNING withdrawn_at`
      if (rows.length > 0) yield* replaceUpcoming([{ id, at }])
      return Option.map(Arr.head(rows), (row) => toInstant(row.withdrawn_at))
    }),

    removeDraft: (providerId, id) =>
      sql`DELETE FROM tools WHERE id = ${id} AND provider_id = ${providerId} AND draft RETURNING id`.hasRows,

    ...toolVersions(sql),

    promote: (now, limit) =>
      sql`
        WITH due AS (
          SELECT id FROM tools WHERE upcoming_from <= ${toDate(now)} ORDER BY upcoming_from, id LIMIT ${limit}
          FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE tools t SET effective_price_microcents = u.price_microcents,
          effective_max_cost_microcents = u.max_cost_microcents, effective_free_tier_calls = u.free_tier_calls,
          effective_billing_policy = u.billing_policy, effective_leaving = u.leaving, price_version = u.version,
          price_announced_at = u.announced_at, price_since = u.effective_from, upcoming_version = NULL,
          upcoming_from = NULL, effective_output_schema = NULL
        FROM due, tool_prices u WHERE t.id = due.id AND u.tool_id = t.id AND u.version = t.upcoming_version
        RETURNING t.id`.count,

    countOf: Effect.fnUntraced(function* (providerId) {
      if (yield* sql.isInTransaction) yield* sql`SELECT 1 FROM providers WHERE id = ${providerId} FOR NO KEY UPDATE`
      return yield* sql`SELECT count(*) FROM tools WHERE provider_id = ${providerId}`.number
    }),

    find: (id) =>
      sql<EntryRow>`
        SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id WHERE t.id = ${id}`.first(toEntry),

    findOf: Effect.fnUntraced(function* (providerId, toolName) {
      if (!isStorable(toolName)) return Option.none()
      return yield* sql<EntryRow>`
        SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
        WHERE t.provider_id = ${providerId} AND t.tool_name = ${toolName}`.first(toEntry)
    }),

    findAllOf: Effect.fnUntraced(function* (providerId, toolNames) {
      const names = toolNames.filter(isStorable)
      return yield* sql<EntryRow>`
        SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
        WHERE t.provider_id = ${providerId} AND t.tool_name = ANY (${names}::text[])`.all(toEntry)
    }),

    findQualified: Effect.fnUntraced(function* (handle, toolName) {
      if (!isStorable(handle) || !isStorable(toolName)) return Option.none()
      return yield* sql<EntryRow>`
        SELECT ${columns} FROM provider_handles h JOIN tools t ON t.provider_id = h.provider_id
        JOIN providers p ON p.id = t.provider_id
        WHERE h.handle = ${handle} AND NOT h.retired AND t.tool_name = ${toolName}`.first(toEntry)
    }),

    findByName: Effect.fnUntraced(function* (toolName, limit) {
      if (!isStorable(toolName)) return []
      const named = (state: Statement.Fragment) =>
        sql<EntryRow>`
          SELECT ${columns} FROM tools t JOIN providers p ON p.id = t.provider_id
          WHERE t.tool_name = ${toolName} AND ${state} ORDER BY t.id LIMIT ${limit}`.all(toEntry)
      const listed = yield* named(sql`t.withdrawn_at IS NULL AND p.frozen_at IS NULL`)
      if (listed.length > 0) return listed
      const frozen = yield* named(sql`t.withdrawn_at IS NULL`)
      const withdrawn = yield* named(sql`t.withdrawn_at IS NOT NULL AND NOT t.draft`)
      return [...frozen, ...withdrawn].slice(0, limit)
    }),

    // The limit applies to rows, not to names: many providers may list the same one.
    similarNames: Effect.fnUntraced(function* (toolName, providerId, limit) {
      if (!isStorable(toolName)) return []
      const listed = sql`${offered} ${providerId === undefined ? sql`` : sql`AND t.provider_id = ${providerId}`}`
      return yield* sql<{ readonly tool_name: string }>`
        (SELECT t.tool_name FROM tools t WHERE t.tool_name >= ${toolName} AND ${listed} ORDER BY t.tool_name LIMIT ${limit})
        UNION
        (SELECT t.tool_name FROM tools t WHERE t.tool_name < ${toolName} AND ${listed} ORDER BY t.tool_name DESC LIMIT ${limit})
        ORDER BY tool_name`.all((row) => row.tool_name)
    }),

    search: catalogSearch(sql, totals),

    // One index step per category instead of one per tool.
    categories: sql<{ readonly category: string }>`
      WITH RECURSIVE seen AS (
        SELECT min(t.category) AS category FROM tools t WHERE t.category > '' AND ${offered}
        UNION ALL
        SELECT (SELECT min(t.category) FROM tools t WHERE t.category > seen.category AND ${offered})
        FROM seen WHERE seen.category IS NOT NULL
      )
      SELECT category FROM seen WHERE category IS NOT NULL`.all(({ category }) => category),

    count: Effect.flatMap(totals.tally, totals.everything),

    prices: (id, limit) =>
      sql`
        SELECT version, price_microcents, max_cost_microcents, free_tier_calls, billing_policy, leaving,
          announced_at, effective_from, replaced_at FROM tool_prices
        WHERE tool_id = ${id} ORDER BY version DESC LIMIT ${limit}`.all(toPriceVersion)
  }
})
