/**
 * `doctor` on real databases with real faults.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { APPEND_ONLY_TABLES, grantTo } from "../../adapters/sql/shared/DatabaseCheck.ts"
import { examine } from "../../src/DatabaseCommands.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished } from "../support/servers/ServiceProcess.ts"
import { asRole } from "../support/servers/ServiceRoles.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const settingsFor = (url: Redacted.Redacted) => ({
  DATABASE_URL: Redacted.value(url),
  RECEIPT_SIGNING_SECRET: "the secret of a service with a doctor",
  LOG_SIGNING_KEY: "d0c7".repeat(16),
  PAYMENTS: "dry_run"
})

const found = Effect.fnUntraced(function* (url: Redacted.Redacted, ownerUrl?: Redacted.Redacted) {
  const findings = yield* examine({ url, ownerUrl, connectionsMax: 10 })
  return new Map(findings.map(({ check, message, severity }) => [check, `${severity}: ${message}`]))
})

const ran = (sql: string) => Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe(sql))

it.layer(PostgresTest.layerDatabase, LIVE)("doctor", (it) => {
  it.effect("accepts the rights of a service role, and names the tables that a superuser may change", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      const asService = yield* found(yield* asRole(url, grantTo), url)
      for (const check of ["version", "fitness", "collation", "append_only", "pooler", "schema"]) {
        assert.match(asService.get(check) ?? "", /^ok: /u, check)
      }
      const asSuperuser = yield* found(url)
      assert.include(asSuperuser.get("append_only"), `rows of ${APPEND_ONLY_TABLES.join(", ")}`)
    })
  )

  it.effect("says in one line that a database does not respond", () =>
    Effect.gen(function* () {
      const url = Redacted.make(`postgres://billing@127.0.0.1:${yield* freePort}/billing`)
      const findings = yield* found(url)
      assert.deepStrictEqual([...findings.keys()], ["connection"])
      assert.match(
        findings.get("connection")!,
        /^problem: The database of DATABASE_URL cannot be used: .*ECONNREFUSED/u
      )
    })
  )

  it.effect("finds the faults of a server, and exits with code 1", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryPostgres({
        settings: { synchronous_commit: "off", max_connections: "12", max_prepared_transactions: "1" }
      })
      yield* ran("CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0").pipe(
        connectedTo(url)
      )
      yield* ran("SELECT slot_name::text FROM pg_create_physical_replication_slot('left', true)").pipe(connectedTo(url))
      const to = new URL(Redacted.value(url))
      to.pathname = "/bytes"
      const bytes = Redacted.make(to.href)
      const findings = yield* found(bytes)
      assert.match(findings.get("fitness") ?? "", /^problem: .*encoding SQL_ASCII, and UTF8 is required/u)
      assert.match(findings.get("durability") ?? "", /^problem: Off: fsync, full_page_writes, synchronous_commit/u)
      assert.match(findings.get("connections") ?? "", /^problem: A node needs 14 connections/u)
      assert.match(findings.get("slots") ?? "", /^warning: .*left \(\d+ MiB\)/u)
      assert.match(findings.get("schema") ?? "", /^warning: The schema has version 0, .*Run `migrate`/u)

      const asText = yield* finished(["doctor"], { settings: settingsFor(bytes) })
      assert.strictEqual(asText.code, 1)
      assert.match(asText.output, /^problem +fitness +The database of DATABASE_URL/mu)
      assert.match(asText.problem, /The database has \d+ problems\./u)
      const asJson = yield* finished(["doctor", "--json"], { settings: settingsFor(bytes) })
      const { findings: listed } = JSON.parse(asJson.output) as { readonly findings: ReadonlyArray<{ check: string }> }
      assert.deepStrictEqual(
        listed.map(({ check }) => check),
        [...findings.keys()]
      )
      assert.strictEqual(asJson.code, 1)
    })
  )
})
