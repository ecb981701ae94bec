/**
 * Claims in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type Claim, ClaimStore, type ClaimTotals } from "../../../domain/earnings/Claims.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX, pageOf } from "../../../domain/shared/Page.ts"
import { toDate } from "../shared/Instants.ts"
import { beginsBefore } from "../shared/NewestFirst.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"

const toClaim = rowReader<Claim>({ claim_id: "id" })

export const layer = Layer.effect(
  ClaimStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const totals = sql`
      SELECT
        coalesce(sum(amount - paid) FILTER (WHERE debtor IS NOT NULL AND creditor IS NOT NULL), 0)::int8
          AS by_providers_microcents,
        coalesce(sum(amount - paid) FILTER (WHERE debtor IS NULL), 0)::int8 AS by_platform_microcents,
        coalesce(sum(amount - paid) FILTER (WHERE creditor IS NULL), 0)::int8 AS advanced_microcents
      FROM claims WHERE paid < amount`
      .one(rowReader<ClaimTotals>())
      .pipe(Effect.withSpan("PostgresClaimStore.totals"))

    return ClaimStore.of({
      insert: Effect.fn("PostgresClaimStore.insert")(
        (claim) => sql`
          INSERT INTO claims (claim_id, subject, debtor, creditor, amount, credit, paid, created_at)
          VALUES (${claim.id}, ${claim.subject}, ${claim.debtor ?? null}, ${claim.creditor ?? null}, ${claim.amount},
            ${claim.credit}, ${claim.paid}, ${toDate(claim.createdAt)})`,
        Effect.asVoid
      ),

      lockOpen: Effect.fn("PostgresClaimStore.lockOpen")((debtor, limit) =>
        sql`
          SELECT * FROM claims
          WHERE ${debtor === undefined ? sql`debtor IS NULL` : sql`debtor = ${debtor}`} AND paid < amount
          ORDER BY created_at, claim_id LIMIT ${limit} FOR UPDATE`.all(toClaim)
      ),

      setPaid: (id, paid) => sql`UPDATE claims SET paid = ${paid} WHERE claim_id = ${id}`.pipe(Effect.asVoid),

      debtors: Effect.fn("PostgresClaimStore.debtors")((after, limit) =>
        sql<{ readonly debtor: string }>`
          SELECT DISTINCT debtor FROM claims WHERE paid < amount AND debtor > ${after ?? BEFORE_ALL}
          ORDER BY debtor LIMIT ${limit}`.all((row) => ProviderId.make(row.debtor))
      ),

      list: Effect.fn("PostgresClaimStore.list")(function* (openOnly, page) {
        const where = openOnly ? sql`paid < amount` : sql`true`
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM (SELECT FROM claims WHERE ${where} LIMIT ${COUNTED_MAX}) counted`.unprepared.one(
          (row) => Number(row.total)
        )
        const rows = yield* sql`
          SELECT * FROM claims WHERE ${where} AND claim_id < ${beginsBefore(page)}
          ORDER BY claim_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toClaim)
        return pageOf(rows, page.limit, total, ({ id }) => ({ key: "", id }))
      }),

      ofSubjects: Effect.fn("PostgresClaimStore.ofSubjects")((subjects) =>
        subjects.length === 0
          ? Effect.succeed([])
          : sql`
            SELECT * FROM claims WHERE subject = ANY (${subjects}::uuid[]) ORDER BY created_at, claim_id`.all(toClaim)
      ),

      owedBy: Effect.fn("PostgresClaimStore.owedBy")((debtor) =>
        sql<{ readonly owed: bigint }>`
          SELECT coalesce(sum(amount - paid), 0)::int8 AS owed FROM claims
          WHERE debtor = ${debtor} AND paid < amount`.one(({ owed }) => owed)
      ),

      owedTo: Effect.fn("PostgresClaimStore.owedTo")((creditor) =>
        sql<{ readonly owed: bigint }>`
          SELECT coalesce(sum(amount - paid), 0)::int8 AS owed FROM claims
          WHERE creditor = ${creditor} AND paid < amount`.one(({ owed }) => owed)
      ),

      totals,

      lockAdvanced: Effect.gen(function* () {
        yield* sql`LOCK TABLE claims IN SHARE ROW EXCLUSIVE MODE`
        return (yield* totals).advancedMicrocents
      })
    })
  })
)
