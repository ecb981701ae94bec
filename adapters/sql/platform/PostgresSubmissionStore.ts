/**
 * Feedback and applications in PostgreSQL.
 */
import { type DateTime, Effect, Layer } from "effect"
import { type Submission, type SubmissionKind, SubmissionStore } from "../../../domain/platform/SubmissionStore.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface SubmissionRow {
  readonly id: string
  readonly kind: SubmissionKind
  readonly content: Submission["content"]
  readonly submitted_at: Date
}

export const layer = Layer.effect(
  SubmissionStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const add = Effect.fn("PostgresSubmissionStore.add")(function* ({ content, id, kind, submittedAt }: Submission) {
      yield* sql`INSERT INTO submissions (id, kind, content, submitted_at)
        VALUES (${id}, ${kind}, ${JSON.stringify(content)}::text::json, ${toDate(submittedAt)})`
    })

    const recent = Effect.fn("PostgresSubmissionStore.recent")(function* (kind: SubmissionKind, limit: number) {
      const rows = yield* sql<SubmissionRow>`SELECT * FROM submissions WHERE kind = ${kind}
        ORDER BY submitted_at DESC, id DESC LIMIT ${limit}`
      return rows.map(toSubmission)
    })

    const count = Effect.fn("PostgresSubmissionStore.count")(function* (kind: SubmissionKind, since?: DateTime.Utc) {
      const [row] = yield* since === undefined
        ? sql<{ readonly found: bigint }>`SELECT count(*) AS found FROM submissions WHERE kind = ${kind}`
        : sql<{ readonly found: bigint }>`SELECT count(*) AS found FROM submissions
            WHERE kind = ${kind} AND submitted_at >= ${toDate(since)}`
      return Number(row!.found)
    })

    const eraseOf = Effect.fn("PostgresSubmissionStore.eraseOf")(function* (contact: string) {
      const rows = yield* sql`UPDATE submissions SET content = '{}'
        WHERE lower(btrim(content ->> 'contact')) = lower(${contact}) RETURNING id`
      return rows.length
    })

    return SubmissionStore.of({ add, recent, eraseOf, count })
  })
)

const toSubmission = (row: SubmissionRow): Submission => ({
  id: row.id,
  kind: row.kind,
  content: row.content,
  submittedAt: toInstant(row.submitted_at)
})
