/**
 * `mcp config <client>` prints the configuration of an MCP client, as the pages show it. The configuration alone is on
 * stdout. Where it belongs and what else works are on stderr.
 */
import { Console, Effect, Option, Redacted, Result, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import {
  type ClientConfig,
  clientConfig,
  type ClientId,
  CLIENTS,
  isPlainKey,
  marketDoor,
  providerDoor
} from "../../adapters/site/connect/ClientConfigs.ts"
import { Handle } from "../../domain/accounts/Handle.ts"
import { nearestName } from "../../domain/shared/NearestName.ts"
import { httpUrl } from "../config/SettingValues.ts"
import { failed } from "./CommandFailure.ts"
import { given, switchFlag, textFlag } from "./CommandInput.ts"
import { LoginFile } from "./Market.ts"

const NAMES: ReadonlyArray<string> = CLIENTS.map(([id]) => id)

/** `configuredUrl` is the URL of the service of this configuration. */
export const mcp = <E>(configuredUrl: Effect.Effect<string, E>) =>
  Command.make("mcp").pipe(
    Command.withDescription("Configure an MCP client"),
    Command.withSubcommands([config(configuredUrl)])
  )

const config = <E>(configuredUrl: Effect.Effect<string, E>) =>
  Command.make(
    "config",
    {
      client: Argument.String("client").pipe(Argument.withDescription(`One of ${NAMES.join(", ")}`)),
      provider: textFlag("provider", "Handle of the provider, such as demo. Default: the tools of all providers"),
      url: textFlag("url", "URL of the service. Default: that of `login`, or else that of this configuration"),
      key: textFlag("key", "API key. Default: that of `login` at its service"),
      withoutKey: switchFlag("no-key", "Leave the key out")
    },
    Effect.fn("mcp config")(function* (flags) {
      const [provider, key] = [given(flags.provider), given(flags.key)]
      const client = yield* knownClient(flags.client)
      if (provider !== undefined && !Schema.is(Handle)(provider)) {
        return yield* failed(
          "invalid",
          `--provider must be a provider's handle, such as demo; "${provider}" was given.`
        )
      }
      const url = yield* checkedUrl(given(flags.url))
      // The message omits the key, which may be a real one with a stray character.
      if (key !== undefined && !isPlainKey(key)) return yield* failed("invalid", "--key is not an API key.")
      const login = Option.getOrUndefined(yield* (yield* LoginFile).read)
      const baseUrl = url ?? login?.url ?? (yield* configuredUrl)
      const door = provider === undefined ? marketDoor(baseUrl) : providerDoor(baseUrl, provider)
      // The key of the login belongs to its service alone.
      const isOwn = !flags.withoutKey && login?.key !== undefined && login.url === baseUrl
      const shown = clientConfig(client, door, key ?? (isOwn ? Redacted.value(login.key) : undefined))
      yield* Console.log(shown.snippets[0]!.code)
      yield* Console.error(besides(shown))
    })
  ).pipe(
    Command.withDescription("Print the configuration of an MCP client"),
    Command.withExamples([
      { command: "agent-tool-billing mcp config cursor --provider demo", description: "The tools of one provider" }
    ])
  )

const knownClient = (name: string) => {
  if (NAMES.includes(name)) return Effect.succeed(name as ClientId)
  const near = nearestName(name, NAMES)
  const known = near === undefined ? `Known clients: ${NAMES.join(", ")}.` : `Did you mean "${near}"?`
  return Effect.fail(failed("invalid", `Unknown client "${name}". ${known}`))
}

const checkedUrl = (url: string | undefined) => {
  if (url === undefined) return Effect.undefined
  const checked = Schema.decodeUnknownResult(httpUrl)(url)
  return Result.isSuccess(checked)
    ? Effect.succeed(url)
    : Effect.fail(failed("invalid", `--url=${url}: ${checked.failure.message}.`))
}

const besides = ({ link, note, snippets: [first, ...others] }: ClientConfig): string =>
  [
    "",
    `Place: ${first!.place}. ${note.replaceAll("`", "")}`,
    ...others.map(({ code, place }) => `${place}: ${code}`),
    ...(link === undefined ? [] : [`${link.label}: ${link.href}`])
  ].join("\n")
