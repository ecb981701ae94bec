/**
 * The catalog, imports of providers' servers and market figures in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  type CatalogEntry,
  type CatalogFilter,
  CatalogStore,
  compareCodePoints,
  comparePositions,
  entryOf,
  isPosition,
  MarketFigures,
  positionOf,
  type ToolUpsert,
  type ToolVersion,
  type VersionsKept
} from "../../../domain/catalog/CatalogStore.ts"
import {
  type ImportedTool,
  type ImportRecord,
  ImportStore,
  type SyncState
} from "../../../domain/catalog/ImportStore.ts"
import { matches } from "../../../domain/catalog/SearchTokens.ts"
import { pricesAt, type PriceVersion, type ToolPrices } from "../../../domain/catalog/Terms.ts"
import type { StoredTool } from "../../../domain/catalog/Tool.ts"
import { NO_OWN_FEE } from "../../../domain/ledger/PlatformFee.ts"
import type { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { pageOf } from "../../../domain/shared/Page.ts"
import { type CallCounts, figuresOf } from "../../../domain/trust/Sla.ts"
import { type ClosedCallRow, MemoryLedger } from "../ledger/MemoryLedger.ts"
import { memoryLayer, memoryStore } from "../shared/MemoryStore.ts"
import { change } from "../shared/MemoryRows.ts"
import { MemoryTables, type ToolRow } from "../shared/MemoryTables.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"
import { isSelfDealing } from "../trust/MemoryTrustStores.ts"

// Rows of the catalog in memory: a tool with its prices and their history.

const toolRowOf = (upsert: ToolUpsert, known: ToolRow | undefined): ToolRow => {
  const { at, declaration, draft = false, id, prices, providerId, searchTokens } = upsert
  const { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, outputSchema, price, ...tool } =
    declaration
  const before = replaceUpcoming(known?.history ?? [], at, prices)
  const lastVersion = before.at(-1)?.version ?? 0
  const added = [prices.inEffect, prices.upcoming].filter((one) => one !== undefined && one.version > lastVersion)
  return {
    tool: {
      ...tool,
      declared: { billingPolicy, canceledCallCosts, freeTierCalls, maxCost, onCancel, outputSchema, price },
      id: known?.tool.id ?? id,
      providerId,
      createdAt: known?.tool.createdAt ?? at,
      updatedAt: known === undefined ? at : later(known.tool.updatedAt, at),
      withdrawnAt: draft ? at : undefined,
      draft,
      withdrawnByServer: false
    },
    prices,
    searchTokens,
    history: draft ? [] : [...before, ...(added as ReadonlyArray<PriceVersion>).map(withoutSchema)]
  }
}

const withoutSchema = ({ outputSchema: _, ...version }: PriceVersion): PriceVersion => version

const isAfter = (price: PriceVersion, at: DateTime.Utc): boolean =>
  price.effectiveFrom.epochMilliseconds > at.epochMilliseconds

const replaceUpcoming = (
  history: ReadonlyArray<PriceVersion>,
  at: DateTime.Utc,
  { inEffect, upcoming }: ToolPrices
): ReadonlyArray<PriceVersion> =>
  history.map((price) =>
    isAfter(price, at) &&
    isAfter(price, price.announcedAt) &&
    price.version !== inEffect.version &&
    price.version !== upcoming?.version &&
    price.replacedAt === undefined
      ? { ...price, replacedAt: at }
      : price
  )

/** Clocks of two nodes may differ: the history never goes backwards. */
const later = (a: DateTime.Utc, b: DateTime.Utc): DateTime.Utc => (a.epochMilliseconds > b.epochMilliseconds ? a : b)

const catalogStore = memoryLayer(
  CatalogStore,
  MemoryTables,
  ({ handles, providerFees, providers, tools, toolsByName, toolsOfProvider, toolVersions }) => {
    const isListed = ({ tool }: ToolRow): boolean =>
      tool.withdrawnAt === undefined && !providers.get(tool.providerId)!.frozen

    const toEntry = ({ prices, tool }: ToolRow): CatalogEntry => {
      const { endpointUrl, frozen, handle, id, name, pricingModel } = providers.get(tool.providerId)!
      const fee = providerFees.get(id)?.[0]?.fee ?? NO_OWN_FEE
      return entryOf(tool, prices, { id, handle, name, endpointUrl, pricingModel, frozen, fee })
    }

    const entryAt = (id: ToolId | undefined): Option.Option<CatalogEntry> =>
      Option.map(Option.fromNullishOr(id === undefined ? undefined : tools.get(id)), toEntry)

    const upsertOne = Effect.fnUntraced(function* (upsert: ToolUpsert) {
      const { declaration, providerId } = upsert
      if (!providers.has(providerId)) return yield* Effect.die(new Error(`There is no provider ${providerId}`))
      const ofProvider = toolsOfProvider.get(providerId)
      const knownId = ofProvider?.get(declaration.toolName)
      const row = toolRowOf(upsert, knownId === undefined ? undefined : tools.get(knownId)!)
      const id = row.tool.id
      yield* put(tools, id, row)
      if (knownId === undefined) {
        const named = toolsByName.get(declaration.toolName) ?? []
        yield* put(toolsOfProvider, providerId, new Map(ofProvider).set(declaration.toolName, id))
        yield* put(toolsByName, declaration.toolName, [...named, id])
      }
      return {
        id,
        toolName: declaration.toolName,
        action: knownId === undefined ? ("created" as const) : ("updated" as const),
        priceVersion: row.prices.inEffect.version
      }
    })

    const addVersion = (id: ToolId, version: ToolVersion, { bytesMax, versionsMax }: VersionsKept) => {
      const newest = [version, ...(toolVersions.get(id) ?? []).toReversed()].slice(0, versionsMax)
      let bytes = 0
      const kept = newest.filter((one, n) => {
        bytes += bytesOf(one)
        return n === 0 || bytes <= bytesMax
      })
      return put(toolVersions, id, kept.toReversed())
    }

    return {
      upsert: (upserts) => Effect.forEach(upserts, upsertOne),

      withdraw: Effect.fnUntraced(function* (providerId, id, at, byServer = false) {
        const row = tools.get(id)
        if (row === undefined || row.tool.providerId !== providerId) return Option.none()
        const withdrawnAt = row.tool.withdrawnAt ?? at
        if (row.tool.draft) return Option.some(withdrawnAt)
        const withdrawnByServer = byServer && (row.tool.withdrawnAt === undefined || row.tool.withdrawnByServer)
        const { upcoming } = row.prices
        const prices =
          upcoming !== undefined && isAfter(upcoming, at) ? { ...row.prices, upcoming: undefined } : row.prices
        const history = replaceUpcoming(row.history, at, { ...row.prices, upcoming: undefined })
        yield* put(tools, id, { ...row, tool: { ...row.tool, withdrawnAt, withdrawnByServer }, prices, history })
        return Option.some(withdrawnAt)
      }),

      removeDraft: Effect.fnUntraced(function* (providerId, id) {
        const tool = tools.get(id)?.tool
        if (tool === undefined || tool.providerId !== providerId || !tool.draft) return false
        const { toolName } = tool
        const others = new Map(toolsOfProvider.get(providerId))
        others.delete(toolName)
        yield* remove(tools, id)
        yield* put(toolsOfProvider, providerId, others)
        yield* put(
          toolsByName,
          toolName,
          (toolsByName.get(toolName) ?? []).filter((one) => one !== id)
        )
        return true
      }),

      addVersions: (versions, kept) =>
        Effect.forEach(versions, ([id, version]) => addVersion(id, version, kept), { discard: true }),

      lastVersions: (ids) =>
        new Map(
          ids.flatMap((id) => {
            const last = toolVersions.get(id)?.at(-1)
            return last === undefined ? [] : [[id, last] as const]
          })
        ),

      versions: (id, limit) => (toolVersions.get(id) ?? []).toReversed().slice(0, limit),

      removeVersions: Effect.fnUntraced(function* (providerId) {
        for (const id of toolsOfProvider.get(providerId)?.values() ?? []) yield* remove(toolVersions, id)
      }),

      promote: Effect.fnUntraced(function* (now, limit) {
        const due = [...tools.values()].filter((row) => pricesAt(row.prices, now.epochMilliseconds) !== row.prices)
        for (const row of due.slice(0, limit)) {
          yield* put(tools, row.tool.id, { ...row, prices: pricesAt(row.prices, now.epochMilliseconds) })
        }
        return Math.min(due.length, limit)
      }),

      countOf: (providerId) => toolsOfProvider.get(providerId)?.size ?? 0,

      find: (id) => entryAt(id),

      findOf: (providerId, toolName) => entryAt(toolsOfProvider.get(providerId)?.get(toolName)),

      findAllOf: (providerId, toolNames) => {
        const ofProvider = toolsOfProvider.get(providerId)
        return [...new Set(toolNames)].flatMap((name) => Option.toArray(entryAt(ofProvider?.get(name))))
      },

      findQualified: (handle, toolName) => {
        const row = handles.get(handle)
        const isResolved = row !== undefined && !row.retired && !row.erased
        return isResolved ? entryAt(toolsOfProvider.get(row.providerId)?.get(toolName)) : Option.none()
      },

      findByName: (toolName, limit) => {
        const named = (toolsByName.get(toolName) ?? [])
          .toSorted()
          .map((id) => tools.get(id)!)
          .filter(({ tool }) => !tool.draft)
        const listed = named.filter(isListed)
        return (listed.length > 0 ? listed : named).slice(0, limit).map(toEntry)
      },

      similarNames: (toolName, providerId, limit) => {
        const rows = [...tools.values()].filter(
          (row) => isListed(row) && (providerId === undefined || row.tool.providerId === providerId)
        )
        const names = [...new Set(rows.map(({ tool }) => tool.toolName))].toSorted(compareCodePoints)
        const before = names.filter((name) => name < toolName).slice(-limit)
        return [...before, ...names.filter((name) => name >= toolName).slice(0, limit)]
      },

      search: (filter, sort, { after, limit, offset }) => {
        const found = [...tools.values()]
          .filter((row) => isAskedFor(row, filter, isListed(row)))
          .map((row) => {
            const entry = toEntry(row)
            return { entry, position: positionOf(entry, sort) }
          })
          .toSorted((a, b) => comparePositions(a.position, b.position, sort))
        const rest =
          after === undefined
            ? found
            : found.filter(({ position }) => isPosition(after, sort) && comparePositions(position, after, sort) > 0)
        const rows = rest.slice(offset, offset + limit + 1).map(({ entry }) => entry)
        return pageOf(rows, limit, found.length, (last) => positionOf(last, sort))
      },

      categories: Effect.sync(() =>
        [...new Set([...tools.values()].filter(isListed).map(({ tool }) => tool.category))]
          .filter(Boolean)
          .toSorted(compareCodePoints)
      ),

      count: Effect.sync(() => [...tools.values()].filter(isListed).length),

      prices: (id, limit) => (tools.get(id)?.history ?? []).toReversed().slice(0, limit)
    }
  }
)

const bytesOf = ({ definition }: ToolVersion): number => new TextEncoder().encode(JSON.stringify(definition)).length

const stateOf = ({ draft, withdrawnAt }: StoredTool): "listed" | "withdrawn" | "draft" => {
  if (draft) return "draft"
  return withdrawnAt === undefined ? "listed" : "withdrawn"
}

const isAskedFor = ({ prices, searchTokens, tool }: ToolRow, filter: CatalogFilter, isListed: boolean): boolean =>
  (filter.category === undefined || tool.category === filter.category) &&
  (filter.providerId === undefined || tool.providerId === filter.providerId) &&
  (filter.maxPrice === undefined || prices.inEffect.maximum <= filter.maxPrice) &&
  (filter.state === "any" || (filter.state ?? "listed") === stateOf(tool)) &&
  (isListed || filter.own === true || (filter.state ?? "listed") !== "listed") &&
  matches(searchTokens, filter.tokens)

const importStore = Layer.sync(ImportStore, () => {
  const syncs = new Map<ProviderId, SyncState>()
  const imported = new Map<ProviderId, ReadonlyMap<string, ImportedTool>>()
  /** Newest last. */
  const records = new Map<ProviderId, ReadonlyArray<ImportRecord>>()

  const isDue =
    (now: DateTime.Utc) =>
    ([, state]: readonly [ProviderId, SyncState]): boolean =>
      state.enabled && DateTime.isLessThanOrEqualTo(state.nextAt, now)

  return memoryStore(ImportStore, {
    sync: (providerId) => Option.fromNullishOr(syncs.get(providerId)),

    configure: (providerId, settings, nextAt) => {
      const known = syncs.get(providerId)
      return put(syncs, providerId, {
        ...settings,
        nextAt: known === undefined ? nextAt : DateTime.min(known.nextAt, nextAt),
        checkedAt: known?.checkedAt,
        problem: known?.problem
      })
    },

    claimDue: Effect.fnUntraced(function* (now, nextAt, limit) {
      const due = [...syncs]
        .filter(isDue(now))
        .toSorted(([, a], [, b]) => a.nextAt.epochMilliseconds - b.nextAt.epochMilliseconds)
        .slice(0, limit)
      for (const [providerId, state] of due) yield* put(syncs, providerId, { ...state, nextAt })
      return due.map(([providerId]) => providerId)
    }),

    hasten: (providerId, now, afterMs) => {
      const known = syncs.get(providerId)
      if (known?.enabled !== true) return undefined
      const from =
        known.checkedAt === undefined
          ? now
          : DateTime.max(now, DateTime.add(known.checkedAt, { milliseconds: afterMs }))
      return put(syncs, providerId, { ...known, nextAt: DateTime.min(known.nextAt, from) })
    },

    checked: (providerId, checkedAt, problem) => change(syncs, providerId, { checkedAt, problem }),

    imported: (providerId) => [...(imported.get(providerId)?.values() ?? [])],

    putImported: (providerId, tools) => {
      const all = new Map(imported.get(providerId))
      for (const tool of tools) all.set(tool.toolName, tool)
      return put(imported, providerId, all)
    },

    forgetImported: (providerId, toolNames) => {
      const all = new Map(imported.get(providerId))
      for (const name of toolNames) all.delete(name)
      return put(imported, providerId, all)
    },

    addRecord: (providerId, record, keptMax) =>
      put(records, providerId, [...(records.get(providerId) ?? []), record].slice(-keptMax)),

    records: (providerId, limit) => (records.get(providerId) ?? []).toReversed().slice(0, limit),

    remove: Effect.fnUntraced(function* (providerId) {
      yield* remove(syncs, providerId)
      yield* remove(imported, providerId)
      yield* remove(records, providerId)
    })
  })
})

const marketFigures = Layer.effect(
  MarketFigures,
  Effect.gen(function* () {
    const ledger = yield* MemoryLedger
    const tables = yield* MemoryTables

    const isCounted = ({ cause, origin, receipt }: ClosedCallRow): boolean =>
      origin === "meter" ||
      (cause !== "canceled" &&
        !isSelfDealing(tables, { providerId: receipt.provider_id, consumerId: receipt.agent_id }))

    return memoryStore(MarketFigures, {
      ofTools: (ids) => {
        const asked = new Set<ToolId>(ids)
        const calls = [...ledger.closedCalls.values()].filter(
          (call) => asked.has(call.receipt.tool_id) && isCounted(call)
        )
        return new Map(
          [...Map.groupBy(calls, ({ receipt }) => receipt.tool_id)].map(([id, ofTool]) => [
            id,
            figuresOf(countsOf(ofTool))
          ])
        )
      },
      totals: Effect.sync(() => {
        const calls = [...ledger.closedCalls.values()]
        const counted = calls.filter(isCounted)
        const proxied = counted.filter(isProxied)
        const counts = countsOf(counted)
        const figures = figuresOf(counts)
        return {
          invocations: counts.calls,
          successful: counts.successes,
          successPct: figures.uptimePct,
          reported: counts.reported,
          uniqueAgents: new Set(proxied.map((call) => call.consumerId)).size,
          uniqueTools: new Set(proxied.map(({ receipt }) => receipt.tool_id)).size,
          revenueMicrocents: calls.reduce((sum, { receipt }) => sum + receipt.cost_microcents, 0n),
          avgLatencyMs: figures.avgLatencyMs,
          freeCalls: proxied.filter(({ isFreeCall }) => isFreeCall).length,
          lastInvocation: proxied
            .map(({ receipt }) => receipt.timestamp)
            .toSorted()
            .at(-1)
        }
      })
    })
  })
)

const isProxied = ({ origin }: ClosedCallRow): boolean => origin === "proxy"

const countsOf = (calls: ReadonlyArray<ClosedCallRow>): CallCounts => {
  const proxied = calls.filter(isProxied)
  const timed = proxied.filter(({ cause }) => cause !== "input_rejected")
  return {
    calls: proxied.length,
    successes: proxied.filter(({ receipt }) => receipt.status === "success").length,
    inputRejected: proxied.length - timed.length,
    latencyMs: timed.reduce((sum, { receipt }) => sum + receipt.duration_ms, 0),
    reported: calls.length - proxied.length
  }
}

export const layer = Layer.mergeAll(catalogStore, importStore, marketFigures)
