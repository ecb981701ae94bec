/**
 * The levels of an account: teams, keys with bounds, and runs, in a tree below it. A level bounds what is called with it:
 * which tools, how often, at what price, until when; its budgets bound the spending. A call must fit into each level from the
 * top. A key without a level is the account's: it may do everything.
 */
import { Clock, Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { type Budget, BudgetId, type BudgetStatus, BudgetStore, type SpendingLimit } from "../ledger/Budgets.ts"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import { type ConsumerId, type KeyId, LevelId, type ProviderId, type ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import {
  type ApiKey,
  assemble,
  type ExpiryInThePast,
  isActive,
  KEY_RANDOM_BYTES,
  KeyNotFound,
  Keys,
  KeyStore,
  type LastKey,
  type MintedKey,
  type TooManyKeys
} from "./Keys.ts"

/** What a key may be used for: calls, reading the account, keys and runs below it, and paying out. */
export const SCOPES = ["call", "read", "manage", "payouts"] as const
export const Scope = Schema.Literals(SCOPES)
/** One use of a key: a call, reading the account, a change of keys below it, or paying out. */
export type Scope = typeof Scope.Type

export type LevelKind = "team" | "key" | "run"

/** What a level bounds besides spending. An undefined field bounds nothing. */
export interface Bounds {
  readonly scopes: ReadonlyArray<Scope> | undefined
  readonly rateLimitRpm: number | undefined
  /** The most that one call may cost. */
  readonly maxPrice: Microcents | undefined
  /** By id or qualified name. */
  readonly allowedTools: ReadonlyArray<string> | undefined
  /** By id or handle. */
  readonly allowedProviders: ReadonlyArray<string> | undefined
  readonly allowedCategories: ReadonlyArray<string> | undefined
}

/** A team, a key or a run of an account, with what bounds it. */
export interface Level extends Bounds {
  readonly id: LevelId
  readonly consumerId: ConsumerId
  readonly kind: LevelKind
  /** The levels above, from the top, and the level itself. */
  readonly path: ReadonlyArray<LevelId>
  readonly label: string
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc | undefined
  /** Until it is enabled again, nothing below the level works. */
  readonly disabledAt: DateTime.Utc | undefined
  /** For good. */
  readonly endedAt: DateTime.Utc | undefined
}

/** Levels of a path, with the top one. */
export const LEVELS_DEEP_MAX = 10
/** Runs of an account that have neither ended nor expired. */
export const RUNS_LIVE_MAX = 1_000
export const RUN_SECONDS_MAX = 30 * 86_400
export const RUN_SECONDS_DEFAULT = 86_400
export const ALLOWED_ENTRIES_MAX = 200
/** Runs below a run that are shown with it. */
export const RUNS_SHOWN_MAX = 100

/** What all levels of a path permit together; undefined: everything. */
export const scopesOf = (levels: ReadonlyArray<Level>): ReadonlyArray<Scope> | undefined =>
  levels.reduce<ReadonlyArray<Scope> | undefined>(
    (left, { scopes }) => (scopes === undefined ? left : (left?.filter((scope) => scopes.includes(scope)) ?? scopes)),
    undefined
  )

/** From then on nothing is accepted below a level of this path. */
export const liveUntilMs = (levels: ReadonlyArray<Level>): number =>
  Math.min(
    ...levels.flatMap(({ disabledAt, endedAt, expiresAt }) => [
      disabledAt?.epochMilliseconds ?? Infinity,
      endedAt?.epochMilliseconds ?? Infinity,
      expiresAt?.epochMilliseconds ?? Infinity
    ])
  )

/**
 * Whose idempotency keys a caller sends. Keys without bounds share those of the account. A level has its own: it must not see
 * responses of others, such as new keys.
 */
export const idempotencyScope = (caller: {
  readonly ownerId: string
  readonly levels?: ReadonlyArray<Level>
}): string => {
  const own = caller.levels?.at(-1)
  return own === undefined ? caller.ownerId : `${caller.ownerId} ${own.id}`
}

/** What a level sees of a call. */
export interface BoundedCall {
  readonly toolId: ToolId
  readonly qualifiedName: string
  readonly providerId: ProviderId
  readonly handle: string
  readonly category: string
  /** The most that it can cost. */
  readonly cost: bigint
}

const misses = (allowed: ReadonlyArray<string> | undefined, ...names: ReadonlyArray<string>) =>
  allowed !== undefined && !names.some((name) => allowed.includes(name))

/** Whether the level permits anything of this provider: calls, and what else its MCP server offers. */
export const permitsProvider = (level: Level, provider: { readonly id: string; readonly handle: string }): boolean =>
  !misses(level.allowedProviders, provider.id, provider.handle)

/** The highest level that does not permit the call, and why. */
export const boundOf = (
  levels: ReadonlyArray<Level>,
  call: BoundedCall
): { readonly level: Level; readonly bound: "tool" | "provider" | "category" | "price" } | undefined => {
  for (const level of levels) {
    const { allowedCategories, allowedTools, maxPrice } = level
    if (misses(allowedTools, call.toolId, call.qualifiedName)) return { level, bound: "tool" }
    if (!permitsProvider(level, { id: call.providerId, handle: call.handle })) return { level, bound: "provider" }
    if (misses(allowedCategories, call.category)) return { level, bound: "category" }
    if (maxPrice !== undefined && call.cost > maxPrice) return { level, bound: "price" }
  }
  return undefined
}

/** A run's key, with its account. */
export interface RunWithOwner {
  readonly run: Level
  readonly ownerName: string
  readonly rateLimitRpm: number
  readonly defaultCap: Microcents | undefined
}

/** Port to the levels of accounts, with the keys of runs. */
export class LevelStore extends Context.Service<
  LevelStore,
  {
    /** `keyHash`: of a run's key. */
    insert(level: Level, keyHash?: string): Effect.Effect<void, StoreUnavailable>
    find(consumerId: ConsumerId, id: LevelId): Effect.Effect<Option.Option<Level>, StoreUnavailable>
    findRun(keyHash: string): Effect.Effect<Option.Option<RunWithOwner>, StoreUnavailable>
    /** The levels of the path to this one, from the top. */
    pathOf(id: LevelId): Effect.Effect<ReadonlyArray<Level>, StoreUnavailable>
    /** Writes label, bounds, expiry and whether it is disabled. */
    update(level: Level): Effect.Effect<void, StoreUnavailable>
    /** Ends the level and all below it, and revokes their keys. */
    end(consumerId: ConsumerId, id: LevelId, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
    /** The runs below a level, oldest first. */
    runsBelow(consumerId: ConsumerId, id: LevelId, limit: number): Effect.Effect<ReadonlyArray<Level>, StoreUnavailable>
    /** Runs of the account, or below a level, newest first. */
    runs(
      consumerId: ConsumerId,
      below: LevelId | undefined,
      page: PageRequest
    ): Effect.Effect<Page<Level>, StoreUnavailable>
    liveRuns(consumerId: ConsumerId, now: DateTime.Utc): Effect.Effect<number, StoreUnavailable>
    /** Ends all levels of the account, and erases their labels. */
    erase(consumerId: ConsumerId, at: DateTime.Utc): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/LevelStore") {}

/** The caller's key or run has no such run below it. */
export class RunNotFound extends Schema.TaggedError<RunNotFound>()("RunNotFound", { runId: Schema.String }) {
  override get message() {
    return `You have no run ${this.runId}.`
  }
}

/** A key with bounds must not lift them. */
export class BeyondOwnLevel extends Schema.TaggedError<BeyondOwnLevel>()("BeyondOwnLevel", {}) {
  override get message() {
    return "A key with bounds changes only the keys and runs below it. Use a key above it, or one without bounds."
  }
}

/** A key or run cannot be given a scope that the levels above it lack. */
export class ScopesExceeded extends Schema.TaggedError<ScopesExceeded>()("ScopesExceeded", {
  wanted: Schema.Array(Scope),
  held: Schema.Array(Scope)
}) {
  override get message() {
    const missing = this.wanted.filter((scope) => !this.held.includes(scope))
    return `A key gives only scopes that it has: ${missing.map((scope) => `\`${scope}\``).join(", ")} is not among ${this.held.map((scope) => `\`${scope}\``).join(", ")}.`
  }
}

/** A path of levels would be too long: each call must fit into all of them. */
export class LevelsTooDeep extends Schema.TaggedError<LevelsTooDeep>()("LevelsTooDeep", { max: Schema.Int }) {
  override get message() {
    return `Keys and runs are at most ${this.max} levels below each other.`
  }
}

/** The account has the maximum of runs that have neither ended nor expired. */
export class TooManyRuns extends Schema.TaggedError<TooManyRuns>()("TooManyRuns", { max: Schema.Int }) {
  override get message() {
    return `An account has at most ${this.max} runs at a time. End one with DELETE /api/v1/market/runs/{run_id}, or let them expire.`
  }
}

/** Whose key or run a request has: the account, and the levels of the key from the top. */
export interface LevelOwner {
  readonly ownerId: ConsumerId
  readonly levels: ReadonlyArray<Level>
}

/** An undefined field stays; within `bounds`, a field that is present replaces the former. */
export interface KeyChange {
  readonly label?: string | undefined
  readonly bounds: Partial<Bounds>
  readonly limits?: ReadonlyArray<SpendingLimit> | undefined
  /** Null: never. */
  readonly expiresAt?: DateTime.Utc | null | undefined
  readonly disabled?: boolean | undefined
}

/** The owner's decisions on a key that can do less than the account. */
export interface NewBoundedKey {
  readonly label: string
  readonly expiresAt: DateTime.Utc | undefined
  readonly defaultCap: Microcents | undefined
  readonly bounds: Partial<Bounds>
  readonly limits: ReadonlyArray<SpendingLimit>
  /** Default: the caller's own. */
  readonly parent: KeyId | undefined
}

/** What a run may spend, and until when. */
export interface NewRun {
  readonly label: string
  readonly limit: Microcents
  readonly expiresInSeconds: number
  readonly allowedTools: ReadonlyArray<string> | undefined
  readonly parent: LevelId | undefined
}

/** A key or run with the levels above it, and what they and the account may spend. */
export interface LevelStanding {
  readonly key: ApiKey | undefined
  readonly levels: ReadonlyArray<Level>
  readonly account: ReadonlyArray<BudgetStatus>
  readonly budgets: ReadonlyArray<BudgetStatus>
}

type ReadFailure = KeyNotFound | StoreUnavailable
type ChangeFailure = BeyondOwnLevel | ScopesExceeded | KeyNotFound | StoreUnavailable

/** How long a node takes a run that a request names for the one that it has read, unless the change feed says otherwise. */
const RUN_CACHE_TTL_MS = 30_000
const RUNS_CACHED_MAX = 10_000

export class Levels extends Context.Service<
  Levels,
  {
    createKey(
      caller: LevelOwner,
      request: NewBoundedKey
    ): Effect.Effect<MintedKey, ChangeFailure | LevelsTooDeep | TooManyKeys | ExpiryInThePast>
    /** A key of the account that is given bounds stops being one. */
    changeKey(caller: LevelOwner, id: KeyId, change: KeyChange): Effect.Effect<ApiKey, ChangeFailure | LastKey>
    /** With everything below it, unless it is the old key of a rotation: then the new one goes on. */
    revokeKey(caller: LevelOwner, id: KeyId): Effect.Effect<ApiKey, ChangeFailure | LastKey>
    /** A key that the caller may see: its own, one below it, or with a key of the account any. */
    standing(caller: LevelOwner, id: KeyId): Effect.Effect<LevelStanding, ReadFailure>
    /** What the caller's own levels may spend. */
    budgets(caller: LevelOwner): Effect.Effect<ReadonlyArray<BudgetStatus>, StoreUnavailable>
    startRun(
      caller: LevelOwner,
      request: NewRun
    ): Effect.Effect<
      { readonly run: Level; readonly secret: string },
      RunNotFound | ScopesExceeded | LevelsTooDeep | TooManyRuns | StoreUnavailable
    >
    /** The run with those below it, and what they may spend. */
    run(
      caller: LevelOwner,
      id: LevelId
    ): Effect.Effect<
      { readonly runs: ReadonlyArray<Level>; readonly budgets: ReadonlyArray<BudgetStatus> },
      RunNotFound | StoreUnavailable
    >
    runs(caller: LevelOwner, page: PageRequest): Effect.Effect<Page<Level>, StoreUnavailable>
    endRun(caller: LevelOwner, id: LevelId): Effect.Effect<Level, RunNotFound | StoreUnavailable>
    /** The levels of a live run below the caller's key, for calls that name it. */
    asRun(caller: LevelOwner, id: LevelId): Effect.Effect<ReadonlyArray<Level>, RunNotFound | StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/Levels") {
  static readonly layer = Layer.effect(
    Levels,
    Effect.gen(function* () {
      const store = yield* LevelStore
      const budgets = yield* BudgetStore
      const keyStore = yield* KeyStore
      const keys = yield* Keys
      const feed = yield* ChangeFeed
      const entropy = yield* Entropy
      const { sha256Hex } = yield* Digest
      const clock = yield* Clock.Clock
      const { atomically } = yield* UnitOfWork

      const runsByName = yield* makeFreshCache<ReadonlyArray<Level>>({
        entriesMax: RUNS_CACHED_MAX,
        ttlMs: RUN_CACHE_TTL_MS
      })
      yield* onEachChange(feed, ({ topic }) => {
        if (topic === "level" || topic === "everything") runsByName.forgetAll()
      })

      const ownerOf = ({ ownerId }: LevelOwner) => ({ role: "consumer" as const, ownerId })

      /** The active key, with its levels from the top. Keys that the caller may not see are not found. */
      const keyOf = Effect.fnUntraced(function* (caller: LevelOwner, id: KeyId) {
        const now = yield* DateTime.now
        const found = (yield* keyStore.ofOwner(caller.ownerId, now)).find((key) => key.id === id)
        if (found === undefined || !isActive(found, now.epochMilliseconds)) return yield* new KeyNotFound({ keyId: id })
        const levels = found.levelId === undefined ? [] : yield* store.pathOf(found.levelId)
        if (!isSeenBy(caller, levels)) return yield* new KeyNotFound({ keyId: id })
        return { key: found, levels }
      })

      const changeable = Effect.fnUntraced(function* (caller: LevelOwner, id: KeyId) {
        const target = yield* keyOf(caller, id)
        const own = caller.levels.at(-1)
        if (own !== undefined && target.levels.at(-1)?.id === own.id) return yield* new BeyondOwnLevel()
        return target
      })

      /** The scopes of a level below these: those that are wanted, else calls. */
      const scopesBelow = (above: ReadonlyArray<Level>, wanted: ReadonlyArray<Scope> | undefined) => {
        const held = scopesOf(above) ?? SCOPES
        if (wanted === undefined) return Effect.succeed(SCOPES_DEFAULT.filter((scope) => held.includes(scope)))
        return wanted.every((scope) => held.includes(scope))
          ? Effect.succeed(wanted)
          : Effect.fail(new ScopesExceeded({ wanted, held }))
      }

      const newLevel = Effect.fnUntraced(function* (
        consumerId: ConsumerId,
        above: ReadonlyArray<Level>,
        given: Pick<Level, "kind" | "label" | "expiresAt"> & { readonly bounds: Partial<Bounds> }
      ) {
        if (above.length >= LEVELS_DEEP_MAX) return yield* new LevelsTooDeep({ max: LEVELS_DEEP_MAX })
        const id = LevelId.make(yield* entropy.uuid)
        const scopes = yield* scopesBelow(above, given.bounds.scopes)
        const { bounds, ...rest } = given
        const level: Level = {
          ...UNBOUNDED,
          ...bounds,
          ...rest,
          scopes,
          id,
          consumerId,
          path: [...(above.at(-1)?.path ?? []), id],
          createdAt: yield* DateTime.now,
          disabledAt: undefined,
          endedAt: undefined
        }
        return level
      })

      const setLimits = Effect.fnUntraced(function* (level: Level, limits: ReadonlyArray<SpendingLimit>) {
        const createdAt = yield* DateTime.now
        const budgetOf = ({ limit: cap, period }: SpendingLimit): Effect.Effect<Budget> =>
          Effect.map(entropy.uuid, (id) => ({
            id: BudgetId.make(id),
            consumerId: level.consumerId,
            levelId: level.id,
            toolId: undefined,
            providerId: undefined,
            cap,
            period,
            createdAt
          }))
        yield* budgets.replace(level.consumerId, level.id, yield* Effect.forEach(limits, budgetOf))
      })

      const createKey = Effect.fn("Levels.createKey")(function* (caller: LevelOwner, request: NewBoundedKey) {
        const { bounds, defaultCap, expiresAt, label, limits, parent } = request
        const above = parent === undefined ? caller.levels : (yield* keyOf(caller, parent)).levels
        const level = yield* newLevel(caller.ownerId, above, { kind: "key", label, expiresAt, bounds })
        yield* store.insert(level)
        yield* setLimits(level, limits)
        return yield* keys.create(ownerOf(caller), { label, expiresAt, defaultCap, levelId: level.id })
      }, atomically)

      const changeKey = Effect.fn("Levels.changeKey")(function* (caller: LevelOwner, id: KeyId, change: KeyChange) {
        const { key, levels } = yield* changeable(caller, id)
        const { bounds, disabled, limits } = change
        const label = change.label ?? key.label
        const expiresAt = change.expiresAt === undefined ? key.expiresAt : (change.expiresAt ?? undefined)
        const former = levels.at(-1)
        const above = levels.slice(0, -1)
        const isBounding =
          Object.values(bounds).some((bound) => bound !== undefined) || (limits ?? []).length > 0 || disabled === true
        if (former === undefined && (isBounding || change.expiresAt !== undefined)) {
          yield* keys.requireOtherThan(ownerOf(caller), id)
        }
        if (former === undefined && !isBounding) {
          yield* keyStore.update({ ...key, label, expiresAt })
          yield* feed.publish({ topic: "key", id: key.hash })
          return { ...key, label, expiresAt }
        }
        const level =
          former ?? (yield* Effect.orDie(newLevel(caller.ownerId, [], { kind: "key", label, expiresAt, bounds })))
        if (former === undefined) yield* store.insert(level)
        const now = yield* DateTime.now
        const scopes = bounds.scopes === undefined ? level.scopes : yield* scopesBelow(above, bounds.scopes)
        yield* store.update({
          ...level,
          ...bounds,
          scopes,
          label,
          expiresAt,
          disabledAt: disabled === undefined ? level.disabledAt : disabled ? (level.disabledAt ?? now) : undefined
        })
        if (limits !== undefined) yield* setLimits(level, limits)
        const changed = { ...key, label, expiresAt, levelId: level.id }
        yield* keyStore.update(changed)
        yield* feed.publishAll([
          { topic: "key", id: key.hash },
          { topic: "level", id: level.id }
        ])
        return changed
      }, atomically)

      const revokeKey = Effect.fn("Levels.revokeKey")(function* (caller: LevelOwner, id: KeyId) {
        const { key, levels } = yield* changeable(caller, id)
        const revoked = yield* keys.revoke(ownerOf(caller), id)
        const level = levels.at(-1)
        if (level === undefined) return revoked
        const now = yield* DateTime.now
        const others = (yield* keyStore.ofOwner(caller.ownerId, now)).filter(
          (other) =>
            other.levelId === level.id &&
            other.id !== key.id &&
            other.revokedAt === undefined &&
            isActive(other, now.epochMilliseconds)
        )
        if (others.length === 0) yield* endLevel(level, now)
        return revoked
      }, atomically)

      const endLevel = Effect.fnUntraced(function* (level: Level, at: DateTime.Utc) {
        yield* store.end(level.consumerId, level.id, at)
        yield* feed.publish({ topic: "level", id: level.id })
      })

      const standing = Effect.fn("Levels.standing")(function* (caller: LevelOwner, id: KeyId) {
        const own = caller.levels.at(-1)
        const target =
          own?.kind === "run" && String(own.id) === String(id)
            ? { key: undefined, levels: caller.levels }
            : yield* keyOf(caller, id)
        const now = yield* DateTime.now
        const ids = target.levels.map((level) => level.id)
        return {
          ...target,
          account: yield* budgets.list(caller.ownerId, now),
          budgets: yield* budgets.ofLevels(caller.ownerId, ids, now)
        }
      })

      const budgetsOf = Effect.fn("Levels.budgets")(function* ({ levels, ownerId }: LevelOwner) {
        const ids = levels.map(({ id }) => id)
        return ids.length === 0 ? [] : yield* budgets.ofLevels(ownerId, ids, yield* DateTime.now)
      })

      const runOf = Effect.fnUntraced(function* (caller: LevelOwner, id: LevelId) {
        const found = Option.getOrUndefined(yield* store.find(caller.ownerId, id))
        if (found?.kind !== "run") return yield* new RunNotFound({ runId: id })
        const levels = yield* store.pathOf(id)
        if (!isSeenBy(caller, levels)) return yield* new RunNotFound({ runId: id })
        return levels
      })

      const liveRunOf = Effect.fnUntraced(function* (caller: LevelOwner, id: LevelId) {
        const levels = yield* runOf(caller, id)
        const isLive = liveUntilMs(levels) > clock.currentTimeMillisUnsafe()
        return isLive ? levels : yield* new RunNotFound({ runId: id })
      })

      const startRun = Effect.fn("Levels.startRun")(function* (caller: LevelOwner, request: NewRun) {
        const { allowedTools, expiresInSeconds, label, limit, parent } = request
        const now = yield* DateTime.now
        const above = parent === undefined ? caller.levels : yield* liveRunOf(caller, parent)
        const run = yield* newLevel(caller.ownerId, above, {
          kind: "run",
          label,
          expiresAt: DateTime.add(now, { seconds: expiresInSeconds }),
          bounds: { scopes: ["call"], allowedTools }
        })
        if ((yield* store.liveRuns(caller.ownerId, now)) >= RUNS_LIVE_MAX) {
          return yield* new TooManyRuns({ max: RUNS_LIVE_MAX })
        }
        const secret = assemble("run", yield* entropy.hex(KEY_RANDOM_BYTES), sha256Hex)
        yield* store.insert(run, sha256Hex(secret))
        yield* setLimits(run, [{ period: "total", limit }])
        return { run, secret }
      }, atomically)

      const run = Effect.fn("Levels.run")(function* (caller: LevelOwner, id: LevelId) {
        const found = (yield* runOf(caller, id)).at(-1)!
        const below = yield* store.runsBelow(caller.ownerId, id, RUNS_SHOWN_MAX)
        const runs = [found, ...below]
        const ids = runs.map((one) => one.id)
        return { runs, budgets: yield* budgets.ofLevels(caller.ownerId, ids, yield* DateTime.now) }
      })

      const runs = Effect.fn("Levels.runs")((caller: LevelOwner, page: PageRequest) =>
        store.runs(caller.ownerId, caller.levels.at(-1)?.id, page)
      )

      const endRun = Effect.fn("Levels.endRun")(function* (caller: LevelOwner, id: LevelId) {
        const found = (yield* runOf(caller, id)).at(-1)!
        const now = yield* DateTime.now
        if (found.endedAt === undefined) yield* endLevel(found, now)
        return { ...found, endedAt: found.endedAt ?? now }
      }, atomically)

      const asRun = Effect.fn("Levels.asRun")(function* (caller: LevelOwner, id: LevelId) {
        const whole: LevelOwner = { ownerId: caller.ownerId, levels: [] }
        const levels = yield* runsByName.readThrough(`${caller.ownerId} ${id}`, liveRunOf(whole, id))
        const isLive = liveUntilMs(levels) > clock.currentTimeMillisUnsafe()
        return isLive && isSeenBy(caller, levels) ? levels : yield* new RunNotFound({ runId: id })
      })

      return Levels.of({
        createKey,
        changeKey,
        revokeKey,
        standing,
        budgets: budgetsOf,
        startRun,
        run,
        runs,
        endRun,
        asRun
      })
    })
  )
}

/** Reading is of the whole account, so it is given by name only. */
const SCOPES_DEFAULT: ReadonlyArray<Scope> = ["call"]

const UNBOUNDED: Omit<Bounds, "scopes"> = {
  rateLimitRpm: undefined,
  maxPrice: undefined,
  allowedTools: undefined,
  allowedProviders: undefined,
  allowedCategories: undefined
}

/** A key of the account sees every level; another one its own and those below. */
const isSeenBy = ({ levels }: LevelOwner, target: ReadonlyArray<Level>): boolean => {
  const own = levels.at(-1)
  return own === undefined || target.some((level) => level.id === own.id)
}
