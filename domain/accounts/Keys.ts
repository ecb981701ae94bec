/**
 * The API keys of an account: several at a time, each shown once, with an optional expiry. After a rotation the old key
 * works for a chosen grace period.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { ToolboxStore } from "./ToolboxStore.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Digest } from "../shared/Digest.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ConsumerId, KeyId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import {
  type ApiKey,
  assemble,
  isLive,
  KEY_RANDOM_BYTES,
  KEYS_MADE_PER_DAY_MAX,
  KEYS_PER_OWNER_MAX,
  shownPrefix
} from "./ApiKey.ts"
import { KeyStore } from "./KeyStore.ts"
import type { KeyOwner } from "./Principal.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const KEY_LABEL_CHARS_MAX = 100
export const ROTATION_GRACE_SECONDS_DEFAULT = 86_400
export const ROTATION_GRACE_SECONDS_MAX = 30 * 86_400

/** A new key, with the secret that is shown only now. */
export interface MintedKey {
  readonly key: ApiKey
  readonly secret: string
}

/** What the owner of a new key decides. The key itself is random. */
export interface KeyRequest {
  readonly label: string
  readonly expiresAt: DateTime.Utc | undefined
  readonly defaultCap?: Microcents | undefined
}

/** The account has no such key, or it is revoked or expired. Keys of other accounts are not found either. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>()("KeyNotFound", { keyId: Schema.String }) {
  override get message() {
    return `You have no live key ${this.keyId}.`
  }
}

/** The account has the maximum of live keys, or created the maximum of keys of one day. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>()("TooManyKeys", {
  max: Schema.Int,
  of: Schema.Literals(["live", "a day"])
}) {
  override get message() {
    return this.of === "live"
      ? `An account has at most ${this.max} live keys. Revoke one first.`
      : `An account creates at most ${this.max} keys in 24 hours. Use an existing key, or retry later.`
  }
}

/** The last live key is not revoked, because its owner could not sign in any more. */
export class LastKey extends Schema.TaggedError<LastKey>()("LastKey", { keyId: Schema.String }) {
  override get message() {
    return "This is your only live key. Create another one first, or rotate it."
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

type OwnerRef = Pick<KeyOwner, "role" | "ownerId">

export class Keys extends Context.Service<
  Keys,
  {
    /** Writes a new key, in the caller's unit of work. */
    mint(owner: OwnerRef, request: KeyRequest): Effect.Effect<MintedKey, StoreUnavailable>
    create(
      owner: OwnerRef,
      request: KeyRequest
    ): Effect.Effect<MintedKey, TooManyKeys | ExpiryInThePast | StoreUnavailable>
    /** The live ones, and the newest of the others. */
    list(owner: OwnerRef): Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>
    revoke(owner: OwnerRef, id: KeyId): Effect.Effect<ApiKey, KeyNotFound | LastKey | StoreUnavailable>
    /** The new key has the label, expiry, cap and toolbox of the old one. */
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
        const secret = assemble(owner.role, yield* entropy.hex(KEY_RANDOM_BYTES), digest.sha256Hex)
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
          defaultCap: request.defaultCap
        }
        yield* store.insert(key)
        return { key, secret }
      })

      const liveOf = Effect.fnUntraced(function* (owner: OwnerRef) {
        const now = yield* DateTime.now
        return (yield* store.ofOwner(owner.ownerId, now)).filter((key) => isLive(key, now.epochMilliseconds))
      })

      const requireRoom = Effect.fnUntraced(function* (owner: OwnerRef) {
        const now = yield* DateTime.now
        const known = yield* store.ofOwner(owner.ownerId, now)
        const live = known.filter((key) => isLive(key, now.epochMilliseconds))
        if (live.length >= KEYS_PER_OWNER_MAX) return yield* new TooManyKeys({ max: KEYS_PER_OWNER_MAX, of: "live" })
        const dayAgo = DateTime.subtract(now, { days: 1 })
        const made = known.filter((key) => DateTime.isGreaterThan(key.createdAt, dayAgo)).length
        if (made >= KEYS_MADE_PER_DAY_MAX) return yield* new TooManyKeys({ max: KEYS_MADE_PER_DAY_MAX, of: "a day" })
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
        yield* requireRoom(owner)
        return yield* mint(owner, request)
      }, atomically)

      const revoke = Effect.fn("Keys.revoke")(function* (owner: OwnerRef, id: KeyId) {
        const live = yield* liveOf(owner)
        if (!live.some((key) => key.id === id)) return yield* new KeyNotFound({ keyId: id })
        if (live.length === 1) return yield* new LastKey({ keyId: id })
        return yield* revokeAt(owner, id, yield* DateTime.now)
      }, atomically)

      const rotate = Effect.fn("Keys.rotate")(function* (owner: OwnerRef, id: KeyId, graceSeconds: number) {
        const live = yield* liveOf(owner)
        const current = live.find((key) => key.id === id)
        if (current === undefined) return yield* new KeyNotFound({ keyId: id })
        yield* requireRoom(owner)
        const now = yield* DateTime.now
        const minted = yield* mint(owner, {
          label: current.label,
          expiresAt: current.expiresAt,
          defaultCap: current.defaultCap
        })
        if (owner.role === "consumer") yield* copyToolbox(owner.ownerId as ConsumerId, id, minted.key.id, now)
        const old = yield* revokeAt(owner, id, DateTime.add(now, { seconds: graceSeconds }))
        return { minted, old }
      }, atomically)

      const list = Effect.fn("Keys.list")((owner: OwnerRef) =>
        Effect.flatMap(DateTime.now, (now) => store.ofOwner(owner.ownerId, now))
      )

      return Keys.of({ mint, create, list, revoke, rotate })
    })
  )
}
