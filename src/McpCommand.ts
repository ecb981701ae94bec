/**
 * `mcp config <client>`: prints the configuration of an MCP client, as the pages show it. The configuration alone is on
 * stdout, where it belongs and what else works on stderr.
 */
import { Console, Effect, Result, Schema } from "effect"
import { parseArgs } from "node:util"
import {
  type ClientConfig,
  type ClientId,
  clientConfig,
  CLIENTS,
  isPlainKey,
  marketDoor,
  providerDoor
} from "../adapters/site/connect/ClientConfigs.ts"
import { Handle } from "../domain/accounts/Handle.ts"
import { nearestName } from "../domain/shared/NearestName.ts"
import { readConfig, type Source } from "./config/AppConfig.ts"
import { ArgumentsInvalid } from "./config/Arguments.ts"
import { httpUrl } from "./config/SettingValues.ts"
import { baseUrlOf } from "./layers/LogState.ts"

const NAMES: ReadonlyArray<string> = CLIENTS.map(([id]) => id)

const USAGE =
  `Usage: mcp config <${NAMES.join("|")}> [--provider <handle>] [--url <base URL>] [--key <API key>]. ` +
  "Without --provider it is for the tools of all providers; without --url for the service of this configuration."

/** `sources`: of settings, for the service's URL. */
export const mcpCommand = Effect.fnUntraced(function* (argv: ReadonlyArray<string>, sources: ReadonlyArray<Source>) {
  const given = yield* Effect.fromResult(read(argv))
  const baseUrl = given.url ?? baseUrlOf(yield* Effect.fromResult(readConfig(sources)))
  const door = given.provider === undefined ? marketDoor(baseUrl) : providerDoor(baseUrl, given.provider)
  const config = clientConfig(given.client, door, given.key)
  yield* Console.log(config.snippets[0]!.code)
  yield* Console.error(besides(config))
})

interface Given {
  readonly client: ClientId
  readonly provider: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
}

const read = (argv: ReadonlyArray<string>): Result.Result<Given, ArgumentsInvalid> => {
  const parsed = Result.try({ try: () => parse(argv), catch: () => invalid(USAGE) })
  if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
  const { client, more, values, verb } = parsed.success
  if (values.help === true || verb !== "config" || client === undefined || more.length > 0) {
    return Result.fail(invalid(USAGE))
  }
  const { key, provider, url } = values
  if (!NAMES.includes(client)) {
    const near = nearestName(client, NAMES)
    const known = near === undefined ? `Known clients: ${NAMES.join(", ")}.` : `Did you mean "${near}"?`
    return Result.fail(invalid(`Unknown client "${client}". ${known}`))
  }
  if (provider !== undefined && !Schema.is(Handle)(provider)) {
    return Result.fail(invalid(`--provider must be a provider's handle, such as demo; "${provider}" was given.`))
  }
  if (url !== undefined) {
    const checked = Schema.decodeUnknownResult(httpUrl)(url)
    if (Result.isFailure(checked)) return Result.fail(invalid(`--url=${url}: ${checked.failure.message}.`))
  }
  // Without the key, which may be a real one with a stray character.
  if (key !== undefined && !isPlainKey(key)) return Result.fail(invalid("--key is not an API key."))
  return Result.succeed({ client: client as ClientId, provider, url, key })
}

const parse = (argv: ReadonlyArray<string>) => {
  const { positionals, values } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      provider: { type: "string" },
      url: { type: "string" },
      key: { type: "string" },
      help: { type: "boolean" }
    }
  })
  const [verb, client, ...more] = positionals
  return { verb, client, more, values }
}

const invalid = (problem: string) => new ArgumentsInvalid({ problem })

const besides = ({ link, note, snippets: [first, ...others] }: ClientConfig): string =>
  [
    "",
    `Place: ${first!.place}. ${note.replaceAll("`", "")}`,
    ...others.map(({ code, place }) => `${place}: ${code}`),
    ...(link === undefined ? [] : [`${link.label}: ${link.href}`])
  ].join("\n")
