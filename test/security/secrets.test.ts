/**
 * Secrets do not leak: a canary in each of them, every kind of failure, and none of them in the log at its most
 * verbose level, in traces, responses, problems and metrics, in the database, or in a start error.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { settings } from "../../src/config/Settings.ts"
import { DatabaseLink } from "../support/servers/DatabaseLink.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { aCanary, Canaries } from "../support/security/Canaries.ts"
import { aSecretService, plantPassword, secretSettings } from "../support/security/SecretService.ts"
import { SecretStory } from "../support/security/SecretRequests.ts"
import { finished } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

/** Every row of every table, as text. */
const everythingKept = Effect.gen(function* () {
  const { url } = yield* PostgresTest
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ readonly name: string }>`
      SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
    const rows = yield* Effect.forEach(tables, ({ name }) =>
      sql.unsafe<{ readonly row: string }>(`SELECT t::text AS row FROM ${name} t`)
    )
    return rows.flatMap((found) => found.map(({ row }) => row))
  }).pipe(connectedTo(url), Effect.orDie)
})

const without = (text: string, own: ReadonlyArray<string>): string =>
  own.reduce((left, secret) => left.replaceAll(secret, ""), text)

/** Searched as one text first; place by place only where something is found. */
const holdsNone = (canaries: Canaries, texts: ReadonlyArray<string>): void => {
  if (canaries.foundIn(texts.join("\n")).length === 0) return
  for (const text of texts) assert.deepStrictEqual(canaries.foundIn(text), [], text)
}

describe("a canary", () => {
  it("is found in every form, and not where there is none", () => {
    const canaries = new Canaries()
    const secret = canaries.plant("a secret", `${aCanary()}/+ä`)
    const bytes = Buffer.from(secret)
    const forms = [secret, bytes.toString("hex"), bytes.toString("base64"), encodeURIComponent(secret)]
    for (const form of forms) assert.isAbove(canaries.foundIn(`so: ${form}.`).length, 0, form)
    assert.deepStrictEqual(canaries.foundIn(`so: ${aCanary()}`), [])
  })
})

it.layer(DatabaseLink.layer.pipe(Layer.provideMerge(PostgresTest.layerDatabase)), LIVE)("no secret", (it) => {
  it.effect.each(["json", "pretty"] as const)(
    "is in what the service logs (%s), traces, returns, measures or stores",
    (format) =>
      Effect.gen(function* () {
        const canaries = new Canaries()
        const running = yield* aSecretService(canaries, format)
        const story = new SecretStory(running, canaries)
        yield* Effect.promise(() => story.tell())
        const kept = yield* everythingKept
        running.service.child.kill("SIGTERM")
        yield* running.service.exit

        assert.isAbove(canaries.size, 80)
        const statuses = new Set(story.said.map(({ status }) => status))
        for (const status of [200, 201, 400, 401, 404, 422, 502, 503]) assert.isTrue(statuses.has(status), `${status}`)
        holdsNone(
          canaries,
          story.said.map(({ asked, own, status, text }) => `${asked} ${status} ${without(text, own)}`)
        )
        const log = `${running.service.output()}\n${running.service.problem()}`
        assert.isAbove(log.length, 10_000)
        assert.include(log, "SqlError")
        holdsNone(canaries, log.split("\n"))
        const { watcher } = running
        const spans = watcher.spans()
        assert.includeMembers(
          spans.map(({ name }) => name),
          ["POST /api/market/proxy", "Metering.settle"]
        )
        assert.isAbove(spans.length, 500)
        assert.isAbove(watcher.lines().length, 100)
        assert.include(watcher.text(), "SqlError")
        assert.include(watcher.text(), "db.query.text")
        holdsNone(
          canaries,
          watcher.posts.map(({ text }) => text)
        )
        assert.isAbove(kept.length, 5)
        holdsNone(canaries, kept)
        assert.isAbove(running.provider.of("tools/call").length, 2)
        holdsNone(
          canaries,
          running.provider.seen.map(
            ({ headers, text }) => `a provider was told ${JSON.stringify({ ...headers, "mcp-session-id": "" })} ${text}`
          )
        )
      }),
    { timeout: 180_000 }
  )

  it.effect(
    "is in a start error, or in the printed configuration",
    () =>
      Effect.gen(function* () {
        const canaries = new Canaries()
        const unreachable = (what: string, scheme: string) =>
          plantPassword(canaries, what, `${scheme}://user:${aCanary()}@127.0.0.1:1/0`)
        const working = {
          ...secretSettings(canaries),
          PAYMENTS: "stripe",
          SMTP_URL: unreachable("the mail server's password", "smtp"),
          REDIS_URL: unreachable("the password of Redis", "redis"),
          DATABASE_URL: unreachable("the database's password", "postgres"),
          DATABASE_READ_URL: unreachable("the password of the read replica", "postgres"),
          MIGRATION_DATABASE_URL: unreachable("the password of the database's owner", "postgres"),
          OTLP_URL: `http://127.0.0.1:1/${canaries.plant("a collector's address", aCanary())}`,
          LOG_LEVEL: "Debug"
        }
        const secrets = Object.entries(settings).filter(([, { secret }]) => secret)
        assert.deepStrictEqual(
          secrets.map(([name]) => name).filter((name) => !(name in working)),
          [],
          "a secret setting without a canary"
        )
        const wrongPassword = new URL(Redacted.value((yield* PostgresTest).url))
        wrongPassword.password = canaries.plant("another password of the database", aCanary())
        const spoilt = Object.fromEntries(
          secrets.map(([name]) => [name, canaries.plant(`${name}, as it may not be`, ` ${aCanary()}`.slice(0, 30))])
        )
        for (const [args, given, code] of [
          [["config"], working, 0],
          [["serve"], working, 1],
          // It starts without Redis and logs that; the port is the database's.
          [["serve", "--port", wrongPassword.port], { ...working, PROFILE: "memory" }, 1],
          [["serve"], { ...working, REDIS_URL: "", DATABASE_URL: wrongPassword.href, MIGRATION_DATABASE_URL: "" }, 1],
          [["serve"], { ...working, ...spoilt }, 1],
          [["audit"], working, 1],
          [["serve", `--operator-key=${working.OPERATOR_KEY}`, "--port", "none"], working, 1]
        ] as const) {
          const ended = yield* finished(args, { settings: given })
          const told = ended.output + ended.problem
          assert.strictEqual(ended.code, code, told)
          assert.isAbove(told.length, 10, args.join(" "))
          assert.deepStrictEqual(canaries.foundIn(told), [], told)
        }
      }),
    180_000
  )
})
