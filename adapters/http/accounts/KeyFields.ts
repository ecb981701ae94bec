/**
 * An API key on the wire.
 */
import { type DateTime, Schema } from "effect"
import type { KeyOwner } from "../../../domain/accounts/Authentication.ts"
import { type ApiKey, isActive } from "../../../domain/accounts/Keys.ts"
import { LevelId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import * as Field from "../contract/Field.ts"
import * as shared from "../contract/SharedFields.ts"
import { fieldsOf } from "../pipeline/Views.ts"

export const role = Field.of(Schema.Literals(["consumer", "provider"]), "Role of the account.")

export const capOf = (owner: string) =>
  `Default cap of the ${owner}: maximum cost in microcents of a usage-priced call that names no cap. \`null\`: none.`
export const keyCap = Field.nullable(MicrocentsFromInt, capOf("key"), 50_000)

export const Key = Field.object("Key", "An API key, without the secret.", {
  key_id: shared.keyId,
  api_key_prefix: Field.string("Prefix of the API key: its role and first digits.", "atb_c_01234567"),
  label: Field.string("Label of the key.", "staging"),
  role,
  status: Field.of(Schema.Literals(["active", "revoked", "expired"]), "Status of the key."),
  current: Field.boolean("Whether this key authenticated the request.", false),
  default_cap_microcents: keyCap,
  level_id: Field.nullable(LevelId, "ID of the key's bounds. `null`: the key may do everything that the account may."),
  created_at: shared.createdAt,
  expires_at: shared.expiresAt,
  revoked_at: Field.nullableTimestamp("Time of revocation; in the future during the grace period of a rotation.")
})

export const keyView = (key: ApiKey, caller: KeyOwner, now: DateTime.Utc) => ({
  key_id: key.id,
  api_key_prefix: key.prefix,
  ...fieldsOf(key, "label", "role"),
  status: statusOf(key, now.epochMilliseconds),
  current: key.id === caller.keyId,
  default_cap_microcents: key.defaultCap ?? null,
  ...fieldsOf(key, "levelId", "createdAt", "expiresAt", "revokedAt")
})

const statusOf = (key: ApiKey, nowMs: number): "active" | "revoked" | "expired" => {
  if (isActive(key, nowMs)) return "active"
  return key.revokedAt !== undefined && key.revokedAt.epochMilliseconds <= nowMs ? "revoked" : "expired"
}
