/**
 * `mcp config <client>`: prints the configuration of an MCP client, as the pages show it. The configuration alone is on
 * stdout, where it belongs and what else works on stderr.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { parseArgs } from "node:util"
import {
  type ClientConfig,
  clientConfig,
  type ClientId,
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
import { baseUrlOf } from "./layers/Secrets.ts"
import { LoginFile } from "./user/LoginFile.ts"

const NAMES: ReadonlyArray<string> = CLIENTS.map(([id]) => id)

const USAGE =
  `Usage: mcp config <${NAMES.join("|")}> [--provider <handle>] [--url <base URL>] [--key <API key> | --no-key]. ` +
  "Without --provider it is for the tools of all providers; without --url and --key for the service that you are signed in " +
  "to (`login`), with its key, or else for the service of this configuration."

/** `sources`: of settings, for the service's URL. */
export const mcpCommand = Effect.fnUntraced(function* (
  argv: ReadonlyArray<string>,
  sources: ReadonlyArray<Source>,
  environment: Source
) {
  const given = yield* Effect.fromResult(read(argv))
  const login = yield* loginIn(environment)
  const baseUrl = given.url ?? login?.url ?? baseUrlOf(yield* Effect.fromResult(readConfig(sources)))
  const door = given.provider === undefined ? marketDoor(baseUrl) : providerDoor(baseUrl, given.provider)
  // The key of the login belongs to its service alone.
  const own =
    given.withoutKey || login?.key === undefined || login.url !== baseUrl ? undefined : Redacted.value(login.key)
  const config = clientConfig(given.client, door, given.key ?? own)
  yield* Console.log(config.snippets[0]!.code)
  yield* Console.error(besides(config))
})

const loginIn = (environment: Source) =>
  Effect.flatMap(LoginFile, ({ read }) => Effect.map(read, Option.getOrUndefined)).pipe(
    Effect.provide(LoginFile.layer(environment).pipe(Layer.provide(NodeServices.layer)))
  )

interface Given {
  readonly client: ClientId
  readonly provider: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
  readonly withoutKey: boolean
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
  return Result.succeed({ client: client as ClientId, provider, url, key, withoutKey: values["no-key"] === true })
}

const parse = (argv: ReadonlyArray<string>) => {
  const { positionals, values } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      provider: { type: "string" },
      url: { type: "string" },
      key: { type: "string" },
      "no-key": { type: "boolean" },
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
