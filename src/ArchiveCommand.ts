/**
 * `archive` moves old receipts to files, a month at a time, and puts them back. See docs/operations.md.
 */
import { Console, DateTime, Effect } from "effect"
import { archiveMonth, restoreMonth } from "../adapters/sql/receipts/ReceiptArchive.ts"
import { storeSql } from "../adapters/sql/shared/StoreSql.ts"
import { Month } from "../domain/invoices/Invoice.ts"
import { monthBefore, spanOf } from "../domain/invoices/Invoicing.ts"
import { databaseTime } from "../domain/shared/Time.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { audit, monthOf } from "./LedgerCommands.ts"
import { client, database, OwnerUrl } from "./layers/Database.ts"
import { earningsPolicy } from "./layers/Service.ts"
import { failed } from "./user/CommandFailure.ts"

/** After that no call is disputed, reported, repeated under its key or measured, with a margin. */
const DAYS_MIN = 180

export const archive = (config: AppConfig, before: string | undefined, manifest: string | undefined) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no database.")
    : Effect.gen(function* () {
        if ((before === undefined) === (manifest === undefined)) {
          return yield* failed("invalid", "Give either --before <month> or --undo <manifest>.")
        }
        if (before !== undefined) yield* audit(config)
        yield* Effect.gen(function* () {
          const work = manifest === undefined ? archiveBefore(config, before!) : undo(manifest)
          const owner = yield* OwnerUrl
          yield* owner === undefined ? work : Effect.provide(work, client({ url: owner, connectionsMax: 1 }))
        }).pipe(
          Effect.catchTag("ArchiveUnusable", ({ message }) => Effect.fail(failed("failed", message))),
          Effect.provide(database(config))
        )
      })

const archiveBefore = Effect.fnUntraced(function* (config: AppConfig, before: string) {
  const month = yield* monthOf(before)
  const folder = config.ARCHIVE_DIR
  if (folder === undefined)
    return yield* failed("invalid", "Name the folder of archives: --archive-dir or ARCHIVE_DIR.")
  const { delayDays, newProviderDelayDays, reserveDays } = earningsPolicy(config)
  const days = Math.max(DAYS_MIN, delayDays, newProviderDelayDays, reserveDays)
  const now = yield* yield* databaseTime
  const latest = DateTime.formatIsoDateUtc(DateTime.subtract(now, { days })).slice(0, 7)
  if (month > latest) {
    const rule = `A month can be archived ${days} days after its end.`
    return yield* failed(
      "failed",
      `Receipts of ${monthBefore(spanOf(month).start)} are too young. ${rule} Use --before ${latest} or earlier.`
    )
  }
  const sql = yield* storeSql
  const months = yield* sql<{ readonly month: string }>`
    SELECT DISTINCT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM receipts
    WHERE created_at < ${DateTime.toDate(spanOf(month).start)} ORDER BY 1`
  if (months.length === 0) yield* Console.log(`There are no receipts before ${month}.`)
  for (const { month: old } of months) {
    const moved = yield* archiveMonth(sql, folder, spanOf(Month.make(old)), now)
    yield* Console.log(`${old}: moved ${moved} receipts to ${folder}/${old}.`)
  }
})

const undo = Effect.fnUntraced(function* (manifest: string) {
  const restored = yield* restoreMonth(yield* storeSql, manifest)
  yield* Console.log(`Put ${restored} receipts of ${manifest} back. The files can be deleted.`)
})
