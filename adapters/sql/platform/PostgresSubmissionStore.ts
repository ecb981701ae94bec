/**
 * Feedback and applications in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type Submission, SubmissionStore } from "../../../domain/platform/Submissions.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

export const layer = Layer.effect(
  SubmissionStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return SubmissionStore.of({
      add: Effect.fn("PostgresSubmissionStore.add")(
        ({ content, id, kind, submittedAt }) => sql`
          INSERT INTO submissions (id, kind, content, submitted_at)
          VALUES (${id}, ${kind}, ${JSON.stringify(content)}::text::json, ${toDate(submittedAt)})`,
        Effect.asVoid
      ),

      recent: Effect.fn("PostgresSubmissionStore.recent")((kind, limit) =>
        sql`
          SELECT * FROM submissions WHERE kind = ${kind}
          ORDER BY submitted_at DESC, id DESC LIMIT ${limit}`.all(rowReader<Submission>())
      ),

      eraseOf: Effect.fn("PostgresSubmissionStore.eraseOf")(
        (contact) =>
          sql`
            UPDATE submissions SET content = '{}'
            WHERE lower(btrim(content ->> 'contact')) = lower(${contact}) RETURNING id`.count
      ),

      count: Effect.fn("PostgresSubmissionStore.count")((kind, since) =>
        sql<{ readonly found: bigint }>`
          SELECT count(*) AS found FROM submissions
          WHERE kind = ${kind} ${since === undefined ? sql`` : sql`AND submitted_at >= ${toDate(since)}`}`.one(
          ({ found }) => Number(found)
        )
      )
    })
  })
)
