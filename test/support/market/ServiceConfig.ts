/**
 * Configurations of a service under test, read by the service's own reader: without rate limits unless a test sets
 * them.
 */
import { Effect, Layer, Logger, Redacted, Result } from "effect"
import { readConfig, type Source } from "../../../src/config/AppConfig.ts"
import type { ServiceConfig } from "../../../src/config/ServiceOptions.ts"
import { Fatal } from "../../../src/layers/Process.ts"
import { metricsAccess, serviceOf } from "../../../src/layers/Service.ts"
import { PostgresTest } from "../servers/PostgresTest.ts"

const UNLIMITED: Source = { RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0", RATE_LIMIT_REGISTER_RPM: "0" }
const HOME: Source = { BASE_URL: "https://market.example" }

export const SIGNING_SECRET = "the secret of the service's tests, 32 characters or more"
/** Production requires a token for metrics. */
export const METRICS_TOKEN = "the token of the tests' metrics, with 32 characters"
const LOG_SEED = "5eed".repeat(16)

const read = (...sources: ReadonlyArray<Source>): ServiceConfig => {
  const config = Result.getOrThrow(readConfig([...sources, HOME]))
  return { ...config, BASE_URL: config.BASE_URL! }
}

export const memoryConfig = (settings: Source = {}): ServiceConfig =>
  read(settings, { ...UNLIMITED, PROFILE: "memory" })

export const postgresConfig = (url: Redacted.Redacted, settings: Source = {}): ServiceConfig =>
  read(settings, {
    ...UNLIMITED,
    PROFILE: "production",
    PAYMENTS: "dry_run",
    // Providers of tests are on loopback.
    ALLOW_UPSTREAM: "loopback",
    DATABASE_URL: Redacted.value(url),
    RECEIPT_SIGNING_SECRET: SIGNING_SECRET,
    LOG_SIGNING_KEY: LOG_SEED,
    METRICS_TOKEN
  })

/** As `serve`. Background logs are silent; logs about a request are in the response that a test gets. */
export const wholeService = (config: ServiceConfig) =>
  serviceOf({ ...config, metrics: metricsAccess(config) }).pipe(
    Layer.provide([Fatal.layer, Logger.layer([])]),
    Layer.orDie
  )

/** On the test's database. */
export const serviceOnPostgres = (settings: Source = {}) =>
  Layer.unwrap(Effect.map(PostgresTest, ({ url }) => wholeService(postgresConfig(url, settings))))
