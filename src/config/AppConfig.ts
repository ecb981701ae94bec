/**
 * The configuration of a start: flags before environment before `.env`. All faults are reported at once.
 */
import { Redacted, Result, Schema } from "effect"
import { availableParallelism } from "node:os"
import { type SettingName, settings, type SettingValue } from "./Settings.ts"
import { listOf } from "./SettingValues.ts"

type Values = { readonly [N in SettingName]: SettingValue<N> | undefined }

type WithFallback = { [N in SettingName]: (typeof settings)[N]["fallback"] extends string ? N : never }[SettingName]

export type AppConfig = Values & {
  readonly profile: "memory" | "embedded" | "production"
  /** The first signs, all of them verify. Empty if none is set. */
  readonly signingSecrets: ReadonlyArray<Redacted.Redacted>
}

/** The settings cannot be used. The message has a line for each fault, so that all can be fixed at once. */
export class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  faults: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The configuration is invalid:\n${this.faults.map((fault) => `  ${fault}`).join("\n")}`
  }
}

/** OpenTelemetry's own names. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  OTLP_URL: "OTEL_EXPORTER_OTLP_ENDPOINT",
  OTLP_HEADERS: "OTEL_EXPORTER_OTLP_HEADERS"
}

/** Settings by name as text, such as `process.env`. */
export type Source = Readonly<Record<string, string | undefined>>

/** A command needs in production `database`, a connection only; `books`, also the keys of receipts and log; or `everything`. */
export type Needs = "database" | "books" | "everything"

/** Reads and checks all settings. Earlier sources take precedence. An empty text counts as absent. */
export const readConfig = (
  sources: ReadonlyArray<Source>,
  needs: Needs = "everything"
): Result.Result<AppConfig, ConfigInvalid> =>
  configOf((name) => givenFor(name, sources) ?? givenFor(OTHER_NAMES[name] ?? name, sources), needs)

export const configOf = (
  textOf: (name: SettingName) => string | undefined,
  needs: Needs
): Result.Result<AppConfig, ConfigInvalid> => {
  const faults: Array<string> = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const text = textOf(name as SettingName) ?? setting.fallback
    if (text === undefined) continue
    const read = Schema.decodeUnknownResult(setting.schema as Schema.ConstraintDecoder<unknown>)(text)
    if (Result.isSuccess(read)) values[name] = read.success
    else faults.push(`${name}${setting.secret ? "" : `=${text.slice(0, 100)}`}: ${read.failure.message.split("\n")[0]}`)
  }
  const config = values as Values
  const profile = config.PROFILE ?? (config.DATABASE_URL === undefined ? "embedded" : "production")
  faults.push(...missingFor(profile, config, needs))
  if (faults.length > 0) return Result.fail(new ConfigInvalid({ faults }))
  return Result.succeed({ ...config, profile, signingSecrets: ring(config) })
}

const givenFor = (name: string, sources: ReadonlyArray<Source>): string | undefined =>
  sources.map((source) => source[name]).find((value) => value !== undefined && value !== "")

/** One more during a restart, with the connections of DATABASE_CONNECTIONS_MAX by default and four more each. */
const EMBEDDED_WORKERS_MAX = 5

const missingFor = (profile: AppConfig["profile"], config: Values, needs: Needs): ReadonlyArray<string> => {
  const faults: Array<string> = []
  if (config.PAYMENTS === "stripe") {
    for (const name of ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const) {
      if (config[name] === undefined) faults.push(`${name}: required with PAYMENTS=stripe`)
    }
  }
  if (config.DEMO_PROVIDER === "on" && !mayHaveDemo(profile, config)) {
    faults.push("DEMO_PROVIDER: `on` only in a dry run of memory and embedded")
  }
  if (profile === "embedded" && Number(config.WORKERS) > EMBEDDED_WORKERS_MAX) {
    faults.push(`WORKERS: at most ${EMBEDDED_WORKERS_MAX} with PROFILE=embedded, whose PostgreSQL has 100 connections`)
  }
  const workers = workersIn(profile, config.WORKERS ?? 1)
  for (const name of SHARED_LIMITS) {
    const max = config[name] ?? 0
    if (max > 0 && max < workers)
      faults.push(`${name}: at least ${workers}, one for each of WORKERS, or 0 for no limit`)
  }
  if ((config.WORKERS ?? 1) !== 1 && profile === "memory") {
    faults.push("WORKERS: only 1 with PROFILE=memory, whose data is in the memory of one process")
  }
  if (config.DATABASE_READ_URL !== undefined && profile !== "production") {
    faults.push("DATABASE_READ_URL: only with DATABASE_URL, which it names the replicas of")
  }
  if (profile !== "production") return faults
  if (config.PAYMENTS === undefined && needs === "everything") {
    faults.push("PAYMENTS: required in production. Set stripe and its keys, or dry_run")
  }
  if (config.DATABASE_URL === undefined) faults.push("DATABASE_URL: required in production")
  if (needs === "database") return faults
  if (config.RECEIPT_SIGNING_SECRET === undefined) {
    faults.push("RECEIPT_SIGNING_SECRET: required in production (`openssl rand -hex 32`)")
  }
  if (config.LOG_SIGNING_KEY === undefined) {
    faults.push("LOG_SIGNING_KEY: required in production (`openssl rand -hex 32`)")
  }
  return faults
}

/** The demo provider is possible where money is test credit, because its tools are for trying out. */
export const mayHaveDemo = (profile: AppConfig["profile"], { PAYMENTS }: Pick<Values, "PAYMENTS">): boolean =>
  profile !== "production" && PAYMENTS !== "stripe"

const ring = (config: Values): ReadonlyArray<Redacted.Redacted> =>
  config.RECEIPT_SIGNING_SECRET === undefined
    ? []
    : [
        config.RECEIPT_SIGNING_SECRET,
        ...listOf(config.RECEIPT_SIGNING_SECRETS_OLD ?? "").map((secret) => Redacted.make(secret))
      ]

/** A setting with a fallback always has a value. */
export const valueOf = <N extends WithFallback>(config: AppConfig, name: N): SettingValue<N> =>
  config[name] as SettingValue<N>

/** How many processes serve. */
export const workersOf = (config: AppConfig): number => workersIn(config.profile, valueOf(config, "WORKERS"))

const workersIn = (profile: AppConfig["profile"], workers: SettingValue<"WORKERS">): number => {
  if (workers !== "auto") return workers
  return profile === "embedded" ? Math.min(availableParallelism(), EMBEDDED_WORKERS_MAX) : availableParallelism()
}

/** Limits of a node that its workers do not count together: each has a fixed share. */
const SHARED_LIMITS = ["CALLS_IN_FLIGHT_MAX", "CONNECTIONS_PER_ADDRESS_MAX"] as const

/** With the worker's share of these limits, by its place among the workers from 0. The shares of all make up the limit. */
export const configOfWorker = (config: AppConfig, place: number, workers: number): AppConfig => {
  const shares = SHARED_LIMITS.map((name) => {
    const max = valueOf(config, name)
    return [name, Math.floor(max / workers) + (place < max % workers ? 1 : 0)]
  })
  return { ...config, ...Object.fromEntries(shares) }
}

/** The URL of a service on its own socket. */
export const baseUrlOf = (config: AppConfig): string =>
  config.BASE_URL ?? `http://${hostInUrl(valueOf(config, "HOST"))}:${valueOf(config, "PORT")}`

const hostInUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** `NAME=value` lines; secrets are not shown. */
export const describeConfig = (config: AppConfig): string =>
  Object.entries(settings)
    .map(([name, setting]) => {
      const value = config[name as SettingName]
      const shown = value === undefined ? "(not set)" : setting.secret ? "(set, not shown)" : String(value)
      return `${name}=${shown}`
    })
    .join("\n")
