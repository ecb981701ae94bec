/**
 * The authenticated caller: the role and the owner of a key.
 */
import type { DateTime } from "effect"
import type { OperatorSession } from "./OperatorSessionStore.ts"
import type { ConsumerId, KeyId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

export type Role = "consumer" | "provider" | "operator"

export type Principal =
  | {
      readonly role: "consumer"
      readonly ownerId: ConsumerId
      readonly name: string
      readonly keyId: KeyId
      readonly rateLimitRpm: number
      /** Of the key, otherwise of the account. */
      readonly defaultCap?: Microcents | undefined
      readonly accountDefaultCap?: Microcents | undefined
      readonly expiresAt: DateTime.Utc | undefined
    }
  | {
      readonly role: "provider"
      readonly ownerId: ProviderId
      readonly name: string
      readonly keyId: KeyId
      readonly rateLimitRpm: number
      readonly expiresAt: DateTime.Utc | undefined
    }
  | {
      readonly role: "operator"
      readonly ownerId: "operator"
      readonly name: "operator"
      readonly keyId: "operator"
      readonly rateLimitRpm: number
      readonly expiresAt: undefined
      /** Undefined where the request has the key itself. */
      readonly session?: OperatorSession | undefined
    }

/** Who acted, for records of what the operator does. */
export const actorOf = ({ session }: Extract<Principal, { readonly role: "operator" }>): string =>
  session?.name ?? "API key"

/** An account that has keys. */
export type KeyOwner = Exclude<Principal, { readonly role: "operator" }>
