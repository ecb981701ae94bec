/**
 * The options of `service()`: the settings in camel case with typed values, and nothing of the environment.
 */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { readConfig } from "../../src/config/AppConfig.ts"
import { optionName, readOptions, type ServiceOptions } from "../../src/config/ServiceOptions.ts"
import { settings } from "../../src/config/Settings.ts"

const HOME = { profile: "memory", baseUrl: "https://market.example" } as const

const SECRET = "0123456789abcdef0123456789abcdef"

/** As JavaScript passes them. */
const faultsOf = (options: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const read = readOptions(options as unknown as ServiceOptions)
  return Result.isFailure(read) ? read.failure.faults : []
}

describe("the options of service()", () => {
  it("make the configuration that the settings of the same names make", () => {
    const named = { ...HOME, rateLimitRpm: 7, payments: "dry_run", operatorKey: SECRET, dataDir: undefined } as const
    const config = Result.getOrThrow(readOptions(named))
    assert.deepStrictEqual(
      config,
      Result.getOrThrow(
        readConfig([
          {
            PROFILE: "memory",
            BASE_URL: "https://market.example",
            RATE_LIMIT_RPM: "7",
            PAYMENTS: "dry_run",
            OPERATOR_KEY: SECRET
          }
        ])
      ) as typeof config
    )
    assert.deepStrictEqual(
      Result.getOrThrow(readOptions({ ...named, operatorKey: Redacted.make(SECRET) })).OPERATOR_KEY,
      config.OPERATOR_KEY
    )
  })

  it("are all settings but those of the command's process", () => {
    const rejected = Object.keys(settings).filter((name) =>
      faultsOf({ ...HOME, [optionName(name)]: null })[0]?.endsWith("only for the command")
    )
    assert.includeMembers(rejected, ["PORT", "LOG_LEVEL", "OTLP_URL", "SHUTDOWN_GRACE_MS"])
    assert.notInclude(rejected.join(), "RATE_LIMIT")
    assert.deepStrictEqual(faultsOf({ ...HOME, port: 3_000 }), ["port: only for the command"])
  })

  it("are rejected if unknown, with the nearest name", () => {
    for (const [option, nearest] of [
      ["rateLimitRpn", "rateLimitRpm"],
      ["RATE_LIMIT_RPM", "rateLimitRpm"],
      ["payment", "payments"],
      ["stripeSecret", "stripeSecretKey"]
    ] as const) {
      assert.include(faultsOf({ ...HOME, [option]: 1 })[0], `${option}: Unknown option. Did you mean \`${nearest}\``)
    }
    assert.deepStrictEqual(faultsOf({ ...HOME, zzz: 1 }), ["zzz: Unknown option."])
    assert.deepStrictEqual(faultsOf({ ...HOME, ["__proto__x"]: 1 }), ["__proto__x: Unknown option."])
  })

  it("are rejected if invalid or missing, all at once and by their names, without secrets", () => {
    assert.deepStrictEqual(
      faultsOf({ profile: "production", payments: "paypal", rateLimitRpm: 1.5, dataDir: {}, operatorKey: "hunter2" }),
      [
        "dataDir: Expected a text or a number",
        "baseUrl: required",
        "operatorKey: Expected at least 32 characters, such as from `openssl rand -hex 32`",
        "payments=paypal: Expected one of dry_run, stripe",
        "rateLimitRpm=1.5: Expected an integer between 0 and 1000000",
        "payments: required in production. Set stripe and its keys, or dry_run",
        "databaseUrl: required in production",
        "receiptSigningSecret: required in production (`openssl rand -hex 32`)",
        "logSigningKey: required in production (`openssl rand -hex 32`)"
      ]
    )
    assert.deepStrictEqual(faultsOf({}), ["profile: required", "baseUrl: required"])
    // An empty text is not an absent option.
    assert.deepStrictEqual(faultsOf({ ...HOME, databaseUrl: "" }), ["databaseUrl: Expected a nonempty text"])
  })

  it("do not compile if unknown, missing or of another type", () => {
    const rejected: ReadonlyArray<ServiceOptions> = [
      // @ts-expect-error An unknown option.
      { ...HOME, rateLimitRpn: 60 },
      // @ts-expect-error A setting of the command's process.
      { ...HOME, port: 3_000 },
      // @ts-expect-error A text for a number.
      { ...HOME, rateLimitRpm: "60" },
      // @ts-expect-error No payment gateway.
      { ...HOME, payments: "paypal" },
      // @ts-expect-error Without the URL that links name.
      { profile: "memory" }
    ]
    assert.strictEqual(rejected.length, 5)
  })
})
