/**
 * API keys and default caps on the wire.
 */
import { Schema } from "effect"
import { KEY_LABEL_CHARS_MAX, ROTATION_GRACE_SECONDS_MAX } from "../../../domain/accounts/Keys.ts"
import { KeyId } from "../../../domain/shared/Ids.ts"
import { Microcents, MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import * as Field from "./Field.ts"
import { Instant, Text, IntBetween } from "./InputSchemas.ts"
import { CONSUMER_ID, CONSUMER_KEY, KEY_ID, NOW } from "./SampleValues.ts"
import * as shared from "./SharedFields.ts"

const role = Field.of(Schema.Literals(["consumer", "provider"]), "Role of the account.")

const capOf = (owner: string) =>
  `Default cap of the ${owner}: maximum cost in microcents of a usage-priced call that names no cap. \`null\`: none.`
const keyCap = Field.nullable(MicrocentsFromInt, capOf("key"), 50_000)

const Key = Field.object("Key", "An API key, without the secret.", {
  key_id: shared.keyId,
  api_key_prefix: Field.string("Prefix of the API key: its role and first digits.", "atb_c_01234567"),
  label: Field.string("Label of the key.", "staging"),
  role,
  status: Field.of(Schema.Literals(["active", "revoked", "expired"]), "Status of the key."),
  current: Field.boolean("Whether this key authenticated the request.", false),
  default_cap_microcents: keyCap,
  created_at: shared.createdAt,
  expires_at: shared.expiresAt,
  revoked_at: Field.nullableTimestamp("Time of revocation; in the future during the grace period of a rotation.")
})

const oldKey: typeof Key.Encoded = {
  key_id: KEY_ID,
  api_key_prefix: "atb_c_01234567",
  label: "",
  role: "consumer",
  status: "active",
  current: true,
  default_cap_microcents: null,
  created_at: NOW,
  expires_at: null,
  revoked_at: "2026-11-20T10:30:00.000Z"
}

const secret = {
  key: Field.of(Key, "The new key."),
  api_key: Field.string("API key. Store it now: only its hash is kept.", CONSUMER_KEY)
}

export const KeyList = Field.object("Keys", "API keys of your account, including revoked ones.", {
  keys: Field.list(Key, "API keys."),
  total: Field.int("Number of keys in the list.", 1)
})

export const NewKey = Field.object("NewKey", "The new key. `api_key` is shown only once.", {
  ...secret,
  message: shared.message("Store api_key now: it is not shown again.")
})

export const RotatedKey = Field.object("RotatedKey", "The new key and the key that it replaces.", {
  ...secret,
  replaces: Field.of(Key, "The replaced key. `revoked_at` is the end of its grace period.", oldKey),
  message: shared.message("Store api_key now: it is not shown again. The old key is valid for another 3600 s.")
})

export const RevokedKey = Field.object("RevokedKey", "The key is revoked.", {
  revoked: Field.always(true),
  key: Field.of(Key, "The revoked key.", { ...oldKey, current: false, status: "revoked", revoked_at: NOW })
})

export const CreateKey = Field.object("CreateKey", "Options of the new key.", {
  label: Field.optional(Text(KEY_LABEL_CHARS_MAX), "Label of the key."),
  expires_at: Field.optional(Instant, "Time of expiry in ISO 8601. Default: never."),
  default_cap_microcents: Field.optional(MicrocentsFromInt, capOf("key").replace(" `null`: none.", ""))
}).annotate({ examples: [{ label: "staging" }] })

export const RotateKey = Field.object("RotateKey", "Options of the rotation.", {
  key_id: Field.optional(KeyId, "ID of the key to replace. Default: the key that authenticates the request."),
  grace_seconds: Field.optional(
    IntBetween(0, ROTATION_GRACE_SECONDS_MAX),
    "Seconds for which the old key stays valid. Default: 86400 (one day)."
  )
}).annotate({ examples: [{ grace_seconds: 3_600 }] })

export const SetDefaultCap = Field.object("SetDefaultCap", "A default cap.", {
  default_cap_microcents: keyCap,
  key_id: Field.optional(KeyId, "ID of the key that the cap applies to. Default: the account.")
}).annotate({ examples: [{ default_cap_microcents: Microcents.make(50_000n) }] })

export const DefaultCap = Field.object("DefaultCap", "The default cap in effect.", {
  of: Field.of(Schema.Literals(["account", "key"]), "Whether the cap applies to the account or to one key."),
  key_id: Field.nullable(KeyId, "ID of the key. `null`: the cap applies to the account."),
  default_cap_microcents: keyCap,
  message: shared.message("Usage-priced calls of this account that name no cap cost at most 50000 microcents.")
})

export const WhoAmI = Field.object("WhoAmI", "The account of the API key, and the limits of the key.", {
  role,
  id: Field.string("ID of the account.", CONSUMER_ID),
  handle: Field.nullableString("Handle of the provider. `null` for a consumer."),
  name: Field.string("Name of the account.", "Research agent"),
  key_id: shared.keyId,
  rate_limit_rpm: shared.rateLimitRpm,
  default_cap_microcents: keyCap,
  account_default_cap_microcents: Field.nullable(MicrocentsFromInt, capOf("account")),
  key_expires_at: Field.nullableTimestamp("Time when the key expires. `null`: never."),
  frozen: shared.frozen,
  frozen_reason: shared.frozenReason
})
