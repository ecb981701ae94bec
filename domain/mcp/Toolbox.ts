/**
 * The tools that the market door lists for a key: those chosen for the key, else those chosen for its account, else the
 * account's recently used ones.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { isActive, KeyNotFound, KeyStore } from "../accounts/Keys.ts"
import { type ToolboxScope, ToolboxStore } from "../accounts/ToolboxStore.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { ToolDirectory, type ToolReference, type ToolUnresolved } from "../metering/ToolDirectory.ts"
import { type UsageOfToolDay, UsageStore } from "../metering/Usage.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import type { ConsumerId, KeyId, ToolId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { ToolAliases } from "./ToolAliases.ts"

// The recently used tools of an account, listed at the market door where no tools are chosen.

export const RECENT_DAYS = 30

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

/**
 * How many tools a toolbox has at most. More of them make models choose worse, and clients cut the list. Default: 40.
 */
export const ToolboxToolsMax = Context.Reference<number>("agent-tool-billing/domain/mcp/ToolboxToolsMax", {
  defaultValue: () => 40
})

export const TOOLBOXES_CACHED_MAX = 20_000
export const TOOLBOX_TTL_MS = 30_000
/** The totals of a month are read for it. */
export const RECENT_TTL_MS = 60_000

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

/** Who chose the tools: the `key`, its `account`, or none, so that they are the account's `recent` ones. */
export type ToolboxSource = "key" | "account" | "recent"

/** What `tools/list` of the market's MCP door contains for an account. */
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
    /** What the door lists for the key, or for an account without a key. Withdrawn tools are left out. */
    listed(consumerId: ConsumerId, keyId: KeyId | undefined): Effect.Effect<ListedTools, StoreUnavailable>
    /** Fails unless the key, where there is one, is an active key of the account. */
    requireKey(scope: ToolboxScope): Effect.Effect<void, KeyNotFound | StoreUnavailable>
    /** At the end, without those that the toolbox has already. Returns the tools of the toolbox. */
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
        // In an order that does not change with every call: clients cache the list as a part of their prompt.
        return { source, tools: source === "recent" ? tools.toSorted((a, b) => (a.alias < b.alias ? -1 : 1)) : tools }
      })

      const resolve = (tools: ReadonlyArray<ToolReference>) =>
        Effect.map(
          Effect.forEach(tools, (tool) => directory.find(tool)),
          (entries) => new Map(entries.map((entry) => [entry.tool.id, entry]))
        )

      /** In a unit of work it locks the account, so that concurrent changes of its toolboxes run one after the other. */
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

/** Ids are unique among accounts and keys. */
export const scopeId = ({ consumerId, keyId }: ToolboxScope): string => keyId ?? consumerId

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
