/**
 * The role that the service connects as: it cannot change transfers and receipts, and the service reports it where it
 * can.
 */
import { assert, it, vi } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { inject } from "vitest"
import { APPEND_ONLY_TABLES } from "../../adapters/sql/shared/DatabaseCheck.ts"
import { dataFolder } from "../support/servers/EmbeddedFolders.ts"
import { json, post, ready } from "../support/servers/ServiceProcess.ts"
import { asRole } from "../support/servers/ServiceRoles.ts"
import { connectedTo, createDatabase, dropDatabase, urlOf } from "../support/servers/TestDatabases.ts"

vi.setConfig({ testTimeout: 180_000 })

const WARNING =
  "may change or delete rows of archived_totals, audit_trail, invoices, posted_transfers, provider_fees, receipt_archives, receipts"

const production = (url: Redacted.Redacted, others: Readonly<Record<string, string>> = {}) => ({
  DATABASE_URL: Redacted.value(url),
  RECEIPT_SIGNING_SECRET: "x".repeat(32),
  LOG_SIGNING_KEY: "0".repeat(64),
  PAYMENTS: "dry_run",
  ...others
})

const emptyDatabase = Effect.gen(function* () {
  const databases = inject("testDatabases")
  const name = `${databases.prefix}${randomBytes(8).toString("hex")}`
  const admin = connectedTo(Redacted.make(databases.adminUrl))
  yield* Effect.acquireRelease(createDatabase(name, "template0").pipe(admin), () =>
    dropDatabase(name).pipe(admin, Effect.orDie)
  )
  return urlOf(databases, name)
})

const serves = Effect.fnUntraced(function* (url: string) {
  const consumer = { name: "A", email: `${randomBytes(4).toString("hex")}@example.org` }
  const { body, status } = yield* post(`${url}/api/market/register-consumer`, consumer)
  assert.strictEqual(status, 201, JSON.stringify(body))
  const load = yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, String(body["api_key"]))
  assert.isBelow(load.status, 300, JSON.stringify(load.body))
})

const databaseCheck = (url: string) =>
  Effect.map(json(`${url}/api/v1/health`), ({ body }) => ({
    status: body["status"],
    database: (body["checks"] as Readonly<Record<string, Readonly<Record<string, unknown>>>>)["database"]
  }))

/** One of each table that has no provider. */
const COLUMNS: Readonly<Record<string, string>> = {
  archived_totals: "owner_id",
  audit_trail: "actor",
  invoices: "month",
  receipt_archives: "month"
}

const refusals = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  return yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(APPEND_ONLY_TABLES, (table) =>
      Effect.all([
        Effect.flip(sql.unsafe(`DELETE FROM ${table}`)),
        Effect.flip(sql.unsafe(`UPDATE ${table} SET ${COLUMNS[table] ?? "provider_id"} = NULL`)),
        Effect.flip(sql.unsafe(`TRUNCATE ${table}`))
      ])
    )
  ).pipe(
    Effect.map((errors) => new Set(errors.flat().map(({ reason }) => reason._tag))),
    connectedTo(url)
  )
})

const revokeAll = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${sql(new URL(Redacted.value(url)).username)}`
})

it.live("PostgreSQL rejects changes of append-only tables by the embedded service's role", () =>
  Effect.gen(function* () {
    const dataDir = yield* dataFolder
    const service = yield* ready({ DATA_DIR: dataDir })
    yield* serves(service.url)
    const [password, postmaster] = yield* Effect.promise(() =>
      Promise.all(["postgres.password", "postgres/postmaster.pid"].map((file) => readFile(join(dataDir, file), "utf8")))
    )
    const port = postmaster!.split("\n")[3]
    const url = Redacted.make(`postgres://billing:${password!.trim()}@127.0.0.1:${port}/billing`)
    assert.deepStrictEqual(yield* refusals(url), new Set(["AuthorizationError"]))
    assert.notInclude(service.output() + service.problem(), WARNING)
    assert.notProperty((yield* databaseCheck(service.url)).database, "message")
  })
)

it.live("a superuser's service warns at its start and in health, and stays ok", () =>
  Effect.gen(function* () {
    const service = yield* ready(production(yield* emptyDatabase))
    yield* serves(service.url)
    const lines = (service.output() + service.problem()).split("\n").filter((line) => line.includes(WARNING))
    assert.strictEqual(lines.length, 1)
    const { database, status } = yield* databaseCheck(service.url)
    assert.deepInclude(database, {
      status: "ok",
      message:
        "The service's role may change or delete rows of append-only tables: archived_totals, audit_trail, invoices, posted_transfers, provider_fees, receipt_archives, receipts."
    })
    assert.strictEqual(status, "ok")
  })
)

it.live("with MIGRATION_DATABASE_URL the service's role needs no rights except to connect", () =>
  Effect.gen(function* () {
    const ownerUrl = yield* emptyDatabase
    const url = yield* asRole(ownerUrl, () => Effect.void)
    const settings = production(url, { MIGRATION_DATABASE_URL: Redacted.value(ownerUrl) })
    // The second start finds the schema without grants, as after a restore.
    for (const n of [1, 2]) {
      const service = yield* ready(settings)
      yield* serves(service.url)
      assert.deepStrictEqual(yield* refusals(url), new Set(["AuthorizationError"]))
      assert.notInclude(service.output() + service.problem(), WARNING)
      if (n === 1) yield* revokeAll(url).pipe(connectedTo(ownerUrl))
    }
  })
)
