/**
 * The configuration of a start: flags before environment before `.env`, checked whole, every fault named in one go.
 */
import { Redacted, Result, Schema } from "effect"
import { type SettingName, settings, type SettingValue } from "./Settings.ts"
import { listOf } from "./SettingValues.ts"

type Values = { readonly [N in SettingName]: SettingValue<N> | undefined }

type WithFallback = { [N in SettingName]: (typeof settings)[N]["fallback"] extends string ? N : never }[SettingName]

export type AppConfig = Values & {
  readonly profile: "memory" | "embedded" | "production"
  /** First signs, all of them verify. Empty: none was given. */
  readonly signingSecrets: ReadonlyArray<Redacted.Redacted>
}

export class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  faults: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The configuration is not valid:\n${this.faults.map((fault) => `  ${fault}`).join("\n")}`
  }
}

/** What OpenTelemetry itself calls them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  OTLP_URL: "OTEL_EXPORTER_OTLP_ENDPOINT",
  OTLP_HEADERS: "OTEL_EXPORTER_OTLP_HEADERS"
}

export type Source = Readonly<Record<string, string | undefined>>

/** Later sources stand behind earlier ones. An empty text counts as absent. */
export const readConfig = (sources: ReadonlyArray<Source>): Result.Result<AppConfig, ConfigInvalid> => {
  const faults: Array<string> = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const text = givenFor(name, sources) ?? givenFor(OTHER_NAMES[name] ?? name, sources) ?? setting.fallback
    if (text === undefined) continue
    const read = Schema.decodeUnknownResult(setting.schema as Schema.ConstraintDecoder<unknown>)(text)
    if (Result.isSuccess(read)) values[name] = read.success
    else faults.push(`${name}${setting.secret ? "" : `=${text.slice(0, 100)}`}: ${read.failure.message.split("\n")[0]}`)
  }
  const config = values as Values
  const profile = config.PROFILE ?? (config.DATABASE_URL === undefined ? "embedded" : "production")
  faults.push(...missingFor(profile, config))
  if (faults.length > 0) return Result.fail(new ConfigInvalid({ faults }))
  return Result.succeed({ ...config, profile, signingSecrets: ring(config) })
}

const givenFor = (name: string, sources: ReadonlyArray<Source>): string | undefined =>
  sources.map((source) => source[name]).find((value) => value !== undefined && value !== "")

const missingFor = (profile: AppConfig["profile"], config: Values): ReadonlyArray<string> => {
  const faults: Array<string> = []
  if (config.PAYMENTS === "stripe") {
    for (const name of ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const) {
      if (config[name] === undefined) faults.push(`${name}: needed with PAYMENTS=stripe`)
    }
  }
  if (profile !== "production") return faults
  if (config.PAYMENTS === undefined) {
    faults.push("PAYMENTS: the production profile needs stripe with its keys, or dry_run asked for by name")
  }
  if (config.DATABASE_URL === undefined) faults.push("DATABASE_URL: the production profile needs a database")
  if (config.RECEIPT_SIGNING_SECRET === undefined) {
    faults.push("RECEIPT_SIGNING_SECRET: the production profile does not start without a secret of its own")
  }
  if (config.LOG_SIGNING_KEY === undefined) {
    faults.push("LOG_SIGNING_KEY: the production profile signs its log with a key of its own (`openssl rand -hex 32`)")
  }
  return faults
}

const ring = (config: Values): ReadonlyArray<Redacted.Redacted> =>
  config.RECEIPT_SIGNING_SECRET === undefined
    ? []
    : [
        config.RECEIPT_SIGNING_SECRET,
        ...listOf(config.RECEIPT_SIGNING_SECRETS_OLD ?? "").map((secret) => Redacted.make(secret))
      ]

/** A value that has a fallback is always there. */
export const valueOf = <N extends WithFallback>(config: AppConfig, name: N): SettingValue<N> =>
  config[name] as SettingValue<N>

/** `NAME=value` lines for people; secrets are named, not shown. */
export const describeConfig = (config: AppConfig): string =>
  Object.entries(settings)
    .map(([name, setting]) => {
      const value = config[name as SettingName]
      const shown = value === undefined ? "(not set)" : setting.secret ? "(set, not shown)" : String(value)
      return `${name}=${shown}`
    })
    .join("\n")
