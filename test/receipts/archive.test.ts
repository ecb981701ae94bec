/**
 * Receipts of old months in files: moved, proven, found by id, and put back.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { archiveFaults, archiveMonth, restoreMonth } from "../../adapters/sql/receipts/ReceiptArchive.ts"
import { storeSql } from "../../adapters/sql/shared/StoreSql.ts"
import { Month } from "../../domain/invoices/Invoice.ts"
import { monthBefore, spanOf } from "../../domain/invoices/Invoicing.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { receiptIdAt } from "../../testing/contracts/shared/CallSamples.ts"
import { postgresLedgerPorts } from "../contracts/ledgerPorts.ts"
import { aCall, consumerWith, settled } from "../contracts/ledgerSamples.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { grantTo } from "../../adapters/sql/shared/DatabaseCheck.ts"
import { asRole } from "../support/servers/ServiceRoles.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, json, post, ready, temporaryFolder } from "../support/servers/ServiceProcess.ts"

const SETTINGS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "0".repeat(64),
  PAYMENTS: "dry_run",
  ALLOW_UPSTREAM: "loopback",
  LOG_LEVEL: "Error"
}
const SPAN = spanOf(Month.make("2025-03"))
const NOW = DateTime.makeUnsafe("2026-11-29T12:00:00.000Z")

/** With the receipts that the month has now. */
const invoiced = Effect.fnUntraced(function* (month: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO invoice_months (month, completed_at) VALUES (${month}, now()) ON CONFLICT DO NOTHING`
  yield* sql`DELETE FROM invoice_usage WHERE month = ${month}`
  yield* sql`
    INSERT INTO invoice_usage (month, consumer_id, provider_id, tool_id, price_version, tool_name, calls, billed, free, failed,
      amount, fee)
    SELECT ${month}, consumer_id, provider_id, tool_id, price_version, min(tool_name), count(*), 0, 0, 0, sum(cost)::int8,
      sum(fee)::int8
    FROM receipts WHERE to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') = ${month} GROUP BY 2, 3, 4, 5`
})

/** All rows of the tables that an archive changes. */
const contents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.forEach(["receipts", "receipt_log_places", "archived_totals", "receipt_archives"], (table) =>
    sql`SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) AS rows FROM ${sql(table)} t`.pipe(
      Effect.map(([row]) => row!["rows"])
    )
  )
})

/** A successful, a failed and a free call in March 2025 and one in April, each in the log. */
const aPast = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`TRUNCATE receipts, receipt_log_places, receipts_unlogged, account_balances, wallets, posted_transfers,
    archived_totals, receipt_archives, usage_hourly, invoice_months, invoice_usage`
  const consumerId = yield* consumerWith(1_000_000)
  for (const [at, ending] of [
    ["2025-03-01T00:00:00.000Z", { requestId: randomUUID(), holdMs: 3 }],
    ["2025-03-15T12:00:00.000Z", { status: "error", cost: 0 }],
    ["2025-03-31T23:59:58.000Z", { cost: 15 }],
    ["2025-04-02T00:00:00.000Z", {}]
  ] as const) {
    const openedAt = DateTime.makeUnsafe(at)
    yield* settled(yield* aCall(consumerId, { openedAt, invocationId: yield* receiptIdAt(openedAt) }), ending)
  }
  yield* sql`SELECT count_receipts(1000)`
  yield* sql`DELETE FROM receipts_unlogged`
  yield* sql`UPDATE receipts SET tool_name = E'a "tool",\nof two lines' WHERE cost = 15`
  yield* sql`INSERT INTO receipt_log_places SELECT receipt_id, consumer_id, 1, row_number() OVER (ORDER BY receipt_id) - 1 FROM receipts`
  yield* invoiced(SPAN.month)
})

/** In March 2025, recorded after the others. */
const aLateCall = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const openedAt = DateTime.makeUnsafe("2025-03-20T00:00:00.000Z")
  const call = yield* aCall(yield* consumerWith(1_000_000), { openedAt, invocationId: yield* receiptIdAt(openedAt) })
  yield* settled(call, {})
  yield* sql`SELECT count_receipts(1000)`
  yield* sql`DELETE FROM receipts_unlogged`
  yield* sql`INSERT INTO receipt_log_places SELECT receipt_id, consumer_id, 1, 100 FROM receipts r
    WHERE NOT EXISTS (SELECT 1 FROM receipt_log_places p WHERE p.receipt_id = r.receipt_id)`
})

const inBerlin = Effect.fnUntraced(function* (work: Effect.Effect<unknown, { readonly message: string }>) {
  const sql = yield* storeSql
  const inZone = Effect.andThen(sql`SELECT set_config('TimeZone', 'Europe/Berlin', true)`, work)
  const failed = yield* Effect.flip(sql.withTransaction(inZone))
  return failed.message
})

const sound = Effect.gen(function* () {
  const { discrepancies, transfers } = yield* (yield* LedgerStore).audit
  assert.deepStrictEqual(discrepancies, [])
  return transfers
})

it.layer(postgresLedgerPorts, { timeout: "300 seconds", excludeTestServices: true })("An archive", (it) => {
  it.effect("holds a month as CSV with a manifest; the audit counts it, and undoing restores every byte", () =>
    Effect.gen(function* () {
      yield* aPast
      const sql = yield* storeSql
      const folder = yield* temporaryFolder
      const [before, transfers] = [yield* contents, yield* sound]
      assert.strictEqual(yield* archiveMonth(sql, folder, SPAN, NOW), 3)

      assert.strictEqual(yield* sql`SELECT count(*) FROM receipts`.number, 1)
      assert.strictEqual(yield* sound, transfers)
      assert.deepStrictEqual(yield* archiveFaults(sql, folder), [])
      assert.match((yield* archiveFaults(sql, undefined)).join(), /2025-03 are archived, and no folder/u)
      const path = join(folder, SPAN.month, "manifest.json")
      const manifest = JSON.parse(yield* Effect.promise(() => readFile(path, "utf8")))
      assert.deepInclude(manifest, { version: 1, month: "2025-03", receipts: 3, cost: "1015", fee: "102" })
      const csv = gunzipSync(
        yield* Effect.promise(() => readFile(join(folder, SPAN.month, manifest.files[0].name)))
      ).toString()
      assert.match(csv, /^receipt_id,consumer_id,provider_id,.*,log,leaf\n/u)
      assert.include(csv, `,"a ""tool"",\nof two lines",`)

      const wrong = yield* Effect.flip(restoreMonth(sql, join(folder, "none", "manifest.json")))
      assert.strictEqual(wrong._tag, "ArchiveUnusable")
      assert.strictEqual(yield* restoreMonth(sql, path), 3)
      assert.deepStrictEqual(yield* contents, before)
      assert.strictEqual(yield* sound, transfers)
    })
  )

  it.effect("that is interrupted moves nothing, and the next try writes its files again", () =>
    Effect.gen(function* () {
      yield* aPast
      const sql = yield* storeSql
      const folder = yield* temporaryFolder
      const before = yield* contents
      // The last statement of the transaction is rejected.
      yield* sql`CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''away''; END'`
      yield* sql`CREATE TRIGGER away BEFORE DELETE ON receipts EXECUTE FUNCTION away()`
      yield* Effect.exit(archiveMonth(sql, folder, SPAN, NOW))
      assert.deepStrictEqual(yield* contents, before)
      const left = yield* Effect.promise(() => readdir(join(folder, SPAN.month)))
      assert.match(left.join(" "), /^manifest\.json receipts-00001-[0-9a-f]{12}\.csv\.gz$/u)
      yield* sql`DROP FUNCTION away CASCADE`
      yield* Effect.promise(() => writeFile(join(folder, SPAN.month, left[1]!), "half a file"))
      assert.strictEqual(yield* archiveMonth(sql, folder, SPAN, NOW), 3)
      assert.deepStrictEqual(yield* archiveFaults(sql, folder), [])
    })
  )

  it.effect("is not made again for receipts that came later: their files would replace those of the first", () =>
    Effect.gen(function* () {
      yield* aPast
      const sql = yield* storeSql
      const folder = yield* temporaryFolder
      yield* archiveMonth(sql, folder, SPAN, NOW)
      yield* aLateCall
      const again = yield* Effect.flip(archiveMonth(sql, folder, SPAN, NOW))
      assert.match(again.message, /2025-03 is archived already/u)
      assert.deepStrictEqual(yield* archiveFaults(sql, folder), [])
      assert.strictEqual(yield* restoreMonth(sql, join(folder, SPAN.month, "manifest.json")), 3)
      yield* sound
    })
  )

  it.effect("is made once by three commands at once", () =>
    Effect.gen(function* () {
      yield* aPast
      const sql = yield* storeSql
      const folder = yield* temporaryFolder
      const all = yield* Effect.forEach([1, 2, 3], () => Effect.result(archiveMonth(sql, folder, SPAN, NOW)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(all.map(({ _tag }) => _tag).toSorted(), ["Failure", "Failure", "Success"])
      assert.deepStrictEqual(yield* archiveFaults(sql, folder), [])
      yield* sound
    })
  )

  it.effect("shows a file and a kept total that was changed", () =>
    Effect.gen(function* () {
      yield* aPast
      const sql = yield* storeSql
      const folder = yield* temporaryFolder
      yield* archiveMonth(sql, folder, SPAN, NOW)
      yield* sql`UPDATE archived_totals SET credits = credits + 1 WHERE account = 3`
      const [total, ...others] = yield* archiveFaults(sql, folder)
      assert.match(total!, /^2025-03: Files and kept totals differ: 3 \S+ 1970-01-01 10[23] 0 2\.$/u)
      assert.lengthOf(others, 1)
      assert.lengthOf((yield* (yield* LedgerStore).audit).discrepancies, 1)
      const [, name] = yield* Effect.promise(() => readdir(join(folder, SPAN.month)))
      const file = join(folder, SPAN.month, name!)
      const bytes = yield* Effect.promise(() => readFile(file))
      bytes[bytes.length - 1]! ^= 1
      yield* Effect.promise(() => writeFile(file, bytes))
      assert.match((yield* archiveFaults(sql, folder)).join(), /receipts-00001-\w+\.csv\.gz was changed/u)
      const undone = yield* Effect.exit(restoreMonth(sql, join(folder, SPAN.month, "manifest.json")))
      assert.strictEqual(undone._tag, "Failure")
      assert.strictEqual(yield* sql`SELECT count(*) FROM receipts`.number, 1)
    })
  )

  it.effect(
    "is rejected for a month without invoices, with an open dispute, or with a receipt that is not in the log",
    () =>
      Effect.gen(function* () {
        yield* aPast
        const sql = yield* storeSql
        const folder = yield* temporaryFolder
        const rejection = Effect.map(Effect.flip(archiveMonth(sql, folder, SPAN, NOW)), ({ message }) => message)
        const before = yield* contents
        yield* sql`DELETE FROM receipt_log_places WHERE leaf = 1`
        assert.match(yield* rejection, /not in the log yet/u)
        yield* sql`INSERT INTO disputes (dispute_id, receipt_id, consumer_id, provider_id, cost, fee, settled_on, outcome, reason,
          filed_by, status, created_at, respond_by, claim_text)
        SELECT gen_random_uuid(), receipt_id, consumer_id, provider_id, cost, fee, '2025-03-31', 1, 'quality', 1, 1, now(),
          now() + interval '7 days', 'Wrong.' FROM receipts WHERE cost = 15`
        assert.match(yield* rejection, /Calls of 2025-03 are disputed/u)
        yield* sql`UPDATE disputes SET settled_on = '2025-03-01'`
        assert.match(yield* inBerlin(archiveMonth(sql, folder, SPAN, NOW)), /Calls of 2025-03 are disputed/u)
        yield* sql`UPDATE invoice_usage SET calls = calls - 1 WHERE amount > 0`
        assert.match(yield* rejection, /not invoiced yet. Run `invoices 2025-03 --supplement`/u)
        yield* sql`DELETE FROM invoice_months`
        assert.match(yield* rejection, /2025-03 has no invoices yet/u)
        assert.strictEqual((yield* contents)[0], before[0])
        yield* sql`DELETE FROM disputes`
      })
  )

  it.effect("is made by the command for months that are old enough, and undone by it", () =>
    Effect.gen(function* () {
      yield* aPast
      const sql = yield* storeSql
      const folder = yield* temporaryFolder
      // The service's role may not delete receipts: the owner of the tables does.
      const { url } = yield* PostgresTest
      const service = Redacted.value(yield* asRole(url, grantTo))
      const settings = {
        ...SETTINGS,
        DATABASE_URL: service,
        MIGRATION_DATABASE_URL: Redacted.value(url),
        ARCHIVE_DIR: folder
      }
      const archive = (...args: ReadonlyArray<string>) => finished(["archive", ...args], { settings })
      const before = yield* contents
      const current = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
      for (const [args, says] of [
        [[], "either --before <month> or --undo <manifest>"],
        [["--before", "2025-13"], `"2025-13" is not a month`],
        [["--before", current], "are too young. A month can be archived 180 days after its end. Use --before 20"]
      ] as const) {
        const { code, problem } = yield* archive(...args)
        assert.strictEqual(code, 1, problem)
        assert.include(problem, says)
      }
      const moved = yield* archive("--before", "2025-04")
      assert.strictEqual(moved.code, 0, moved.problem)
      assert.include(moved.output, `2025-03: moved 3 receipts to ${folder}/2025-03.`)
      assert.include((yield* archive("--before", "2025-04")).output, "There are no receipts before 2025-04.")
      assert.strictEqual((yield* finished(["audit", "--files", folder], { settings })).code, 0)
      const elsewhere = yield* finished(["audit", "--files", `${folder}/none`], { settings })
      assert.include(elsewhere.problem, "2025-03: Error: ENOENT")
      const undone = yield* archive("--undo", join(folder, "2025-03", "manifest.json"))
      assert.strictEqual(undone.code, 0, undone.problem)
      assert.deepStrictEqual(yield* contents, before)
      assert.strictEqual(yield* sql`SELECT count(*) FROM receipts`.number, 4)
    })
  )
})

it.layer(PostgresTest.layer, { timeout: "300 seconds", excludeTestServices: true })("A receipt in an archive", (it) => {
  it.effect("is returned and verified by a node that has the folder, and its leaf is checked by fsck", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const settings = { ...SETTINGS, DATABASE_URL: Redacted.value((yield* PostgresTest).url) }
      const node = yield* ready({ ...settings, ARCHIVE_DIR: folder })
      const provider = yield* providing(fine)
      yield* post(`${node.url}/api/market/register-provider`, {
        name: "Seller",
        email: "seller@example.org",
        endpoint_url: provider.url,
        tools: [{ tool_name: "echo", price_microcents: 500, free_tier_calls: 0 }]
      })
      const { body } = yield* post(`${node.url}/api/market/register-consumer`, {
        name: "Buyer",
        email: "b@example.org"
      })
      const key = String(body["api_key"])
      yield* post(`${node.url}/api/market/balance/load`, { amount_cents: 100 }, key)
      const bought = yield* post(`${node.url}/api/market/proxy`, { tool_name: "echo", input: {} }, key)
      const id = String((bought.body["meta"] as Record<string, unknown>)["receipt_id"])
      const find = (url: string) => json(`${url}/api/v1/market/receipts/${id}`)
      const list = json(`${node.url}/api/v1/market/receipts`, { headers: { authorization: `Bearer ${key}` } })
      const before = yield* find(node.url)
      assert.notProperty((yield* list).body, "archived_before")

      const sql = yield* storeSql
      const now = yield* DateTime.now
      const span = spanOf(monthBefore(DateTime.add(DateTime.startOf(now, "month"), { months: 1, hours: 1 })))
      yield* invoiced(span.month)
      yield* Effect.suspend(() => archiveMonth(sql, folder, span, now)).pipe(Effect.eventually)

      const after = yield* find(node.url)
      assert.strictEqual(after.status, 200)
      assert.deepStrictEqual(after.body["receipt"], before.body["receipt"])
      assert.propertyVal(after.body["verification"], "valid", true)
      const listed = (yield* list).body
      assert.deepInclude(listed, { receipts: [], archived_before: DateTime.formatIso(span.end) })
      const unknown = yield* json(`${node.url}/api/v1/market/receipts/rcpt_${"0".repeat(32)}`)
      assert.strictEqual(unknown.status, 404)

      const checked = yield* finished(["fsck", "--archive-dir", folder], { settings })
      assert.strictEqual(checked.code, 0, checked.problem)
      assert.match(checked.output, /The log is consistent: 1 receipts in 1 logs, 0 waiting/u)
      const without = yield* finished(["fsck"], { settings })
      assert.include(without.problem, `Receipts of ${span.month} are archived, and no folder of archives is given.`)

      const other = yield* ready(settings)
      const absent = yield* find(other.url)
      assert.strictEqual(absent.status, 503)
      assert.propertyVal(absent.body, "code", "NOT_CONFIGURED")
      assert.include(JSON.stringify(absent.body), `Receipts of ${span.month} such as ${id} are in an archive`)

      yield* restoreMonth(sql, join(folder, span.month, "manifest.json"))
      assert.deepStrictEqual((yield* find(other.url)).body["receipt"], before.body["receipt"])
      assert.strictEqual((yield* finished(["fsck"], { settings })).code, 0)
    })
  )
})
