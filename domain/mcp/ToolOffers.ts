/**
 * The tools of providers as agents see them: read from the provider's server and from the catalog, and kept for a short time.
 */
import { Clock, Context, DateTime, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { Catalog } from "../catalog/Catalog.ts"
import { type CatalogEntry, entryAt } from "../catalog/CatalogStore.ts"
import { CallStore } from "../metering/CallStore.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import { type ConsumerId, type ProviderId, ToolId } from "../shared/Ids.ts"
import { PAGE_LIMIT_MAX, type PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { type ListClient, type ServerAddress, type ServerFailed, ProviderServers } from "../upstream/ProviderServers.ts"
import { elementsFor, ToolOffer } from "./ToolOffer.ts"

/** A server's list is read again after this time; sooner where it announces changes. */
export const LIST_AGE_MS_MAX = 60_000
const ENTRIES_TTL_MS = 30_000
const PROVIDERS_MAX = 2_000
/** A provider has an offer for each kind of client. */
const OFFERS_MAX = 2_000
const ENTRIES_MAX = 10_000
const FREE_TOOLS_MAX = 1_000

/** A consumer's used free calls of this month, by tool. */
export const makeUsedBy = Effect.map(
  CallStore,
  (calls) => (consumerId: ConsumerId) =>
    Effect.flatMap(DateTime.now, (now) =>
      Effect.map(
        calls.freeCallsByTool(consumerId, now, FREE_TOOLS_MAX),
        (all) => new Map(all.map(({ toolId, used }) => [toolId, used] as const))
      )
    )
)

/** The cursor of a list of tools that has changed since. */
export class NoSuchToolPage extends Schema.TaggedError<NoSuchToolPage>()("NoSuchToolPage", {}) {
  override get message() {
    return "`cursor` belongs to no page of this list: the tools have changed. Read the list again from its beginning."
  }
}

/** A page of a list of tools, as JSON texts. */
export interface ToolPageText {
  /** A JSON array. */
  readonly tools: string
  /** The name of the last tool, after which the next page begins; undefined on the last page. */
  readonly last: string | undefined
  /** `_meta` of the server's list, as JSON; undefined if it has none. */
  readonly meta: string | undefined
}

export class ToolOffers extends Context.Service<
  ToolOffers,
  {
    /** `client`: as `ProviderServers.tools` takes it. */
    offer(server: ServerAddress, client?: ListClient | "any"): Effect.Effect<ToolOffer, ServerFailed | StoreUnavailable>
    /** Returns what the market lists of the provider now, whatever its server does. */
    listed(providerId: ProviderId): Effect.Effect<ReadonlyArray<CatalogEntry>, StoreUnavailable>
    /** Reacts to catalog changes while the scope lives. `providerId`: undefined if any provider may be concerned. */
    onChange(react: (providerId: ProviderId | undefined) => void): Effect.Effect<void, never, Scope.Scope>
    /** The last one of such clients that was read on this node, of whatever age. */
    latest(providerId: ProviderId, client?: ListClient | "any"): ToolOffer | undefined
    /** `described`: with the price in each description. */
    page(
      server: ServerAddress,
      client: ListClient,
      consumerId: ConsumerId,
      after: string | undefined,
      described: boolean
    ): Effect.Effect<ToolPageText, ServerFailed | NoSuchToolPage | StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/ToolOffers") {
  static readonly layer = Layer.effect(
    ToolOffers,
    Effect.gen(function* () {
      const servers = yield* ProviderServers
      const catalog = yield* Catalog
      const usedBy = yield* makeUsedBy
      const feed = yield* ChangeFeed
      const clock = yield* Clock.Clock
      const entries = yield* makeFreshCache<ReadonlyArray<CatalogEntry>>({
        entriesMax: PROVIDERS_MAX,
        ttlMs: ENTRIES_TTL_MS
      })
      const offers = new Map<string, Composed>()
      const watchers = new Set<{ readonly react: (providerId: ProviderId | undefined) => void }>()

      yield* feed.changes.pipe(
        Stream.runForEach(({ id, topic }) => {
          if (topic === "catalog") return forgetProviderOf(id)
          // A provider may be frozen.
          if (topic === "account") forget(id as ProviderId)
          // Its server may be another one.
          if (topic === "provider") offers.delete(id as ProviderId)
          if (topic === "everything") forget(undefined)
          return Effect.void
        }),
        Effect.forkScoped({ startImmediately: true })
      )

      const forget = (providerId: ProviderId | undefined): void => {
        if (providerId === undefined) entries.forgetAll()
        else entries.forget(providerId)
        for (const { react } of watchers) react(providerId)
      }

      const forgetProviderOf = (id: string): Effect.Effect<void> =>
        Option.match(ToolId.makeOption(id), {
          onNone: () => Effect.sync(() => forget(undefined)),
          onSome: (toolId) =>
            Effect.match(catalog.find(toolId), {
              onFailure: () => forget(undefined),
              onSuccess: (found) => forget(Option.getOrUndefined(found)?.provider.id)
            })
        })

      const load = Effect.fnUntraced(function* (providerId: ProviderId) {
        const all: Array<CatalogEntry> = []
        let page: PageRequest | undefined = { limit: PAGE_LIMIT_MAX, offset: 0, after: undefined }
        while (page !== undefined && all.length < ENTRIES_MAX) {
          const found: Effect.Success<ReturnType<typeof catalog.search>> = yield* catalog.search({ providerId, page })
          all.push(...found.items)
          page = found.next === undefined ? undefined : { limit: PAGE_LIMIT_MAX, offset: 0, after: found.next }
        }
        return all
      })

      const entriesOf = (providerId: ProviderId) =>
        Effect.suspend(() => entries.readThrough(providerId, load(providerId)))

      const offer = Effect.fnUntraced(function* (server: ServerAddress, client?: ListClient | "any") {
        const { providerId } = server
        const key = keyOf(providerId, client)
        const listed = yield* entriesOf(providerId)
        const known = offers.get(key)
        const kept = servers.tools(server, LIST_AGE_MS_MAX, client)
        // Another node may have imported what this one has not read yet.
        const list = yield* known === undefined || isSameEdition(listed, known.entries)
          ? kept
          : servers.tools(server, 0, client).pipe(Effect.catch(() => kept))
        const nowMs = clock.currentTimeMillisUnsafe()
        if (known?.offer.list === list && known.entries === listed && nowMs < known.untilMs) return known.offer
        const composed: Composed = {
          offer: new ToolOffer(list, inEffectAt(listed, nowMs)),
          entries: listed,
          untilMs: nextChangeMs(listed, nowMs)
        }
        offers.delete(key)
        if (offers.size >= OFFERS_MAX) offers.delete(offers.keys().next().value!)
        offers.set(key, composed)
        return composed.offer
      })

      return ToolOffers.of({
        offer,
        listed: (providerId) =>
          Effect.map(entriesOf(providerId), (listed) => inEffectAt(listed, clock.currentTimeMillisUnsafe())),
        onChange: (react) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => {
                const watcher = { react }
                watchers.add(watcher)
                return watcher
              }),
              (watcher) => Effect.sync(() => watchers.delete(watcher))
            )
          ),
        latest: (providerId, client) => offers.get(keyOf(providerId, client))?.offer,
        page: Effect.fnUntraced(function* (server, client, consumerId, after, described) {
          const offered = yield* offer(server, client)
          const page = offered.page(after, described)
          if (page === undefined) return yield* new NoSuchToolPage()
          const used = page.free.length === 0 ? NONE_USED : yield* usedBy(consumerId)
          return { tools: `[${elementsFor(page, used)}]`, last: page.last, meta: offered.list.meta }
        })
      })
    })
  )
}

interface Composed {
  readonly offer: ToolOffer
  readonly entries: ReadonlyArray<CatalogEntry>
  /** Announced terms of a tool take effect. */
  readonly untilMs: number
}

const keyOf = (providerId: ProviderId, client: ListClient | "any" | undefined): string =>
  typeof client === "object"
    ? `${providerId} ${client.inSession ? "session" : "shared"} ${client.capabilities}`
    : `${providerId} ${client}`

const NONE_USED: ReadonlyMap<ToolId, number> = new Map()

const isSameEdition = (some: ReadonlyArray<CatalogEntry>, others: ReadonlyArray<CatalogEntry>): boolean =>
  some === others || changedLastMs(some) === changedLastMs(others)

const changedLastMs = (entries: ReadonlyArray<CatalogEntry>): number =>
  entries.reduce((last, { tool }) => Math.max(last, tool.updatedAt.epochMilliseconds), 0)

const inEffectAt = (entries: ReadonlyArray<CatalogEntry>, nowMs: number): ReadonlyArray<CatalogEntry> =>
  entries.map((entry) => entryAt(entry, nowMs))

const nextChangeMs = (entries: ReadonlyArray<CatalogEntry>, nowMs: number): number =>
  entries.reduce((next, { prices }) => {
    const at = prices.upcoming?.effectiveFrom.epochMilliseconds ?? Number.POSITIVE_INFINITY
    return at > nowMs && at < next ? at : next
  }, Number.POSITIVE_INFINITY)
