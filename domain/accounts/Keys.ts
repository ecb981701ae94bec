/**
 * The API keys of an account: several at a time, each shown once, with an optional expiry. After a rotation the old key
 * works for a chosen grace period.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Digest, Entropy } from "../shared/Cryptography.ts"
import { type ConsumerId, KeyId, type LevelId, type ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { ToolboxStore } from "./ToolboxStore.ts"

/**
 * API keys: a prefix with the role or for a run, 256 random bits, and a checksum that distinguishes a typo from an unknown key.
 * `atb_c_<64 hex><8 hex>`: the checksum is the start of the SHA-256 of everything before it.
 */
export interface ApiKey {
  readonly id: KeyId
  readonly role: "consumer" | "provider"
  readonly ownerId: ConsumerId | ProviderId
  readonly label: string
  /** The visible part of the key: role and first digits. */
  readonly prefix: string
  /** SHA-256 of the whole key, hex. The key itself is not stored. */
  readonly hash: string
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc | undefined
  readonly revokedAt: DateTime.Utc | undefined
  /** A consumer's cap for one usage-priced call of this key without its own. Takes precedence over the account's. */
  readonly defaultCap?: Microcents | undefined
  /** What bounds a consumer's key. Undefined: the key may do everything that the account may. */
  readonly levelId?: LevelId | undefined
}

/** Keys without bounds. */
export const KEYS_PER_OWNER_MAX = 20
/** Keys with bounds. */
export const BOUNDED_KEYS_MAX = 500
/** The number of revoked and expired keys is unbounded; the newest are shown. */
export const DEAD_KEYS_SHOWN_MAX = 100
/** No more are made than inactive ones are shown, so that they can be counted. */
export const KEYS_MADE_PER_DAY_MAX = DEAD_KEYS_SHOWN_MAX
export const KEY_RANDOM_BYTES = 32

/** Nodes of releases without bounds take a consumer's key for the account's: those with bounds have a form of their own. */
const ROLE_PREFIX = { consumer: "atb_c_", provider: "atb_p_", bounded: "atb_k_", run: "atb_r_" } as const
const SHAPE = /^(atb_[ckpr]_)([0-9a-f]{64})([0-9a-f]{8})$/u
const CHECKSUM_DIGITS = 8
const SHOWN_CHARS = 14

type Sha256Hex = (text: string) => string

/** The key of these random digits. */
export const assemble = (role: keyof typeof ROLE_PREFIX, randomHex: string, sha256Hex: Sha256Hex): string => {
  const body = ROLE_PREFIX[role] + randomHex
  return body + sha256Hex(body).slice(0, CHECKSUM_DIGITS)
}

export const isRunKey = (key: string): boolean => key.startsWith(ROLE_PREFIX.run)

export const shownPrefix = (key: string): string => key.slice(0, SHOWN_CHARS)

/** Has the form of a key and a valid checksum. Only then the store is asked. */
export const isWellFormed = (key: string, sha256Hex: Sha256Hex): boolean => {
  const parts = SHAPE.exec(key)
  return parts !== null && sha256Hex(parts[1]! + parts[2]!).startsWith(parts[3]!)
}

/** Tells whether the key is accepted now: neither revoked nor expired. A rotated key is revoked at a future time. */
export const isActive = (key: ApiKey, nowMs: number): boolean =>
  (key.revokedAt === undefined || key.revokedAt.epochMilliseconds > nowMs) &&
  (key.expiresAt === undefined || key.expiresAt.epochMilliseconds > nowMs)

/** All that authentication needs of a key and its account, read in one query. */
export interface KeyWithOwner {
  readonly key: ApiKey
  readonly ownerName: string
  /** The limit that a consumer was granted; undefined for a provider. */
  readonly rateLimitRpm: number | undefined
  /** The account's; the key's own is part of the key. */
  readonly defaultCap: Microcents | undefined
}

/** Port to API keys, by hash. */
export class KeyStore extends Context.Service<
  KeyStore,
  {
    insert(key: ApiKey): Effect.Effect<void, StoreUnavailable>
    findByHash(hash: string): Effect.Effect<Option.Option<KeyWithOwner>, StoreUnavailable>
    /**
     * An owner's keys, newest first: all that are active at `now`, and the newest `DEAD_KEYS_SHOWN_MAX` of the others.
     * Locks the owner's row until the end of the unit of work.
     */
    ofOwner(ownerId: ConsumerId | ProviderId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
    /**
     * Sets the time from which the key is rejected, unless an earlier one is set. None if the owner has no such key.
     */
    revoke(
      ownerId: ConsumerId | ProviderId,
      id: KeyId,
      at: DateTime.Utc
    ): Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>
    /** Undefined removes it. None if the owner has no such key. */
    setDefaultCap(
      ownerId: ConsumerId | ProviderId,
      id: KeyId,
      cap: Microcents | undefined
    ): Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>
    /** Writes label, expiry and level. */
    update(key: ApiKey): Effect.Effect<void, StoreUnavailable>
    /** Erases labels; the keys stay. */
    unlabel(ownerId: ConsumerId | ProviderId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/KeyStore") {}

export const KEY_LABEL_CHARS_MAX = 100
export const ROTATION_GRACE_SECONDS_DEFAULT = 86_400
export const ROTATION_GRACE_SECONDS_MAX = 30 * 86_400

/** A new key, with the secret that is shown only now. */
export interface MintedKey {
  readonly key: ApiKey
  readonly secret: string
}

/** The owner's decisions on a new key. The key itself is random. */
export interface KeyRequest {
  readonly label: string
  readonly expiresAt: DateTime.Utc | undefined
  readonly defaultCap?: Microcents | undefined
  readonly levelId?: LevelId | undefined
}

/** The account has no such key, or it is revoked or expired. Keys of other accounts are not found either. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { keyId: Schema.String }) {
  override get message() {
    return `You have no active key ${this.keyId}.`
  }
}

/** The account has the maximum of active keys, or created the maximum of keys of one day. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", {
  max: Schema.Int,
  of: Schema.Literals(["active", "a day"])
}) {
  override get message() {
    return this.of === "active"
      ? `An account has at most ${this.max} active keys. Revoke one first.`
      : `An account creates at most ${this.max} keys in 24 hours. Use an existing key, or retry later.`
  }
}

/** The last active key without bounds is neither revoked nor given any, because its owner could not sign in any more. */
export class LastKey extends Schema.TaggedError<LastKey>()("LastKey", { keyId: Schema.String }) {
  override get message() {
    return "This is your only active key without bounds. Create another one first, or rotate it."
  }
}

/** A key cannot be created already expired. */
export class ExpiryInThePast extends Schema.TaggedError<ExpiryInThePast>()("ExpiryInThePast", {
  expiresAt: Schema.String
}) {
  override get message() {
    return `\`expires_at\` ${this.expiresAt} is in the past. Send a future time, or omit it.`
  }
}

/** The account whose keys a request lists or changes: a consumer or a provider. */
export interface OwnerRef {
  readonly role: "consumer" | "provider"
  readonly ownerId: ConsumerId | ProviderId
}

export class Keys extends Context.Service<
  Keys,
  {
    /** Writes a new key, in the caller's unit of work. */
    mint(owner: OwnerRef, request: KeyRequest): Effect.Effect<MintedKey, StoreUnavailable>
    create(
      owner: OwnerRef,
      request: KeyRequest
    ): Effect.Effect<MintedKey, TooManyKeys | ExpiryInThePast | StoreUnavailable>
    /** The active ones, and the newest of the others. */
    list(owner: OwnerRef): Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
    revoke(owner: OwnerRef, id: KeyId): Effect.Effect<ApiKey, KeyNotFound | LastKey | StoreUnavailable>
    /** Fails if the account has no other active key without bounds. */
    requireOtherThan(owner: OwnerRef, id: KeyId): Effect.Effect<void, LastKey | StoreUnavailable>
    /** The new key has the label, expiry, cap, level and toolbox of the old one. */
    rotate(
      owner: OwnerRef,
      id: KeyId,
      graceSeconds: number
    ): Effect.Effect<{ readonly minted: MintedKey; readonly old: ApiKey }, KeyNotFound | TooManyKeys | StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/Keys") {
  static readonly layer = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const store = yield* KeyStore
      const toolboxes = yield* ToolboxStore
      const feed = yield* ChangeFeed
      const entropy = yield* Entropy
      const digest = yield* Digest
      const { atomically } = yield* UnitOfWork

      const mint = Effect.fn("Keys.mint")(function* (owner: OwnerRef, request: KeyRequest) {
        const secret = assemble(
          request.levelId === undefined ? owner.role : "bounded",
          yield* entropy.hex(KEY_RANDOM_BYTES),
          digest.sha256Hex
        )
        const key: ApiKey = {
          id: KeyId.make(yield* entropy.uuid),
          role: owner.role,
          ownerId: owner.ownerId,
          label: request.label,
          prefix: shownPrefix(secret),
          hash: digest.sha256Hex(secret),
          createdAt: yield* DateTime.now,
          expiresAt: request.expiresAt,
          revokedAt: undefined,
          defaultCap: request.defaultCap,
          levelId: request.levelId
        }
        yield* store.insert(key)
        return { key, secret }
      })

      const activeOf = Effect.fnUntraced(function* (owner: OwnerRef) {
        const now = yield* DateTime.now
        return (yield* store.ofOwner(owner.ownerId, now)).filter((key) => isActive(key, now.epochMilliseconds))
      })

      const requireRoom = Effect.fnUntraced(function* (owner: OwnerRef, levelId: LevelId | undefined) {
        const now = yield* DateTime.now
        const all = (yield* store.ofOwner(owner.ownerId, now)).filter(
          (key) => (key.levelId === undefined) === (levelId === undefined)
        )
        const active = all.filter((key) => isActive(key, now.epochMilliseconds))
        const max = levelId === undefined ? KEYS_PER_OWNER_MAX : BOUNDED_KEYS_MAX
        if (active.length >= max) return yield* new TooManyKeys({ max, of: "active" })
        if (levelId !== undefined) return
        const dayAgo = DateTime.subtract(now, { days: 1 })
        const made = all.filter((key) => DateTime.isGreaterThan(key.createdAt, dayAgo)).length
        if (made >= KEYS_MADE_PER_DAY_MAX) return yield* new TooManyKeys({ max: KEYS_MADE_PER_DAY_MAX, of: "a day" })
      })

      const requireOtherThan = Effect.fnUntraced(function* (owner: OwnerRef, id: KeyId) {
        const others = (yield* activeOf(owner)).filter((key) => key.levelId === undefined && key.id !== id)
        if (others.length === 0) return yield* new LastKey({ keyId: id })
      })

      const revokeAt = Effect.fnUntraced(function* (owner: OwnerRef, id: KeyId, at: DateTime.Utc) {
        const revoked = yield* store.revoke(owner.ownerId, id, at)
        if (Option.isNone(revoked)) return yield* new KeyNotFound({ keyId: id })
        yield* feed.publish({ topic: "key", id: revoked.value.hash })
        return revoked.value
      })

      const copyToolbox = Effect.fnUntraced(function* (
        consumerId: ConsumerId,
        from: KeyId,
        to: KeyId,
        at: DateTime.Utc
      ) {
        const tools = yield* toolboxes.tools({ consumerId, keyId: from })
        if (tools.length > 0) yield* toolboxes.put({ consumerId, keyId: to }, tools, at)
      })

      const create = Effect.fn("Keys.create")(function* (owner: OwnerRef, request: KeyRequest) {
        const now = yield* DateTime.now
        if (request.expiresAt !== undefined && DateTime.isLessThanOrEqualTo(request.expiresAt, now)) {
          return yield* new ExpiryInThePast({ expiresAt: DateTime.formatIso(request.expiresAt) })
        }
        yield* requireRoom(owner, request.levelId)
        return yield* mint(owner, request)
      }, atomically)

      const revoke = Effect.fn("Keys.revoke")(function* (owner: OwnerRef, id: KeyId) {
        const active = yield* activeOf(owner)
        const revoked = active.find((key) => key.id === id)
        if (revoked === undefined) return yield* new KeyNotFound({ keyId: id })
        if (revoked.levelId === undefined) yield* requireOtherThan(owner, id)
        return yield* revokeAt(owner, id, yield* DateTime.now)
      }, atomically)

      const rotate = Effect.fn("Keys.rotate")(function* (owner: OwnerRef, id: KeyId, graceSeconds: number) {
        const active = yield* activeOf(owner)
        const current = active.find((key) => key.id === id)
        if (current === undefined) return yield* new KeyNotFound({ keyId: id })
        yield* requireRoom(owner, current.levelId)
        const now = yield* DateTime.now
        const minted = yield* mint(owner, {
          label: current.label,
          expiresAt: current.expiresAt,
          defaultCap: current.defaultCap,
          levelId: current.levelId
        })
        if (owner.role === "consumer") yield* copyToolbox(owner.ownerId as ConsumerId, id, minted.key.id, now)
        const old = yield* revokeAt(owner, id, DateTime.add(now, { seconds: graceSeconds }))
        return { minted, old }
      }, atomically)

      const list = Effect.fn("Keys.list")((owner: OwnerRef) =>
        Effect.flatMap(DateTime.now, (now) => store.ofOwner(owner.ownerId, now))
      )

      return Keys.of({ mint, create, list, revoke, requireOtherThan, rotate })
    })
  )
}
