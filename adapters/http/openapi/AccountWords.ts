/**
 * Words of registration and of keys.
 */
import { CONSUMER_ID, NOW, PROVIDER_ID, TOOL_ID } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

const KEY_ID = "0193f9c4-1b21-7d08-9a6b-3c5e7f902b4d"
/** Shaped like a key, but with digits that no checksum would pass. */
const CONSUMER_KEY = `atb_c_${"0123456789abcdef".repeat(4)}00000000`
const PROVIDER_KEY = `atb_p_${"0123456789abcdef".repeat(4)}00000000`

const key = {
  key_id: KEY_ID,
  api_key_prefix: "atb_c_01234567",
  label: "staging",
  role: "consumer",
  status: "active",
  current: false,
  default_cap_microcents: null,
  created_at: NOW,
  expires_at: null,
  revoked_at: null
}

export const accountWords: Words = {
  "RegisterProvider.": ["An MCP server and the tools that it offers."],
  "RegisterProvider.name": ["Your name, or your company's, as agents will read it."],
  "RegisterProvider.handle": [
    "Your handle, the first part of your tools' qualified names: 3 to 32 lowercase letters, digits and single dashes. " +
      "Derived from the name, if absent. Only the operator can change it later.",
    "ada-tools"
  ],
  "RegisterProvider.description": ["What your tools are good for."],
  "RegisterProvider.tools": ["Tools to put into the catalogue at once; more can follow with `POST /api/market/tools`."],
  endpoint_url: [
    "Where your MCP server listens: http or https, without credentials in it.",
    "https://tools.example.org/mcp"
  ],
  pricing_model: ["How you charge; shown in the catalogue.", "per_call"],
  default_price_cents: [
    "The price of a call to a tool that names none, in whole cents. Give this or `default_price_microcents`."
  ],
  default_price_microcents: ["The same in microcents, for prices below a cent.", 500],
  email: ["Where we can reach you; trimmed and lowercased.", "ada@example.org"],

  "RegisterConsumer.": ["An agent, or a team that runs agents."],
  "RegisterConsumer.name": ["A name for the account, for people.", "Research agent"],
  use_case: ["What the agent is for.", "literature research"],
  rate_limit_rpm: ["Calls a minute. What you ask for is capped by the service's ceiling.", 60],

  "RegisteredProvider.": ["The provider is registered. `api_key` is shown only here."],
  "RegisteredProvider.id": ["The tool's id.", TOOL_ID],
  "RegisteredProvider.handle": ["Your handle.", "ada-tools"],
  "RegisteredProvider.name": ["The name as it was kept.", "Ada Tools"],
  "RegisteredProvider.api_key": ["Your key. Only its hash is kept: store it now.", PROVIDER_KEY],
  "RegisteredProvider.api_key_prefix": ["How the key is listed from now on.", "atb_p_01234567"],
  "RegisteredProvider.provider_id": ["Your id.", PROVIDER_ID],
  "RegisteredProvider.tools": ["The tools that were put into the catalogue."],
  "RegisteredProvider.message": ["What happened, in a sentence for people.", "Keep the api_key: it is shown only now."],
  tools_registered: ["How many tools were put into the catalogue.", 1],
  registered: ["Always true: the account exists now."],

  "RegisteredConsumer.": ["The consumer is registered. `api_key` is shown only here."],
  "RegisteredConsumer.consumer_id": ["Your id.", CONSUMER_ID],
  "RegisteredConsumer.name": ["The name as it was kept.", "Research agent"],
  "RegisteredConsumer.message": ["What happened, in a sentence for people.", "Keep the api_key: it is shown only now."],
  api_key: ["The key. Only its hash is kept: store it now.", CONSUMER_KEY],
  api_key_prefix: ["How the key is listed: its role and first digits.", "atb_c_01234567"],
  balance: ["The balance, for people.", "$0.00"],
  balance_microcents: ["The balance, exact.", 0],

  "WhoAmI.": ["The account behind the key, and what the key may do."],
  "WhoAmI.id": ["The account's id.", CONSUMER_ID],
  "WhoAmI.handle": ["A provider's handle; null for a consumer.", null],
  "WhoAmI.name": ["The account's name.", "Research agent"],
  key_expires_at: ["When the key that you sent ends by itself; null: never.", null],

  default_cap_microcents: [
    "The most that a usage-priced call costs that names no cap itself; null: none. A key's goes before the account's.",
    50_000
  ],
  account_default_cap_microcents: ["The account's default cap, which counts for keys without their own.", null],
  "SetDefaultCap.": ["A cap, and what it is for."],
  "SetDefaultCap.key_id": ["The key that it is for; the whole account, if absent."],
  "DefaultCap.": ["The cap as it is now."],
  "DefaultCap.key_id": ["The key that it is for; null: the account.", null],
  "DefaultCap.message": [
    "What happened, in a sentence for people.",
    "Usage-priced calls of this account that name no cap cost at most 50000 microcents."
  ],
  of: ["What the cap is for.", "account"],
  "Key.": ["A key as it is listed: never the secret itself."],
  key_id: ["The key's id.", KEY_ID],
  label: ["Your own name for it.", "staging"],
  role: ["Whose key it is."],
  "Key.status": ["Whether it is accepted now."],
  current: ["Whether this is the key that you sent."],
  expires_at: ["When it ends by itself; null: never.", null],
  revoked_at: ["From when it is no longer accepted; after a rotation this lies ahead.", null],
  "Keys.": ["Your keys, the revoked ones too."],
  keys: ["The keys."],
  "CreateKey.": ["All of it is optional."],
  "CreateKey.label": ["Your own name for the key, to tell it from others."],
  "CreateKey.expires_at": ["When it shall end by itself, in ISO 8601; never, if absent.", "2027-11-20T00:00:00.000Z"],
  "NewKey.": ["The key exists. `api_key` is shown only here."],
  "NewKey.message": ["What happened, in a sentence for people.", "Keep the api_key: it is shown only now."],
  key: ["The key as it will be listed.", key],
  "RotateKey.": ["All of it is optional."],
  grace_seconds: ["How long the old key shall work on; a day, if absent.", 3_600],
  "RotatedKey.": ["The new key, shown only here, and what became of the old one."],
  "RotatedKey.key": ["The new key as it will be listed.", { ...key, label: "" }],
  replaces: [
    "The old key, with the end of its grace time.",
    { ...key, label: "", current: true, revoked_at: "2026-11-20T10:30:00.000Z" }
  ],
  "RotatedKey.message": [
    "What happened, in a sentence for people.",
    "Keep the api_key: it is shown only now. The old key works for another 3600 s."
  ],
  "RevokedKey.": ["The key is not accepted any more."],
  "RevokedKey.key": ["The key as it is listed now.", { ...key, status: "revoked", revoked_at: NOW }],
  revoked: ["Always true."]
}
