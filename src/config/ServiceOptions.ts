/**
 * The options of `service()`: the settings in camel case, with typed values. Nothing is read from the environment.
 */
import { Redacted, Result } from "effect"
import type { MetricsAccess } from "../../adapters/http/pipeline/Stages.ts"
import type { WithOthers } from "../../adapters/http/pipeline/MetricSum.ts"
import type { TokenBucket } from "../../adapters/memory/accounts/BoundedRateLimiterStore.ts"
import { GUESSES_MAX, guessOf, nearestNames } from "../../domain/shared/NearestName.ts"
import { type AppConfig, configOf, ConfigInvalid } from "./AppConfig.ts"
import { type ServiceSettingName, type SettingName, settings, type SettingValue } from "./Settings.ts"

type Capitalized<N extends string> = N extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Lowercase<Word>>}${Capitalized<Rest>}`
  : Capitalize<Lowercase<N>>

/** `rateLimitRpm` of `RATE_LIMIT_RPM`. */
type OptionName<N extends string> = Uncapitalize<Capitalized<N>>

/** A secret may be a plain text: it is redacted at once. */
type OptionValue<A> = A extends Redacted.Redacted ? A | string : A

type Options = { readonly [N in ServiceSettingName as OptionName<N>]?: OptionValue<SettingValue<N>> | undefined }

/**
 * The settings of docs/settings.md in camel case, such as `rateLimitRpm` for `RATE_LIMIT_RPM`. An unknown one does not
 * compile, and fails with `ConfigInvalid` when the service is built.
 */
export interface ServiceOptions extends Options {
  readonly profile: AppConfig["profile"]
  /** Public URL of the service with the prefix of the API: links, problems, checkouts and the log name it. */
  readonly baseUrl: string
}

/** A configuration with the URL that links, the log and checkouts name. */
export type ServiceConfig = AppConfig & {
  readonly BASE_URL: string
  /** Default: clients with METRICS_TOKEN. */
  readonly metrics?: MetricsAccess
  /** Default: this process is the whole node. */
  readonly others?: OtherWorkers | undefined
}

/** What a worker counts and shows together with the other workers of its node. */
export interface OtherWorkers {
  readonly tokenBucket: TokenBucket
  readonly metrics: WithOthers
}

export const optionName = (name: string): string =>
  name.toLowerCase().replaceAll(/_(?<letter>\w)/gu, (_, letter: string) => letter.toUpperCase())

const settingByOption = new Map(
  Object.entries(settings)
    .filter(([, setting]) => !("onlyCommand" in setting))
    .map(([name]) => [optionName(name), name as SettingName])
)

/** Names every fault at once, by its option. */
export const readOptions = (options: ServiceOptions): Result.Result<ServiceConfig, ConfigInvalid> => {
  const faults = Object.keys(options).flatMap(unknownFault)
  const texts: Record<string, string> = {}
  for (const [option, name] of settingByOption) {
    const value: unknown = options[option as keyof ServiceOptions]
    const plain = Redacted.isRedacted(value) ? Redacted.value(value) : value
    if (typeof plain === "string" || typeof plain === "number") texts[name] = String(plain)
    else if (plain !== undefined) faults.push(`${option}: Expected a text or a number`)
  }
  for (const name of ["PROFILE", "BASE_URL"])
    if (texts[name] === undefined) faults.push(`${optionName(name)}: required`)
  const read = configOf((name) => texts[name], "everything")
  if (Result.isFailure(read)) faults.push(...read.failure.faults.map(withOptionNames))
  return Result.isSuccess(read) && faults.length === 0
    ? Result.succeed({ ...read.success, BASE_URL: texts["BASE_URL"]! })
    : Result.fail(new ConfigInvalid({ faults }))
}

const unknownFault = (option: string): ReadonlyArray<string> => {
  if (settingByOption.has(option)) return []
  if (Object.keys(settings).some((name) => optionName(name) === option)) return [`${option}: only for the command`]
  return [`${option}: Unknown option.${guessOf(nearestNames(option, settingByOption.keys(), GUESSES_MAX))}`]
}

/** Faults name settings as the environment does. */
const withOptionNames = (fault: string): string =>
  fault.replaceAll(/\b[A-Z][A-Z_]+\b/gu, (name) => (Object.hasOwn(settings, name) ? optionName(name) : name))
