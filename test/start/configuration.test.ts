/**
 * The configuration, read from flags, environment and `.env`: its precedence, and errors that name every fault at
 * once.
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Redacted, Result, Runtime } from "effect"
import { TestConsole } from "effect/testing"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { runCommand } from "../../src/Commands.ts"
import { configOfWorker, describeConfig, readConfig, type Source } from "../../src/config/AppConfig.ts"
import { settings } from "../../src/config/Settings.ts"
import { headersOf } from "../../src/config/SettingValues.ts"
import { checkedDotEnv } from "../../src/Start.ts"
import { sentenceOf } from "../../src/StartFailure.ts"
import { withSettingsTable } from "../support/api/SettingsTable.ts"

const SECRET = "0123456789abcdef0123456789abcdef"
const SEED = "1".repeat(64)
const DATABASE_URL = "postgres://user:hunter2@db/x"

const flagOf = (name: string) => `--${name.toLowerCase().replaceAll("_", "-")}`

const config = (...sources: ReadonlyArray<Source>) => Result.getOrThrow(readConfig(sources))

const faultsOf = (source: Source): ReadonlyArray<string> => {
  const read = readConfig([source])
  return Result.isFailure(read) ? read.failure.faults : []
}

const WRONG: Readonly<Record<string, ReadonlyArray<string>>> = {
  PROFILE: ["moon", "mem"],
  PORT: ["http", "-1", "65536", "3000.0", "0x50", " 80", "1e3"],
  BASE_URL: [
    "ftp://example.org",
    "example.org",
    "https://example.org/",
    "/",
    "https://example.org?",
    "https://example.org/b#",
    "https://me:pw@example.org"
  ],
  SECURITY_CONTACT: ["security@example.org", "http://example.org", "mailto:a b@example.org"],
  DATABASE_URL: ["mysql://user:hunter2@db/x", "db", "/var/run"],
  DATABASE_CONNECTIONS_MAX: ["1", "501", "many"],
  RECEIPT_SIGNING_SECRET: ["hunter2", "x".repeat(31)],
  LOG_SIGNING_KEY: ["hunter2", "0".repeat(63), "A".repeat(64)],
  OPERATOR_KEY: ["hunter2"],
  METRICS_TOKEN: ["hunter2"],
  DEFAULT_FREE_TIER_CALLS: ["-1", "1.5", "1000000001"],
  PLATFORM_FEE_BASIS_POINTS: ["-1", "2.5", "5001", "10%"],
  PRICE_NOTICE_HOURS: ["-1", "1.5", "2161", "soon"],
  RATE_LIMIT_RPM: ["-1", "many"],
  RATE_LIMIT_RPM_MAX: ["0", "-1"],
  RATE_LIMIT_IP_RPM: ["-1"],
  RATE_LIMIT_REGISTER_RPM: ["-1"],
  TRUST_PROXY: ["the office", "10.0.0.0/33", "10.0.0.1,", "300.1.1.1"].filter((value) => value !== "10.0.0.1,"),
  ANSWER_BYTES_IN_FLIGHT_MAX: ["-1", "16777215", "64MB"],
  CONNECTIONS_PER_ADDRESS_MAX: ["-1", "10001", "many"],
  REDIS_URL: ["http://user:hunter2@redis", "localhost"],
  LOG_LEVEL: ["loud", "informational"],
  LOG_FORMAT: ["xml"],
  OTLP_URL: [
    "grpc://hunter2@collector:4317",
    "collector:4318",
    "https://collector/",
    "https://user:hunter2@collector",
    "https://collector/?token=hunter2",
    "https://collector#hunter2"
  ],
  OTLP_HEADERS: ["hunter2", "a=b,hunter2", "a b=hunter2", "=hunter2", "a=", "a=hunter2\nb"],
  ACCESS_LOG_RATIO: ["-1", "1.1", "10%"],
  OTLP_TRACES_RATIO: ["-1", "1.1", "2", "1%", "0.", ".5", "1e-3", "all"],
  REQUEST_TIMEOUT_MS: ["0", "99", "600001", "30s"],
  SHUTDOWN_NOTICE_MS: ["-1", "soon"],
  SHUTDOWN_GRACE_MS: ["-1", "soon"]
}

describe("the configuration", () => {
  it("has the contract's defaults", () => {
    const { HOST, PORT, RATE_LIMIT_IP_RPM, RATE_LIMIT_REGISTER_RPM, RATE_LIMIT_RPM, RATE_LIMIT_RPM_MAX, ...rest } =
      config({})
    assert.deepStrictEqual([HOST, PORT], ["127.0.0.1", 3_000])
    assert.deepStrictEqual(
      [RATE_LIMIT_RPM, RATE_LIMIT_RPM_MAX, RATE_LIMIT_IP_RPM, RATE_LIMIT_REGISTER_RPM],
      [60, 6_000, 600, 30]
    )
    assert.deepStrictEqual([rest.profile, rest.DATA_DIR, rest.DEFAULT_FREE_TIER_CALLS], ["embedded", "./data", 0])
    assert.isUndefined(rest.TRUST_PROXY)
  })

  it("accepts the values of an enumeration in any case", () => {
    for (const LOG_LEVEL of ["info", "INFO", "Info", " info "]) {
      assert.strictEqual(config({ LOG_LEVEL }).LOG_LEVEL, "Info")
    }
    for (const PROFILE of ["memory", "Memory", "MEMORY"]) assert.strictEqual(config({ PROFILE }).profile, "memory")
    const given = config({ PAYMENTS: "DRY_RUN", LOG_FORMAT: "JSON", CHARGEBACK_LIABILITY: "Provider" })
    assert.deepStrictEqual(
      [given.PAYMENTS, given.LOG_FORMAT, given.CHARGEBACK_LIABILITY],
      ["dry_run", "json", "provider"]
    )
    assert.include(faultsOf({ PAYMENTS: "cash" }).join("\n"), "PAYMENTS=cash: Expected one of dry_run, stripe")
  })

  it("takes a base URL in its normal form only, and says which", () => {
    for (const BASE_URL of [
      "https://a.example",
      "http://127.0.0.1:3000",
      "http://[::1]:3000",
      "https://a.example/b/c"
    ]) {
      assert.strictEqual(config({ BASE_URL }).BASE_URL, BASE_URL)
    }
    for (const [BASE_URL, normal] of [
      ["HTTPS://market.example", "https://market.example"],
      ["https://Market.Example/Billing", "https://market.example/Billing"],
      ["https://market.example:443", "https://market.example"],
      ["https://market.example?x=1", "https://market.example"],
      ["https://market.example/b#f", "https://market.example/b"],
      ["https://market.example/b/../x", "https://market.example/x"],
      ["https://market.example/b//", "https://market.example/b"]
    ] as const) {
      assert.deepStrictEqual(faultsOf({ BASE_URL }), [
        `BASE_URL=${BASE_URL}: Expected an http or https URL without a trailing slash, query or fragment, in its normal ` +
          `form: ${normal}`
      ])
    }
  })

  it("divides limits of a node among its workers, which together have all of them and never more", () => {
    for (const workers of [1, 2, 3, 8]) {
      for (const max of [0, 8, 9, 64, 1_000]) {
        const settings = { CALLS_IN_FLIGHT_MAX: String(max), CONNECTIONS_PER_ADDRESS_MAX: String(max) }
        const all = Array.from({ length: workers }, (_, place) => configOfWorker(config(settings), place, workers))
        for (const name of ["CALLS_IN_FLIGHT_MAX", "CONNECTIONS_PER_ADDRESS_MAX"] as const) {
          const shares = all.map((one) => one[name] ?? -1)
          assert.strictEqual(
            shares.reduce((sum, share) => sum + share, 0),
            max
          )
          assert.isAtMost(Math.max(...shares) - Math.min(...shares), 1)
        }
      }
    }
  })

  it("rejects a limit that leaves a worker without a share", () => {
    const production = { DATABASE_URL, PAYMENTS: "dry_run", RECEIPT_SIGNING_SECRET: SECRET, LOG_SIGNING_KEY: SEED }
    const two = { ...production, WORKERS: "2", CONNECTIONS_PER_ADDRESS_MAX: "0" }
    assert.deepStrictEqual(faultsOf({ ...two, CALLS_IN_FLIGHT_MAX: "1" }), [
      "CALLS_IN_FLIGHT_MAX: at least 2, one for each of WORKERS, or 0 for no limit"
    ])
    assert.deepStrictEqual(faultsOf({ ...two, CALLS_IN_FLIGHT_MAX: "2" }), [])
  })

  it("accepts OpenTelemetry's name of the collector setting, after its own name", () => {
    const standard = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://standard:4318" }
    assert.strictEqual(String(Redacted.value(config(standard).OTLP_URL!)), "http://standard:4318")
    const both = config({ ...standard, OTLP_URL: "http://own:4318" })
    assert.strictEqual(String(Redacted.value(both.OTLP_URL!)), "http://own:4318")
    assert.isDefined(config({ OTEL_EXPORTER_OTLP_HEADERS: "a=b" }).OTLP_HEADERS)
  })

  it("is that of production where there is a database, unless set otherwise", () => {
    assert.strictEqual(
      config({ DATABASE_URL, RECEIPT_SIGNING_SECRET: SECRET, LOG_SIGNING_KEY: SEED, PAYMENTS: "dry_run" }).profile,
      "production"
    )
    assert.strictEqual(config({ DATABASE_URL, PROFILE: "memory" }).profile, "memory")
  })

  it("takes the first source with a value: an empty text is none", () => {
    const shown = config(
      { PORT: "1", HOST: "" },
      { PORT: "2", HOST: "::1" },
      { PORT: "3", HOST: "x", LOG_LEVEL: "Warn" }
    )
    assert.deepStrictEqual([shown.PORT, shown.HOST, shown.LOG_LEVEL], [1, "::1", "Warn"])
  })

  it("rejects an invalid value by the setting's name", () => {
    for (const [name, values] of Object.entries(WRONG)) {
      for (const value of values) {
        const faults = faultsOf({ [name]: value })
        assert.isTrue(
          faults.some((fault) => fault.startsWith(name)),
          `${name}=${value}`
        )
      }
    }
  })

  it("names every fault at once, and shows no secret", () => {
    const all = Object.fromEntries(Object.entries(WRONG).map(([name, [value]]) => [name, value]))
    const read = readConfig([all])
    assert.isTrue(Result.isFailure(read))
    if (Result.isSuccess(read)) return
    for (const name of Object.keys(WRONG)) assert.include(read.failure.message, name)
    assert.notInclude(read.failure.message, "hunter2")
  })

  it("of production requires a database, a secret and payments, and names all that is missing at once", () => {
    const faults = faultsOf({ PROFILE: "production" }).join("\n")
    for (const name of ["DATABASE_URL", "RECEIPT_SIGNING_SECRET", "LOG_SIGNING_KEY", "PAYMENTS"])
      assert.include(faults, name)
  })

  it("of payments by Stripe requires its keys, in every profile", () => {
    const faults = faultsOf({ PROFILE: "memory", PAYMENTS: "stripe" }).join("\n")
    for (const name of ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"]) assert.include(faults, name)
  })

  it("is printed without its secrets", () => {
    const secrets = Object.entries(settings).filter(([, { secret }]) => secret)
    assert.isAbove(secrets.length, 3)
    const shown = describeConfig(
      config({
        DATABASE_URL,
        RECEIPT_SIGNING_SECRET: SECRET,
        LOG_SIGNING_KEY: SEED,
        OPERATOR_KEY: SECRET,
        REDIS_URL: "redis://:hunter2@r",
        PAYMENTS: "stripe",
        STRIPE_SECRET_KEY: "sk_hunter2",
        STRIPE_WEBHOOK_SECRET: "whsec_hunter2",
        OTLP_URL: "https://collector.example/hunter2",
        OTLP_HEADERS: "authorization=Bearer hunter2"
      })
    )
    assert.notInclude(shown, "hunter2")
    assert.notInclude(shown, SECRET)
    assert.notInclude(shown, SEED)
    for (const name of Object.keys(settings)) assert.include(shown, `${name}=`)
  })

  it("keeps the order of the key ring: the first secret signs", () => {
    const ring = config({
      RECEIPT_SIGNING_SECRET: SECRET,
      LOG_SIGNING_KEY: SEED,
      RECEIPT_SIGNING_SECRETS_OLD: "old one, older one"
    }).signingSecrets
    assert.deepStrictEqual(ring.map(Redacted.value), [SECRET, "old one", "older one"])
  })

  it.effect("may be read from a file in the usual syntax", () =>
    Effect.gen(function* () {
      const read = yield* checkedDotEnv(
        '# a comment\nPORT=1234\nHOST="::1"\n\nexport LOG_LEVEL=Warn\nBASE_URL=https://a.example # why\n'
      )
      const shown = config(read)
      assert.deepStrictEqual(
        [shown.PORT, shown.HOST, shown.LOG_LEVEL, shown.BASE_URL],
        [1_234, "::1", "Warn", "https://a.example"]
      )
    })
  )
})

it("documents every setting in docs/settings.md, as `npm run api-docs` writes it", () => {
  const chapter = readFileSync(join(import.meta.dirname, "../../docs/settings.md"), "utf8")
  assert.strictEqual(withSettingsTable(chapter), chapter)
  assert.include(chapter, "| `RATE_LIMIT_RPM` ")
})

it("reads a collector's headers with any characters in their values", () => {
  assert.deepStrictEqual(headersOf("Authorization=Basic dXNlcjpwYXNz==, x-scope = market=eu ,"), {
    authorization: "Basic dXNlcjpwYXNz==",
    "x-scope": "market=eu"
  })
})

const printed = (...words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* runCommand(words)
    return (yield* TestConsole.logLines).join("\n")
  })

const problemOf = (...words: ReadonlyArray<string>) => Effect.map(Effect.flip(runCommand(words)), sentenceOf)

describe("the command line", () => {
  // Vite sets it.
  beforeAll(() => vi.stubEnv("BASE_URL", ""))
  afterAll(() => vi.unstubAllEnvs())

  it.effect("lists every command and every setting", () =>
    Effect.gen(function* () {
      for (const words of [["help"], ["--help"]]) {
        const text = yield* printed(...words)
        for (const name of Object.keys(settings)) assert.include(text, flagOf(name))
        for (const command of ["serve", "migrate", "end-sessions", "config", "login", "receipts"])
          assert.match(text, new RegExp(`^  ${command} `, "mu"))
      }
      assert.include(yield* printed("serve", "--help"), "--shutdown-grace-ms")
    })
  )

  it.effect("has a flag for every setting, with its value beside it or after an equals sign", () =>
    Effect.gen(function* () {
      const flags = Object.keys(settings).map(flagOf)
      for (const words of [flags.flatMap((flag) => [flag, "a=b"]), flags.map((flag) => `${flag}=a=b`)]) {
        const problem = yield* problemOf("config", ...words)
        for (const name of ["PROFILE", "PORT", "RATE_LIMIT_RPM", "OTLP_TRACES_RATIO"])
          assert.include(problem, `${name}=a=b: Expected`)
      }
      assert.include(yield* printed("config", "--mail-from", "a=b", "--host=::1"), "MAIL_FROM=a=b")
    })
  )

  it.effect("runs the service without a command", () =>
    Effect.gen(function* () {
      for (const words of [
        ["--port", "none"],
        ["serve", "--port=none"]
      ]) {
        assert.include(yield* problemOf(...words), "PORT=none: Expected an integer")
      }
    })
  )

  it.effect("has settings beside the flags of a command, which no other command has", () =>
    Effect.gen(function* () {
      const forget = ["forget", "an-id", "--by", "Ada", "--leave-money"]
      assert.include(yield* problemOf(...forget, "--port", "none"), "PORT=none: Expected an integer")
      assert.include(yield* problemOf("audit", "--leave-money"), 'Unknown flag "--leave-money"')
      assert.include(yield* problemOf("forget", "an-id"), "Missing required flag: --by")
    })
  )

  it.effect("rejects a value that begins with a dash and stands apart, without printing it", () =>
    Effect.gen(function* () {
      for (const words of [
        ["end-sessions", "--by", "Ada", "--reason", "-v, see the ticket"],
        ["end-sessions", "--by", "Ada", "--reason", "-v"],
        ["migrate", "--operator-key", "-k9Xz_Q"],
        ["serve", "--operator-key", "-h"]
      ]) {
        assert.strictEqual(yield* problemOf(...words), "A value that begins with `-` is given as --flag=value.")
      }
    })
  )

  it.effect("rejects an unknown flag or command with the nearest one", () =>
    Effect.gen(function* () {
      assert.include(yield* problemOf("--rate-limit-rpn", "1"), "Did you mean `--rate-limit-rpm`?")
      assert.include(yield* problemOf("audit", "--databse-url=x"), "Did you mean `--database-url`?")
      assert.include(yield* problemOf("migrat"), "Did you mean `migrate`?")
    })
  )

  it.effect("rejects a name of .env that is almost a setting's, and leaves those of other programs", () =>
    Effect.gen(function* () {
      const faultOf = (text: string) =>
        Effect.match(checkedDotEnv(text), { onFailure: ({ message }) => message, onSuccess: () => undefined })
      assert.include(yield* faultOf("OPERATER_KEY=x"), "OPERATER_KEY: Unknown setting. Did you mean `OPERATOR_KEY`?")
      assert.include(
        yield* faultOf("A=1\nTRUST_PROXIES=x\nPAYMENT=stripe"),
        "PAYMENT: Unknown setting. Did you mean `PAYMENTS`?"
      )
      for (const text of [
        "PATH=/bin",
        "DATABASE_PASSWORD=x",
        "PORT=1",
        "OTEL_EXPORTER_OTLP_ENDPOINT=http://a",
        "POSTGRES_USER=x",
        "PGHOST=db",
        "DB_PORT=5432",
        "DATABASE_USER=x",
        "REDIS_TLS_URL=x",
        "SITE_URL=x",
        "HTTP_URL=x",
        "EMAIL_FROM=x",
        "VITE_BASE_URL=x",
        "STRIPE_SECRET=x",
        "REPORT=x",
        "OPERATER_KEY="
      ])
        assert.isUndefined(yield* faultOf(text), text)
    })
  )

  it.effect("rejects unknown arguments by name with exit code 1, and names the help", () =>
    Effect.gen(function* () {
      for (const [words, says] of [
        [["--colour", "red"], "--colour"],
        [["--colour=red"], "--colour"],
        [["--PORT", "1"], "--PORT"],
        [["dance"], "dance"],
        [["constructor"], "constructor"],
        [["--port"], "--port"],
        [["--port", "1", "--port", "2"], "--port"],
        [["serve", "now"], "now"],
        [["-p", "1"], "-p"],
        [["--__proto__", "x"], "--__proto__"]
      ] as const) {
        const failure = yield* Effect.flip(runCommand(words))
        assert.include(failure.message, says)
        assert.include(failure.message, "--help` shows what it takes.")
        assert.strictEqual(Runtime.getErrorExitCode(failure), 1)
      }
    })
  )
})
