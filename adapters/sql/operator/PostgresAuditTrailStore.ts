/**
 * The audit trail in PostgreSQL. The service's role may not change or delete its rows.
 */
import { Effect, Layer } from "effect"
import { type AuditEntry, AuditTrailStore } from "../../../domain/operator/AuditTrail.ts"
import { pageOf } from "../../../domain/shared/Page.ts"
import { toDate } from "../shared/Instants.ts"
import { beginsBefore } from "../shared/NewestFirst.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toEntry = rowReader<AuditEntry>({ entry_id: "id", recorded_at: "at" })

export const layer = Layer.effect(
  AuditTrailStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return AuditTrailStore.of({
      append: Effect.fn("PostgresAuditTrailStore.append")(
        (entry) => sql`
          INSERT INTO audit_trail (entry_id, recorded_at, action, actor, session_id, address, subject, reason, details)
          VALUES (${entry.id}, ${toDate(entry.at)}, ${entry.action}, ${entry.actor}, ${entry.sessionId ?? null}::uuid,
            ${entry.address}, ${entry.subject ?? null}, ${entry.reason ?? null}, ${entry.details ?? null})`,
        Effect.asVoid
      ),

      list: Effect.fn("PostgresAuditTrailStore.list")(function* ({ action, subject }, page) {
        const where = sql.and([
          sql`true`,
          ...(action === undefined ? [] : [sql`action = ${action}`]),
          ...(subject === undefined ? [] : [sql`subject = ${subject}`])
        ])
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM audit_trail WHERE ${where}`.unprepared.one((row) => Number(row.total))
        const rows = yield* sql`
          SELECT * FROM audit_trail WHERE ${where} AND entry_id < ${beginsBefore(page)}
          ORDER BY entry_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toEntry)
        return pageOf(rows, page.limit, total, ({ id }) => ({ key: "", id }))
      })
    })
  })
)
