/**
 * `login`, `logout` and `whoami`. The key is asked for or read from stdin, never an argument: those show in the shell's
 * history and in the list of processes.
 */
import { Console, Effect, Option, Redacted, Result, Schema, Stdio } from "effect"
import { Command, Prompt } from "effect/cli"
import { formatPrice } from "../../domain/shared/Microcents.ts"
import { isPlainKey } from "../../adapters/site/connect/ClientConfigs.ts"
import { DEFAULT_CAP_DOLLARS } from "../../adapters/site/kit/Format.browser.ts"
import { httpUrl } from "../config/SettingValues.ts"
import { type CommandFailure, failed } from "./CommandFailure.ts"
import { dollars, fromStdin, given, json, switchFlag, textFlag } from "./CommandInput.ts"
import { safeLine, shown, textFields } from "./CommandOutput.ts"
import { LoginFile, Market, marketAt, shownKey } from "./Market.ts"

const DEFAULT_URL = "http://127.0.0.1:3000"

const flags = {
  url: textFlag("url", "URL of the service, such as https://market.example.com"),
  keyStdin: switchFlag("key-stdin", "Read the API key from stdin instead of asking for it"),
  register: switchFlag("register", "Register a new account, with --name and --email"),
  name: textFlag("name", "Name of the new account"),
  email: textFlag("email", "Email address of the new account"),
  defaultCap: textFlag(
    "default-cap",
    `The most that one call of a usage-priced tool may cost unless it says otherwise, in dollars, or none. Default: ${DEFAULT_CAP_DOLLARS}`
  )
}

export const login = Command.make(
  "login",
  flags,
  Effect.fn("login")(function* ({ defaultCap, email, keyStdin, name, register, url: givenUrl }) {
    const file = yield* LoginFile
    const before = Option.getOrUndefined(yield* Effect.orElseSucceed(file.read, () => Option.none()))
    const url = yield* checkedUrl(
      given(givenUrl) ??
        (yield* asked(
          "--url",
          Prompt.String({ message: "URL of the service", default: before?.url ?? DEFAULT_URL, validate: typedUrl })
        ))
    )
    if (isExposed(url))
      yield* Console.error(`Warning: ${url} is not encrypted. Others in the network can read your key.`)
    // Registering would replace the only copy of this key.
    const isSignedIn = before?.url === url && before.key !== undefined
    const anyone = marketAt({ url, key: undefined, logKeys: [], source: "file" })
    const existing = register
      ? undefined
      : keyStdin
        ? yield* fromStdin
        : Redacted.value(
            yield* asked(
              "--key-stdin or --register",
              isSignedIn
                ? Prompt.Password({ message: "API key", validate: typedKey })
                : Prompt.Password({ message: "API key (empty to register a new account)", validate: typedKeyOrNone })
            )
          )
    let key: Redacted.Redacted
    if (existing === undefined || (existing.trim() === "" && !keyStdin)) {
      const account = {
        name:
          given(name) ?? (yield* asked("--name", Prompt.String({ message: "Name of the account", validate: typed }))),
        email: given(email) ?? (yield* asked("--email", Prompt.String({ message: "Email address", validate: typed }))),
        ...(yield* capOf(given(defaultCap)))
      }
      const registered = yield* anyone.ask("Registering", (client, signal) =>
        client.accounts.registerConsumer({ payload: account, signal })
      )
      // A service could return what a shell would interpret in the output of `mcp config`.
      key = yield* checkedKey(registered.api_key)
      // The key is written at once: no request returns it again.
      yield* file.write({ url, key, logKeys: [] })
      const { default_cap_microcents: cap } = account
      yield* Console.error(
        cap === undefined
          ? "There is no default cap: each call of a usage-priced tool must name one."
          : `A call of a usage-priced tool costs at most ${formatPrice(BigInt(cap))}, unless it names another cap.`
      )
    } else {
      key = yield* checkedKey(existing.trim())
    }
    const own = marketAt({ url, key, logKeys: [], source: "file" })
    const account = yield* own.ask("Checking the key", (client, signal) => client.accounts.whoAmI({ signal }))
    const { keys } = yield* own.ask("Reading the keys of the log", (client, signal) => client.log.keys({ signal }))
    yield* file.write({ url, key, logKeys: keys.map(({ vkey }) => vkey) })
    yield* Console.log(
      `Signed in to ${url} as ${safeLine(account.name)} (${account.role} ${account.id}) with key ${shownKey(key)}.`
    )
    yield* Console.error(`The key is in ${file.path}, which only you can read.`)
  })
).pipe(
  Command.withDescription(
    "Sign in to a service with an API key, or register. AGENT_TOOL_BILLING_URL and AGENT_TOOL_BILLING_KEY override it"
  ),
  Command.withExamples([
    { command: "agent-tool-billing login --url https://market.example.com", description: "Asks for the key" },
    {
      command: "agent-tool-billing login --key-stdin --url https://market.example.com < key.txt",
      description: "In a script"
    },
    {
      command: "agent-tool-billing login --register --name 'My agent' --email me@example.org",
      description: "A new account"
    }
  ])
)

export const logout = Command.make(
  "logout",
  {},
  Effect.fn("logout")(function* () {
    const file = yield* LoginFile
    const existed = yield* file.remove
    yield* Console.log(
      existed ? "Signed out. The key stays valid: revoke it if you no longer need it." : "You were not signed in."
    )
  })
).pipe(Command.withDescription("Remove the stored key from this machine"))

export const whoami = Command.make(
  "whoami",
  { json },
  Effect.fn("whoami")(function* ({ json }) {
    const { ask, login } = yield* Market
    const account = yield* ask("Reading your account", (client, signal) => client.accounts.whoAmI({ signal }))
    const key = shownKey(login.key!)
    yield* shown(json, { url: login.url, key, source: login.source, account }, () =>
      textFields([
        ["Service", login.url],
        ["Account", `${account.name}${account.handle === null ? "" : ` (${account.handle})`}`],
        ["Role", account.role],
        ["ID", account.id],
        ["Key", `${key} (${account.key_id})`],
        ["Signed in", login.source === "file" ? "with `login`" : "by the environment"],
        ["Rate limit", account.rate_limit_rpm === 0 ? "none" : `${account.rate_limit_rpm} requests a minute`],
        ["Key expires", account.key_expires_at ?? "never"],
        ...(account.frozen ? [["Frozen", account.frozen_reason ?? "yes"] as const] : [])
      ])
    )
  }, Effect.provide(Market.layer))
).pipe(Command.withDescription("Show the service and the account that you are signed in to"))

/** Fails with the flag to give where there is no person to ask. */
const asked = <A>(flag: string, prompt: Prompt.Prompt<A>) =>
  Effect.gen(function* () {
    const { stdinIsTerminal } = yield* Stdio.Stdio
    if (!(yield* stdinIsTerminal)) return yield* failed("invalid", `${flag} is required where stdin is not a terminal.`)
    // The shell's prompt follows on the same line otherwise. Before the last prompt nothing has been sent or stored.
    return yield* Effect.tapErrorTag(Prompt.run(prompt), "QuitError", () => Console.error("\nCanceled."))
  })

/** The most that one call may cost. Where there is no person to ask, what would be proposed to one. */
const capOf = Effect.fnUntraced(function* (flag: string | undefined) {
  const { stdinIsTerminal } = yield* Stdio.Stdio
  const message = "Most that one call of a usage-priced tool may cost, in dollars, or none"
  const text =
    flag ??
    ((yield* stdinIsTerminal)
      ? yield* asked("--default-cap", Prompt.String({ message, default: DEFAULT_CAP_DOLLARS, validate: typedCap }))
      : DEFAULT_CAP_DOLLARS)
  return yield* capIn(text)
})

const capIn = (text: string): Effect.Effect<{ readonly default_cap_microcents?: number }, CommandFailure> =>
  text.trim() === "none"
    ? Effect.succeed({})
    : Effect.map(dollars("--default-cap", text.trim()), (cap) => ({ default_cap_microcents: cap }))

const urlIn = (text: string) => {
  const url = text.trim().replace(/\/+$/u, "")
  return Result.map(Schema.decodeUnknownResult(httpUrl)(url), () => url)
}

const checkedUrl = (text: string) =>
  Effect.mapError(Effect.fromResult(urlIn(text)), ({ message }) =>
    failed("invalid", `--url=${text.trim().slice(0, 200)}: ${message}.`)
  )

const NOT_A_KEY = "This is not an API key."

/** The failure does not contain the key, which may be a real one with a stray character. */
const checkedKey = (text: string) =>
  isPlainKey(text) ? Effect.succeed(Redacted.make(text)) : Effect.fail(failed("invalid", NOT_A_KEY))

/** A prompt shows the failure, and lets the person correct the text. */
const typedUrl = (text: string) => Effect.mapError(Effect.fromResult(urlIn(text)), ({ message }) => `${message}.`)

const typed = (text: string) => (text.trim() === "" ? Effect.fail("Required.") : Effect.succeed(text.trim()))

const typedKey = (text: string) =>
  text.trim() === ""
    ? Effect.fail("Required. `login --register` registers a new account, and replaces the stored key.")
    : isPlainKey(text.trim())
      ? Effect.succeed(text.trim())
      : Effect.fail(NOT_A_KEY)

const typedKeyOrNone = (text: string) => (text.trim() === "" ? Effect.succeed("") : typedKey(text))

const typedCap = (text: string) =>
  Effect.mapBoth(capIn(text), {
    onSuccess: () => text,
    onFailure: () => "Enter an amount in dollars, such as 0.25, or none."
  })

const isExposed = (url: string): boolean => {
  const { hostname, protocol } = new URL(url)
  return protocol === "http:" && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname)
}
