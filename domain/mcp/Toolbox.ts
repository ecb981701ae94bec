/**
 * The tools that the market door lists for a key: those chosen for the key, else those chosen for its account, else the
 * account's recently used ones.
 */
import {
  Clock,
  Context,
  DateTime,
  Duration,
  Effect,
  Fiber,
  Layer,
  Option,
  Queue,
  Result,
  Schema,
  type Scope
} from "effect"
import { isHandle, qualifiedName } from "../accounts/Handle.ts"
import { isActive, KeyNotFound, KeyStore } from "../accounts/Keys.ts"
import { scopeId, type ToolboxScope, ToolboxStore } from "../accounts/ToolboxStore.ts"
import { Catalog, type CatalogQuery } from "../catalog/Catalog.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { tokensOfQuery } from "../catalog/SearchTokens.ts"
import type { JsonSchemaObject } from "../catalog/Tool.ts"
import { ToolDirectory, type ToolReference, type ToolUnresolved } from "../metering/ToolDirectory.ts"
import { type UsageOfToolDay, UsageStore } from "../metering/Usage.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import type { ConsumerId, KeyId, ProviderId, ToolId } from "../shared/Ids.ts"
import { GUESSES_MAX, nearestNames } from "../shared/NearestName.ts"
import type { Page } from "../shared/Page.ts"
import { escapeHidden } from "../shared/PlainText.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { TOOL_META } from "../upstream/Protocol.ts"
import type { ListClient } from "../upstream/ProviderServers.ts"
import { withMembers, withMeta } from "./PassedResults.ts"
import { ToolAliases } from "./ToolAliases.ts"
import { FREE_CALLS_LEFT, pricedTool, type ToolOffer } from "./ToolOffer.ts"
import { makeUsedBy, ToolOffers } from "./ToolOffers.ts"

// The recently used tools of an account, listed at the market door where no tools are chosen.

const RECENT_DAYS = 30

/** Last used first; of the same day, most used first. Tools that were never called successfully are left out. */
export const recentTools = (days: ReadonlyArray<UsageOfToolDay>, max: number): ReadonlyArray<ToolId> => {
  const tools = new Map<ToolId, { date: string; calls: number; successes: number }>()
  for (const { calls, date, successes, toolId } of days) {
    const known = tools.get(toolId)
    if (known === undefined) {
      tools.set(toolId, { date, calls, successes })
      continue
    }
    if (date > known.date) Object.assign(known, { date, calls })
    known.successes += successes
  }
  return [...tools]
    .filter(([, { successes }]) => successes > 0)
    .toSorted(([a, x], [b, y]) =>
      x.date === y.date ? y.calls - x.calls || (a < b ? -1 : 1) : x.date < y.date ? 1 : -1
    )
    .slice(0, max)
    .map(([toolId]) => toolId)
}

/** The limit of tools in a toolbox. More of them make models choose worse, and clients cut the list. Default: 40. */
export const ToolboxToolsMax = Context.Reference<number>("agent-tool-billing/domain/mcp/ToolboxToolsMax", {
  defaultValue: () => 40
})

const TOOLBOXES_CACHED_MAX = 20_000
const TOOLBOX_TTL_MS = 30_000
/** The totals of a month are read for it. */
const RECENT_TTL_MS = 60_000

/** A toolbox is limited, because clients send all of its definitions to a model. */
export class ToolboxFull extends Schema.TaggedError<ToolboxFull>()("ToolboxFull", { max: Schema.Int }) {
  override get message() {
    return `A toolbox has at most ${this.max} tools. Remove one first.`
  }
}

/** A tool can be removed only from a toolbox that has it. */
export class ToolNotInToolbox extends Schema.TaggedError<ToolNotInToolbox>()("ToolNotInToolbox", {
  toolId: Schema.String
}) {
  override get message() {
    return `The toolbox does not contain the tool ${this.toolId}.`
  }
}

/** The key or its account chose the tools; where neither did, they are the account's `recent` ones. */
export type ToolboxSource = "key" | "account" | "recent"

/** The contents of `tools/list` at the market's MCP door for an account. */
export interface ListedTools {
  readonly source: ToolboxSource
  readonly tools: ReadonlyArray<AliasedTool>
}

/** A tool under the short name by which the account's MCP clients call it. */
export interface AliasedTool {
  readonly alias: string
  readonly entry: CatalogEntry
}

type ToolboxRejected = ToolUnresolved | ToolboxFull | KeyNotFound

export class Toolbox extends Context.Service<
  Toolbox,
  {
    /** Returns what the door lists for the key, or for an account without a key, without withdrawn tools. */
    listed(consumerId: ConsumerId, keyId: KeyId | undefined): Effect.Effect<ListedTools, StoreUnavailable>
    /** Fails unless the key, where there is one, is an active key of the account. */
    requireKey(scope: ToolboxScope): Effect.Effect<void, KeyNotFound | StoreUnavailable>
    /** Appends the tools that the toolbox does not have. Returns the tools of the toolbox. */
    add(
      scope: ToolboxScope,
      tools: ReadonlyArray<ToolReference>
    ): Effect.Effect<ReadonlyArray<CatalogEntry>, ToolboxRejected | StoreUnavailable>
    remove(
      scope: ToolboxScope,
      toolId: ToolId
    ): Effect.Effect<ReadonlyArray<CatalogEntry>, ToolNotInToolbox | KeyNotFound | StoreUnavailable>
    /** An empty list removes the toolbox. */
    replace(
      scope: ToolboxScope,
      tools: ReadonlyArray<ToolReference>
    ): Effect.Effect<ReadonlyArray<CatalogEntry>, ToolboxRejected | StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/Toolbox") {
  static readonly layer = Layer.effect(
    Toolbox,
    Effect.gen(function* () {
      const store = yield* ToolboxStore
      const keys = yield* KeyStore
      const usage = yield* UsageStore
      const directory = yield* ToolDirectory
      const aliases = yield* ToolAliases
      const feed = yield* ChangeFeed
      const toolsMax = yield* ToolboxToolsMax
      const { atomically } = yield* UnitOfWork
      const chosen = yield* makeFreshCache<ReadonlyArray<ToolId>>({
        entriesMax: TOOLBOXES_CACHED_MAX,
        ttlMs: TOOLBOX_TTL_MS
      })
      const recent = yield* makeFreshCache<ReadonlyArray<ToolId>>({
        entriesMax: TOOLBOXES_CACHED_MAX,
        ttlMs: RECENT_TTL_MS
      })

      yield* onEachChange(feed, (change) => {
        if (change.topic === "toolbox") chosen.forget(change.id)
        if (change.topic === "everything") {
          chosen.forgetAll()
          recent.forgetAll()
        }
      })

      const chosenOf = (scope: ToolboxScope) =>
        Effect.suspend(() =>
          chosen.readThrough(
            scopeId(scope),
            Effect.suspend(() => store.tools(scope))
          )
        )

      const recentOf = (consumerId: ConsumerId) =>
        Effect.suspend(() => recent.readThrough(consumerId, readRecent(consumerId)))

      const readRecent = Effect.fnUntraced(function* (ownerId: ConsumerId) {
        const since = DateTime.startOf(DateTime.subtract(yield* DateTime.now, { days: RECENT_DAYS }), "hour")
        return recentTools(yield* usage.byToolAndDay({ role: "consumer", ownerId }, since), toolsMax)
      })

      const sourceOf = Effect.fnUntraced(function* (consumerId: ConsumerId, keyId: KeyId | undefined) {
        const ofKey = keyId === undefined ? [] : yield* chosenOf({ consumerId, keyId })
        if (ofKey.length > 0) return { source: "key" as const, ids: ofKey }
        const ofAccount = yield* chosenOf({ consumerId, keyId: undefined })
        if (ofAccount.length > 0) return { source: "account" as const, ids: ofAccount }
        return { source: "recent" as const, ids: yield* recentOf(consumerId) }
      })

      /** Those that are listed in the catalog. */
      const entriesOf = (ids: ReadonlyArray<ToolId>) =>
        Effect.map(
          Effect.forEach(ids, (toolId) => found(directory, toolId), { concurrency: 8 }),
          (entries) => entries.flatMap(Option.toArray)
        )

      const listed = Effect.fn("Toolbox.listed")(function* (consumerId: ConsumerId, keyId: KeyId | undefined) {
        const { ids, source } = yield* sourceOf(consumerId, keyId)
        const entries = yield* entriesOf(ids.slice(0, toolsMax))
        const names = yield* aliases.ofTools(entries)
        const tools = entries.flatMap((entry) => {
          const alias = names.get(entry.tool.id)
          return alias === undefined ? [] : [{ alias, entry }]
        })
        // The order does not change with every call: clients cache the list as a part of their prompt.
        return { source, tools: source === "recent" ? tools.toSorted((a, b) => (a.alias < b.alias ? -1 : 1)) : tools }
      })

      const resolve = (tools: ReadonlyArray<ToolReference>) =>
        Effect.map(
          Effect.forEach(tools, (tool) => directory.find(tool)),
          (entries) => new Map(entries.map((entry) => [entry.tool.id, entry]))
        )

      /** Locks the account in a unit of work, so that concurrent changes of its toolboxes run one after the other. */
      const requireKey = Effect.fnUntraced(function* ({ consumerId, keyId }: ToolboxScope) {
        const now = yield* DateTime.now
        const known = yield* keys.ofOwner(consumerId, now)
        if (keyId === undefined) return
        const key = known.find(({ id }) => id === keyId)
        if (key === undefined || !isActive(key, now.epochMilliseconds)) return yield* new KeyNotFound({ keyId })
      })

      /** Tools that were withdrawn are dropped with every change. */
      const current = (scope: ToolboxScope) => Effect.flatMap(store.tools(scope), entriesOf)

      const requireRoom = (entries: ReadonlyArray<CatalogEntry>) =>
        entries.length > toolsMax ? Effect.fail(new ToolboxFull({ max: toolsMax })) : Effect.void

      const put = Effect.fnUntraced(function* (scope: ToolboxScope, entries: ReadonlyArray<CatalogEntry>) {
        yield* store.put(
          scope,
          entries.map(({ tool }) => tool.id),
          yield* DateTime.now
        )
        yield* feed.publish({ topic: "toolbox", id: scopeId(scope) })
        return entries
      })

      const add = Effect.fn("Toolbox.add")(function* (scope: ToolboxScope, tools: ReadonlyArray<ToolReference>) {
        const added = yield* resolve(tools)
        yield* requireKey(scope)
        const before = yield* current(scope)
        for (const { tool } of before) added.delete(tool.id)
        const entries = [...before, ...added.values()]
        if (added.size > 0) yield* requireRoom(entries)
        return yield* put(scope, entries)
      }, atomically)

      const replace = Effect.fn("Toolbox.replace")(function* (
        scope: ToolboxScope,
        tools: ReadonlyArray<ToolReference>
      ) {
        const entries = [...(yield* resolve(tools)).values()]
        yield* requireRoom(entries)
        yield* requireKey(scope)
        return yield* put(scope, entries)
      }, atomically)

      const remove = Effect.fn("Toolbox.remove")(function* (scope: ToolboxScope, toolId: ToolId) {
        yield* requireKey(scope)
        if (!(yield* store.tools(scope)).includes(toolId)) return yield* new ToolNotInToolbox({ toolId })
        const left = (yield* current(scope)).filter(({ tool }) => tool.id !== toolId)
        return yield* put(scope, left)
      }, atomically)

      return Toolbox.of({ listed, requireKey, add, remove, replace })
    })
  )
}

const found = (
  directory: ToolDirectory["Service"],
  toolId: ToolId
): Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable> =>
  directory.find({ toolId, toolName: undefined, providerId: undefined }).pipe(
    Effect.asSome,
    Effect.catchTags({
      ToolNotFound: () => Effect.succeedNone,
      ToolWithdrawn: () => Effect.succeedNone,
      ToolAmbiguous: () => Effect.succeedNone,
      TooManyPins: () => Effect.succeedNone
    })
  )

/** The limit for reading all servers of one list. A slower server is read in the background, and a later list shows its definitions. */
const SERVERS_WAIT = Duration.seconds(1)

/**
 * The tools of a toolbox as the market door lists them: under their aliases, with their prices. A definition is the one that
 * the provider's server lists, verbatim, or the catalog's where the server cannot be read now.
 */
export class ToolboxList extends Context.Service<
  ToolboxList,
  {
    /**
     * JSON texts of the tools, without those that their server lists to other clients only. `described`: with the price in
     * each description.
     */
    read(
      client: ListClient,
      consumerId: ConsumerId,
      keyId: KeyId,
      described: boolean
    ): Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/ToolboxList") {
  static readonly layer = Layer.effect(
    ToolboxList,
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const offers = yield* ToolOffers
      const usedBy = yield* makeUsedBy

      const offerOf = Effect.fnUntraced(function* (
        { endpointUrl, id }: CatalogEntry["provider"],
        client: ListClient | "any"
      ) {
        const reading = yield* Effect.forkDetach(Effect.option(offers.offer({ providerId: id, endpointUrl }, client)))
        const read = yield* Effect.timeoutOption(Fiber.join(reading), SERVERS_WAIT)
        return Option.getOrUndefined(Option.flatten(read)) ?? offers.latest(id, client)
      })

      /** `client`: who is listed the tools. */
      const offersOf = Effect.fnUntraced(function* (tools: ReadonlyArray<AliasedTool>, client: ListClient | "any") {
        const providers = new Map(tools.map(({ entry }) => [entry.provider.id, entry.provider]))
        const all = yield* Effect.forEach(
          providers.values(),
          (provider) => Effect.map(offerOf(provider, client), (offer) => [provider.id, offer] as const),
          { concurrency: "unbounded" }
        )
        return new Map<ProviderId, ToolOffer | undefined>(all)
      })

      const read = Effect.fn("ToolboxList.read")(function* (
        client: ListClient,
        consumerId: ConsumerId,
        keyId: KeyId,
        described: boolean
      ) {
        const { tools: chosen } = yield* toolbox.listed(consumerId, keyId)
        if (chosen.length === 0) return []
        const known = yield* offersOf(chosen, client)
        // A tool that no client is listed stays: it is registered as unlisted, or will be withdrawn.
        const missing = chosen.filter((tool) => isListed(tool, known) === false)
        const others = yield* offersOf(missing, "any")
        const tools = chosen.filter((tool) => !(missing.includes(tool) && isListed(tool, others) === true))
        const hasFreeCalls = tools.some(({ entry }) => entry.freeTierCalls > 0)
        const used = hasFreeCalls ? yield* usedBy(consumerId) : NONE_USED
        return tools.map(({ alias, entry }) => {
          const listed = known.get(entry.provider.id)?.tools.get(entry.tool.toolName)?.listed.text
          const left = Math.max(0, entry.freeTierCalls - (used.get(entry.tool.id) ?? 0))
          return pricedTool(named(listed ?? catalogDefinition(entry), alias, entry), entry, described).replace(
            FREE_CALLS_LEFT,
            String(left)
          )
        })
      })

      return ToolboxList.of({ read })
    })
  )
}

/** Undefined where the server could not be read. */
const isListed = (
  { entry: { provider, tool } }: AliasedTool,
  offers: ReadonlyMap<ProviderId, ToolOffer | undefined>
): boolean | undefined => offers.get(provider.id)?.tools.has(tool.toolName)

const NONE_USED: ReadonlyMap<ToolId, number> = new Map()

const named = (definition: string, alias: string, { provider, tool }: CatalogEntry): string =>
  withMeta(withMembers(definition, { name: JSON.stringify(alias) }), {
    [TOOL_META]: JSON.stringify({
      tool: qualifiedName(provider.handle, tool.toolName),
      tool_id: tool.id,
      provider: provider.name
    })
  })

/** Clients reject definitions whose schemas are not of objects. */
const catalogDefinition = ({ tool }: CatalogEntry): string =>
  escapeHidden(
    JSON.stringify({
      name: tool.toolName,
      title: tool.displayName,
      ...(tool.description === "" ? {} : { description: tool.description }),
      inputSchema: isOfObjects(tool.inputSchema) ? tool.inputSchema : { type: "object" },
      ...(isOfObjects(tool.outputSchema) ? { outputSchema: tool.outputSchema } : {})
    })
  )

const isOfObjects = (schema: JsonSchemaObject | undefined): boolean => schema?.["type"] === "object"

/** Changes of one request come together: they are one change of the list. */
const GATHER = Duration.millis(250)
/** A change that the feed has lost is noticed after this time. */
const RECHECK_MS_MAX = 300_000

/**
 * Notices when what the market door lists for a key has changed: the toolbox, or a tool in it, its price included. Also
 * when an announced price takes effect.
 */
export class ToolboxChanges extends Context.Service<
  ToolboxChanges,
  {
    /** `onChange` is called while the scope lives. */
    watch(
      consumerId: ConsumerId,
      keyId: KeyId | undefined,
      onChange: () => void
    ): Effect.Effect<void, never, Scope.Scope>
  }
>()("agent-tool-billing/domain/mcp/ToolboxChanges") {
  static readonly layer = Layer.effect(
    ToolboxChanges,
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const feed = yield* ChangeFeed

      const watch = Effect.fn("ToolboxChanges.watch")(function* (
        consumerId: ConsumerId,
        keyId: KeyId | undefined,
        onChange: () => void
      ) {
        const hints = yield* Queue.sliding<void>(1)
        let ids: ReadonlySet<string> = new Set()
        yield* onEachChange(feed, ({ id, topic }) => {
          const concerns =
            topic === "everything" ||
            (topic === "toolbox" && (id === consumerId || id === keyId)) ||
            ((topic === "catalog" || topic === "account") && ids.has(id))
          if (concerns) Queue.offerUnsafe(hints, undefined)
        })

        /** Returns undefined while the store does not answer: nothing is known then. */
        const read = Effect.map(
          Effect.orElseSucceed(toolbox.listed(consumerId, keyId), () => undefined),
          (listed) => {
            if (listed !== undefined)
              ids = new Set(listed.tools.flatMap(({ entry: { provider, tool } }) => [tool.id, provider.id]))
            return listed
          }
        )
        const first = yield* read

        const follow = Effect.gen(function* () {
          let known = first
          for (;;) {
            const wait = yield* Effect.map(Clock.currentTimeMillis, (nowMs) => waitMs(known, nowMs))
            yield* Effect.timeoutOption(Queue.take(hints), wait)
            yield* Effect.sleep(GATHER)
            yield* Queue.clear(hints)
            const next = yield* read
            if (next === undefined) continue
            if (known !== undefined && versionOf(known) !== versionOf(next)) onChange()
            known = next
          }
        })
        yield* Effect.forkScoped(follow)
      })

      return ToolboxChanges.of({ watch })
    })
  )
}

/** The free calls that are left are not part of it. */
const versionOf = ({ tools }: ListedTools): string =>
  tools.map(({ alias, entry }) => `${alias} ${entry.priceVersion} ${entry.tool.updatedAt.epochMilliseconds}`).join("\n")

/** Returns the time until the next announced price takes effect, at most that of a recheck. */
const waitMs = (listed: ListedTools | undefined, nowMs: number): number => {
  const announced = (listed?.tools ?? []).flatMap(({ entry }) => entry.prices.upcoming?.effectiveFrom ?? [])
  const next = Math.min(...announced.map((from: DateTime.Utc) => from.epochMilliseconds - nowMs), RECHECK_MS_MAX)
  return Math.max(next, 0)
}

/**
 * Reads the tool of an alias, or what the client may have meant: at most 3 names that its account can call. These are the
 * closest of `others` and of the toolbox's aliases, else qualified names of listed tools.
 */
export const makeAliasReader = Effect.gen(function* () {
  const aliases = yield* ToolAliases
  const toolbox = yield* Toolbox
  const catalog = yield* Catalog

  return Effect.fn("AliasReader.read")(function* (
    name: string,
    caller: { readonly ownerId: ConsumerId; readonly keyId: KeyId },
    others: ReadonlyArray<string>
  ): Effect.fn.Return<Result.Result<ToolId, ReadonlyArray<string>>, StoreUnavailable> {
    const known = yield* aliases.toolOf(name)
    if (known !== undefined) return Result.succeed(known)
    // A tool of the toolbox has its alias from the first list on, which may be this one.
    const { tools } = yield* toolbox.listed(caller.ownerId, caller.keyId)
    const listed = tools.find(({ alias }) => alias === name)
    if (listed !== undefined) return Result.succeed(listed.entry.tool.id)
    const callable = nearestNames(name, [...others, ...tools.map(({ alias }) => alias)], GUESSES_MAX)
    if (callable.length > 0) return Result.fail(callable)
    const { handle, toolName } = partsOf(name)
    return Result.fail(yield* catalog.nearestQualified(handle, toolName))
  })
})

const SEPARATOR = "__"

/** A plain alias is `{handle}__{tool_name}`; no handle contains an underscore. */
const partsOf = (name: string): { readonly handle: string | undefined; readonly toolName: string } => {
  const at = name.indexOf(SEPARATOR)
  const handle = name.slice(0, Math.max(at, 0))
  return isHandle(handle)
    ? { handle, toolName: name.slice(at + SEPARATOR.length) }
    : { handle: undefined, toolName: name }
}

// Search for models, which describe what they need in more words than a tool has. Where no tool has all of the words, those
// with most of them are found.

/** Each is a search of its own. */
const WORDS_SEARCHED_MAX = 5
/** Shorter words occur in most tools. */
const WORD_CHARS_MIN = 3

export interface FoundTools extends Page<CatalogEntry> {
  /** False: the tools have only some of the words. */
  readonly hasAllWords: boolean
}

export const searchLoosely = Effect.fn("LooseSearch.search")(function* (
  { search }: Catalog["Service"],
  query: CatalogQuery
): Generator<Effect.Effect<Page<CatalogEntry>, StoreUnavailable>, FoundTools, Page<CatalogEntry>> {
  const exact = yield* search(query)
  const words = wordsOf(query.q ?? "")
  if (exact.total > 0 || words.length < 2 || query.page.after !== undefined) return { ...exact, hasAllWords: true }
  const pages: Array<ReadonlyArray<CatalogEntry>> = []
  for (const q of words) pages.push((yield* search({ ...query, q })).items)
  const items = byWords(pages).slice(0, query.page.limit)
  return { items, total: items.length, next: undefined, hasAllWords: items.length === 0 }
})

const wordsOf = (q: string): ReadonlyArray<string> =>
  tokensOfQuery(q)
    .filter((word) => word.length >= WORD_CHARS_MIN)
    .slice(0, WORDS_SEARCHED_MAX)

/** Most words first; otherwise in the order of the searches. */
const byWords = (pages: ReadonlyArray<ReadonlyArray<CatalogEntry>>): ReadonlyArray<CatalogEntry> => {
  const found = new Map<ToolId, { readonly entry: CatalogEntry; words: number }>()
  for (const entry of pages.flat()) {
    const known = found.get(entry.tool.id)
    if (known === undefined) found.set(entry.tool.id, { entry, words: 1 })
    else known.words++
  }
  return [...found.values()].toSorted((a, b) => b.words - a.words).map(({ entry }) => entry)
}
