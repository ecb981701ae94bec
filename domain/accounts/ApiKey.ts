/**
 * API keys: a prefix with the role, 256 random bits, and a checksum that distinguishes a typo from an unknown key.
 * `atb_c_<64 hex><8 hex>`: the checksum is the start of the SHA-256 of everything before it.
 */
import type { DateTime } from "effect"
import type { ConsumerId, KeyId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

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
  /** Of a consumer's key: cap for one usage-priced call without its own. Takes precedence over the account's. */
  readonly defaultCap?: Microcents | undefined
}

export const KEYS_PER_OWNER_MAX = 20
/** The number of revoked and expired keys is unbounded; the newest are shown. */
export const DEAD_KEYS_SHOWN_MAX = 100
/** At most as many as inactive ones are shown, so that they can be counted. */
export const KEYS_MADE_PER_DAY_MAX = DEAD_KEYS_SHOWN_MAX
export const KEY_RANDOM_BYTES = 32

const ROLE_PREFIX = { consumer: "atb_c_", provider: "atb_p_" } as const
const SHAPE = /^(atb_[cp]_)([0-9a-f]{64})([0-9a-f]{8})$/u
const CHECKSUM_DIGITS = 8
const SHOWN_CHARS = 14

type Sha256Hex = (text: string) => string

/** The key of these random digits. */
export const assemble = (role: ApiKey["role"], randomHex: string, sha256Hex: Sha256Hex): string => {
  const body = ROLE_PREFIX[role] + randomHex
  return body + sha256Hex(body).slice(0, CHECKSUM_DIGITS)
}

export const shownPrefix = (key: string): string => key.slice(0, SHOWN_CHARS)

/** Has the form of a key and a valid checksum. Only then the store is asked. */
export const isWellFormed = (key: string, sha256Hex: Sha256Hex): boolean => {
  const parts = SHAPE.exec(key)
  return parts !== null && sha256Hex(parts[1]! + parts[2]!).startsWith(parts[3]!)
}

/** Whether the key is accepted at `now`: neither revoked nor expired. A rotated key is revoked at a future time. */
export const isLive = (key: ApiKey, nowMs: number): boolean =>
  (key.revokedAt === undefined || key.revokedAt.epochMilliseconds > nowMs) &&
  (key.expiresAt === undefined || key.expiresAt.epochMilliseconds > nowMs)
