/**
 * API keys: a prefix that shows the role, 256 random bits, and a checksum that tells a typo from an unknown key.
 * `atb_c_<64 hex><8 hex>`: the checksum is the start of the SHA-256 of all that stands before it.
 */
import type { DateTime } from "effect"
import type { ConsumerId, KeyId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

export interface ApiKey {
  readonly id: KeyId
  readonly role: "consumer" | "provider"
  readonly ownerId: ConsumerId | ProviderId
  readonly label: string
  /** What is shown of the key after its birth: role and first digits. */
  readonly prefix: string
  /** SHA-256 of the whole key, hex. The key itself is kept nowhere. */
  readonly hash: string
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc | undefined
  readonly revokedAt: DateTime.Utc | undefined
  /** Of a consumer's key: the most that it pays for one usage-priced call that names no cap. Wins over the account's. */
  readonly defaultCap?: Microcents | undefined
}

export const KEYS_PER_OWNER_MAX = 20
/** Of the revoked and the expired, whose number has no end, the newest are shown. */
export const DEAD_KEYS_SHOWN_MAX = 100
/** No more than are shown of the dead ones, or they could not be counted. */
export const KEYS_MADE_PER_DAY_MAX = DEAD_KEYS_SHOWN_MAX
export const KEY_RANDOM_BYTES = 32

const ROLE_PREFIX = { consumer: "atb_c_", provider: "atb_p_" } as const
const SHAPE = /^(atb_[cp]_)([0-9a-f]{64})([0-9a-f]{8})$/u
const CHECKSUM_DIGITS = 8
const SHOWN_CHARS = 14

type Sha256Hex = (text: string) => string

/** The key that these random digits make. */
export const assemble = (role: ApiKey["role"], randomHex: string, sha256Hex: Sha256Hex): string => {
  const body = ROLE_PREFIX[role] + randomHex
  return body + sha256Hex(body).slice(0, CHECKSUM_DIGITS)
}

export const shownPrefix = (key: string): string => key.slice(0, SHOWN_CHARS)

/** Has the shape of a key of ours and its checksum fits: only then is it worth a look into the store. */
export const isWellFormed = (key: string, sha256Hex: Sha256Hex): boolean => {
  const parts = SHAPE.exec(key)
  return parts !== null && sha256Hex(parts[1]! + parts[2]!).startsWith(parts[3]!)
}

/** Accepted at `now`: neither revoked nor past its expiry. A rotated key is revoked at a time still to come. */
export const isLive = (key: ApiKey, nowMs: number): boolean =>
  (key.revokedAt === undefined || key.revokedAt.epochMilliseconds > nowMs) &&
  (key.expiresAt === undefined || key.expiresAt.epochMilliseconds > nowMs)
