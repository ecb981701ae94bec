/**
 * Tools and prices for the hot path: a bounded cache in front of the catalog. A change of a tool removes it from the cache
 * on every node. A tool is identified by its id, by its qualified name `handle/tool_name`, or by its bare name. For a bare
 * name an account's pin takes precedence over what other providers list.
 */
import { Clock, Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { qualifiedName, splitQualified } from "../accounts/Handle.ts"
import { Catalog } from "../catalog/Catalog.ts"
import { type CatalogEntry, entryAt, isOffered } from "../catalog/CatalogStore.ts"
import { basisPointsAt, DefaultFeeBasisPoints, type ProviderFee } from "../ledger/PlatformFee.ts"
import { ChangeFeed, concernsCatalog, onEachChange } from "../shared/ChangeFeed.ts"
import { Entropy } from "../shared/Cryptography.ts"
import { type FreshCache, makeFreshCache } from "../shared/FreshCache.ts"
import { type ConsumerId, type ProviderId, receiptIdOf, type ToolId } from "../shared/Ids.ts"
import { guessOf } from "../shared/NearestName.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { format } from "../shared/Time.ts"

export const PINS_PER_CONSUMER_MAX = 10_000

/** The tool that a bare name means for an account since its first call by that name. */
export interface NamePin {
  readonly consumerId: ConsumerId
  readonly toolName: string
  readonly toolId: ToolId
}

/** `Full`: the name is not pinned, and the consumer has the maximum number of pins. */
export type PinFound =
  | { readonly _tag: "Pinned"; readonly toolId: ToolId }
  | { readonly _tag: "Free" }
  | { readonly _tag: "Full" }

/**
 * The tool that a bare tool name means for a consumer: the one that it first called successfully by that name. A pin never
 * changes.
 */
export class NamePinStore extends Context.Service<
  NamePinStore,
  {
    find(consumerId: ConsumerId, toolName: string, pinsMax: number): Effect.Effect<PinFound, StoreUnavailable>
    /** Durable when it returns. Returns the tool that the name is pinned to, by this pin or by an earlier one. */
    pin(pin: NamePin, at: DateTime.Utc): Effect.Effect<ToolId, StoreUnavailable>
    /** When an account is erased. */
    removeAll(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/NamePinStore") {}

export const PINS_CACHED_MAX = 50_000

/** Bare names are pinned per account, and the account has the maximum. Qualified names still work. */
export class TooManyPins extends Schema.TaggedError<TooManyPins>()("TooManyPins", {
  toolName: Schema.String,
  max: Schema.Int
}) {
  override get message() {
    return (
      `Your account has called ${this.max} different tool names, the maximum. ` +
      `Send the qualified name \`handle/${this.toolName}\`, or \`tool_id\`. Nothing was charged.`
    )
  }
}

export const DIRECTORY_ENTRIES_MAX = 50_000
export const DIRECTORY_TTL_MS = 30_000
const CANDIDATES_NAMED_MAX = 5

/** No listed tool has this id or name. The nearest names are guesses for people and models. */
export class ToolNotFound extends Schema.TaggedError<ToolNotFound>()("ToolNotFound", {
  tool: Schema.String,
  /** The closest names of listed tools, in the form of the request: qualified or bare. */
  nearest: Schema.optional(Schema.Array(Schema.String))
}) {
  override get message() {
    return `There is no tool \`${this.tool}\`.${guessOf(this.nearest ?? [])}`
  }
}

/** The tool existed and cannot be called any more. Nothing was charged. */
export class ToolWithdrawn extends Schema.TaggedError<ToolWithdrawn>()("ToolWithdrawn", {
  tool: Schema.String,
  toolId: Schema.String,
  since: Schema.String,
  pinned: Schema.Boolean,
  frozen: Schema.optional(Schema.Boolean)
}) {
  override get message() {
    if (this.frozen) return `The operator has frozen the provider of ${this.tool}. Nothing was charged.`
    const withdrawn = `Its provider withdrew the tool ${this.tool} on ${this.since.slice(0, 10)}. Nothing was charged.`
    return this.pinned
      ? `${withdrawn} The name stays pinned to it for your account. To call a tool of another provider, send its qualified name \`handle/tool_name\`.`
      : withdrawn
  }
}

/** Several providers list a tool of this bare name. Nothing was called or charged. */
export class ToolAmbiguous extends Schema.TaggedError<ToolAmbiguous>()("ToolAmbiguous", {
  toolName: Schema.String,
  candidates: Schema.Array(
    Schema.Struct({
      qualified_name: Schema.String,
      tool_id: Schema.String,
      provider_id: Schema.String,
      provider: Schema.String
    })
  )
}) {
  override get message() {
    const names = this.candidates.slice(0, CANDIDATES_NAMED_MAX).map((one) => `\`${one.qualified_name}\``)
    return (
      `Several providers list a tool named \`${this.toolName}\`. Send the qualified name of one as \`tool_name\`: ` +
      `${names.join(", ")}. Nothing was charged.`
    )
  }
}

/** Which tool is meant: by id, by qualified name, or by bare name with or without its provider. */
export interface ToolReference {
  /** Takes precedence over the name. */
  readonly toolId: ToolId | undefined
  /** Qualified or bare. */
  readonly toolName: string | undefined
  readonly providerId: ProviderId | undefined
  /** The account whose pins resolve a bare name. */
  readonly account?: ConsumerId | undefined
  /** The name is qualified: a tool whose own name is the same text is not meant. */
  readonly isQualified?: boolean | undefined
}

/** Why a reference leads to no tool that can be called. */
export type ToolUnresolved = ToolNotFound | ToolWithdrawn | ToolAmbiguous | TooManyPins

type Entries = ReadonlyArray<CatalogEntry>

/** Unknown names are not cached: any client could fill the cache with them. */
const exists = (entries: Entries): boolean => entries.length > 0

export class ToolDirectory extends Context.Service<
  ToolDirectory,
  {
    /**
     * With the terms in effect now: an announced change applies from its exact time on, regardless of the age of the cached
     * entry. `calledAt`: the time of a call that was made already; a call from before the tool was withdrawn still resolves.
     */
    find(
      reference: ToolReference,
      calledAt?: DateTime.Utc
    ): Effect.Effect<CatalogEntry, ToolUnresolved | StoreUnavailable>
    /**
     * Pins the bare name by which the tool was called successfully. Run it before the call is settled, so that no call is charged
     * under a name that could still change. Undefined where there is nothing to pin, or the pin is cached: a call with a pinned
     * name costs no statement.
     */
    pinning(reference: ToolReference, entry: CatalogEntry): Effect.Effect<void, StoreUnavailable> | undefined
  }
>()("agent-tool-billing/domain/metering/ToolDirectory") {
  static readonly layer = Layer.effect(
    ToolDirectory,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const pinStore = yield* NamePinStore
      const feed = yield* ChangeFeed
      const clock = yield* Clock.Clock
      const byId = yield* makeFreshCache<Entries>({ entriesMax: DIRECTORY_ENTRIES_MAX, ttlMs: DIRECTORY_TTL_MS })
      const byName = yield* makeFreshCache<Entries>({ entriesMax: DIRECTORY_ENTRIES_MAX, ttlMs: DIRECTORY_TTL_MS })
      /** Pins never change, so a cached one is right on every node. Their absence is not cached: another node may make one. */
      const pins = new Map<string, ToolId>()

      yield* onEachChange(feed, (change) => {
        if (!concernsCatalog(change)) return
        // An account and its pins may have been erased.
        if (change.topic === "everything") pins.clear()
        // A new tool may share a name with cached ones. Names are few and cheap to load again.
        byName.forgetAll()
        if (change.topic === "catalog") byId.forget(change.id)
        else byId.forgetAll()
      })

      const keepPin = (key: string, toolId: ToolId): void => {
        if (pins.size >= PINS_CACHED_MAX) pins.delete(pins.keys().next().value!)
        pins.set(key, toolId)
      }

      const findPin = Effect.fnUntraced(function* (account: ConsumerId, toolName: string) {
        const found = yield* pinStore.find(account, toolName, PINS_PER_CONSUMER_MAX)
        if (found._tag === "Full") return yield* new TooManyPins({ toolName, max: PINS_PER_CONSUMER_MAX })
        if (found._tag === "Free") return undefined
        keepPin(pinKey(account, toolName), found.toolId)
        return found.toolId
      })

      const pin = Effect.fn("ToolDirectory.pin")(function* (wanted: NamePin) {
        const toolId = yield* pinStore.pin(wanted, yield* DateTime.now)
        keepPin(pinKey(wanted.consumerId, wanted.toolName), toolId)
      })

      const offered = (entry: CatalogEntry, calledAt: DateTime.Utc | undefined, pinned = false) =>
        offeredAt(clock.currentTimeMillisUnsafe(), entry, calledAt, pinned)

      /** The cache key contains a space, except that of an id: no tool name does. */
      const readOne = (
        cache: FreshCache<Entries>,
        key: string,
        load: () => Effect.Effect<Option.Option<CatalogEntry>, StoreUnavailable>
      ) =>
        Effect.mapEager(
          cache.readThrough(
            key,
            Effect.suspend(() => Effect.map(load(), Option.toArray)),
            exists
          ),
          ([entry]) => entry
        )

      const findById = (id: ToolId, calledAt: DateTime.Utc | undefined, pinned = false) =>
        Effect.flatMapEager(
          readOne(byId, id, () => catalog.find(id)),
          (entry): Effect.Effect<CatalogEntry, ToolNotFound | ToolWithdrawn> =>
            entry === undefined ? Effect.fail(new ToolNotFound({ tool: id })) : offered(entry, calledAt, pinned)
        )

      const findQualified = (name: string) => {
        const parts = splitQualified(name)
        return parts === undefined
          ? Effect.undefined
          : readOne(byName, `/ ${name}`, () => catalog.findQualified(parts.handle, parts.toolName))
      }

      /** For a qualified name it guesses qualified ones: a bare one would mean a tool of any provider. */
      const unknown = Effect.fnUntraced(function* (tool: string, providerId: ProviderId | undefined) {
        const parts = providerId === undefined ? splitQualified(tool) : undefined
        const nearest = yield* parts === undefined
          ? catalog.nearestNames(tool, providerId)
          : catalog.nearestQualified(parts.handle, parts.toolName)
        return yield* new ToolNotFound({ tool, nearest })
      })

      /** By the qualified name, also of this provider; else, without a provider, by the bare name. */
      const findNamed = Effect.fnUntraced(function* (
        toolName: string,
        { account, isQualified, providerId }: ToolReference,
        calledAt: DateTime.Utc | undefined
      ) {
        const qualified = yield* findQualified(toolName)
        if (qualified !== undefined && (providerId === undefined || qualified.provider.id === providerId)) {
          return yield* offered(qualified, calledAt)
        }
        if (isQualified === true || providerId !== undefined) return yield* unknown(toolName, providerId)
        const entries = yield* byName.readThrough(
          toolName,
          Effect.suspend(() => catalog.findByName(toolName)),
          exists
        )
        const [first] = entries
        if (first === undefined) return yield* unknown(toolName, undefined)
        // Read after the entries: this finds a pin that another node made before they changed.
        const pinned = account === undefined ? undefined : yield* findPin(account, toolName)
        if (pinned !== undefined) return yield* findById(pinned, calledAt, true)
        if (entries.length === 1 || !isOffered(first)) return yield* offered(first, calledAt)
        return yield* new ToolAmbiguous({
          toolName,
          candidates: entries.map((entry) => ({
            qualified_name: qualifiedName(entry.provider.handle, entry.tool.toolName),
            tool_id: entry.tool.id,
            provider_id: entry.provider.id,
            provider: entry.provider.name
          }))
        })
      })

      const findByName = (
        toolName: string,
        reference: ToolReference,
        calledAt: DateTime.Utc | undefined
      ): Effect.Effect<CatalogEntry, ToolUnresolved | StoreUnavailable> => {
        const { account, isQualified, providerId } = reference
        if (isQualified === true) return findNamed(toolName, { ...reference, providerId: undefined }, calledAt)
        if (providerId === undefined) {
          const pinned = account === undefined ? undefined : pins.get(pinKey(account, toolName))
          return pinned === undefined ? findNamed(toolName, reference, calledAt) : findById(pinned, calledAt, true)
        }
        const own = readOne(byName, `${providerId} ${toolName}`, () => catalog.findOf(providerId, toolName))
        return Effect.flatMapEager(own, (entry) =>
          entry === undefined ? findNamed(toolName, reference, calledAt) : offered(entry, calledAt)
        )
      }

      return ToolDirectory.of({
        find: (reference, calledAt) =>
          Effect.suspend((): Effect.Effect<CatalogEntry, ToolUnresolved | StoreUnavailable> =>
            reference.toolId !== undefined
              ? findById(reference.toolId, calledAt)
              : reference.toolName !== undefined
                ? findByName(reference.toolName, reference, calledAt)
                : Effect.fail(new ToolNotFound({ tool: "without a name" }))
          ),
        pinning: ({ account, providerId, toolId, toolName }, { tool }) =>
          account === undefined ||
          toolId !== undefined ||
          providerId !== undefined ||
          toolName !== tool.toolName ||
          pins.has(pinKey(account, toolName))
            ? undefined
            : pin({ consumerId: account, toolName, toolId: tool.id })
      })
    })
  )
}

/** Ids contain no spaces. */
const pinKey = (account: ConsumerId, toolName: string): string => `${account} ${toolName}`

const offeredAt = (
  nowMs: number,
  entry: CatalogEntry,
  calledAt: DateTime.Utc | undefined,
  pinned: boolean
): Effect.Effect<CatalogEntry, ToolWithdrawn> => {
  const [{ frozen }, { id, toolName, withdrawnAt }] = [entry.provider, entry.tool]
  const since = frozen?.at ?? withdrawnAt
  return since === undefined || (!frozen && calledAt !== undefined && DateTime.isLessThan(calledAt, since))
    ? Effect.succeed(entryAt(entry, nowMs))
    : Effect.fail(new ToolWithdrawn({ tool: toolName, toolId: id, since: format(since), pinned, frozen: !!frozen }))
}

// The id of a new call. It ends with the platform fee that is in effect now, because the id is signed: a fee that is changed
// in the database no longer agrees with the signature.

export const makeCallNames = Effect.gen(function* () {
  const entropy = yield* Entropy
  const defaultFee = yield* DefaultFeeBasisPoints
  return (fee: ProviderFee, now: DateTime.Utc) =>
    Effect.map(entropy.uuid, (uuid) => {
      const feeBasisPoints = basisPointsAt(fee, defaultFee, now.epochMilliseconds)
      return { invocationId: receiptIdOf(uuid, feeBasisPoints), feeBasisPoints }
    })
})
