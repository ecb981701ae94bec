/**
 * `keys`: the API keys of the account.
 */
import { Console, DateTime, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { failed } from "./CommandFailure.ts"
import { dollars, given, json, present, switchFlag, textFlag } from "./CommandInput.ts"
import { shown, textTable } from "./CommandOutput.ts"
import { ask, Market } from "./Market.ts"

const list = Command.make(
  "list",
  { json },
  Effect.fn("keys list")(function* ({ json }) {
    const answer = yield* ask("Reading your keys", (client, signal) => client.accounts.listKeys({ signal }))
    yield* shown(json, answer, () =>
      textTable(
        ["ID", "KEY", "LABEL", "STATUS", "CREATED", "EXPIRES"],
        answer.keys.map((key) => [
          key.key_id,
          `${key.api_key_prefix}…${key.current ? " (this one)" : ""}`,
          key.label,
          key.status,
          key.created_at.slice(0, 10),
          key.expires_at?.slice(0, 10) ?? "never"
        ])
      )
    )
  })
).pipe(Command.withDescription("List the keys of your account"))

const create = Command.make(
  "create",
  {
    json,
    label: textFlag("label", "What the key is for"),
    expiresInDays: Flag.Int("expires-in-days").pipe(Flag.withDescription("Days until the key expires"), Flag.optional),
    defaultCap: textFlag(
      "default-cap",
      "The most that one call with this key may cost unless it says otherwise, in dollars"
    )
  },
  Effect.fn("keys create")(function* ({ defaultCap, expiresInDays, json, label }) {
    const cap = given(defaultCap)
    const days = given(expiresInDays)
    const payload = present({
      label: given(label),
      expires_at: days === undefined ? undefined : DateTime.formatIso(DateTime.add(yield* DateTime.now, { days })),
      default_cap_microcents: cap === undefined ? undefined : yield* dollars("--default-cap", cap)
    })
    const answer = yield* ask("Creating a key", (client, signal) => client.accounts.createKey({ payload, signal }))
    yield* shown(json, answer, () => answer.api_key)
    if (!json) yield* Console.error(`Key ${answer.key.key_id}. It is shown only now: store it.`)
  })
).pipe(Command.withDescription("Create a key and print it, once"))

const revoke = Command.make(
  "revoke",
  {
    json,
    id: Argument.String("key-id").pipe(Argument.withDescription("ID of the key, as `keys list` prints it")),
    yes: switchFlag("yes", "Also if it is the key that you are signed in with")
  },
  Effect.fn("keys revoke")(function* ({ id, json, yes }) {
    const { key_id: own } = yield* ask("Reading your account", (client, signal) => client.accounts.whoAmI({ signal }))
    if (id === own && !yes) {
      return yield* failed("invalid", "You are signed in with this key. Add --yes to revoke it.")
    }
    const answer = yield* ask("Revoking the key", (client, signal) =>
      client.accounts.revokeKey({ params: { key_id: id }, signal })
    )
    yield* shown(json, answer, () => `Revoked ${answer.key.key_id} (${answer.key.api_key_prefix}…).`)
  })
).pipe(Command.withDescription("Revoke a key: requests with it are rejected from now on"))

export const keys = Command.make("keys").pipe(
  Command.withDescription("Manage the API keys of your account"),
  Command.withSubcommands([list, create, revoke]),
  Command.provide(Market.layer)
)
