/**
 * Claims in PostgreSQL.
 */
import { type DateTime, Effect, Layer } from "effect"
import { type Claim, ClaimId } from "../../../domain/refunds/Claim.ts"
import { ClaimStore, type ClaimTotals } from "../../../domain/refunds/ClaimStore.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface ClaimRow {
  readonly claim_id: string
  readonly subject: string
  readonly debtor: string | null
  readonly creditor: string | null
  readonly amount: bigint
  readonly paid: bigint
  readonly created_at: Date
}

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"

export const layer = Layer.effect(
  ClaimStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const insert = Effect.fn("PostgresClaimStore.insert")(function* (claim: Claim) {
      yield* sql`INSERT INTO claims (claim_id, subject, debtor, creditor, amount, paid, created_at)
        VALUES (${claim.id}, ${claim.subject}, ${claim.debtor ?? null}, ${claim.creditor ?? null}, ${claim.amount},
          ${claim.paid}, ${toDate(claim.createdAt satisfies DateTime.Utc)})`
    })

    const lockOpen = Effect.fn("PostgresClaimStore.lockOpen")(function* (
      debtor: ProviderId | undefined,
      limit: number
    ) {
      const owedBy = debtor === undefined ? sql`debtor IS NULL` : sql`debtor = ${debtor}`
      const rows = yield* sql<ClaimRow>`SELECT * FROM claims WHERE ${owedBy} AND paid < amount
        ORDER BY created_at, claim_id LIMIT ${limit} FOR UPDATE`
      return rows.map(toClaim)
    })

    const debtors = Effect.fn("PostgresClaimStore.debtors")(function* (after: ProviderId | undefined, limit: number) {
      const rows = yield* sql<{ readonly debtor: string }>`
        SELECT DISTINCT debtor FROM claims WHERE paid < amount AND debtor > ${after ?? BEFORE_ALL}
        ORDER BY debtor LIMIT ${limit}`
      return rows.map((row) => ProviderId.make(row.debtor))
    })

    const ofSubjects = Effect.fn("PostgresClaimStore.ofSubjects")(function* (subjects: ReadonlyArray<string>) {
      if (subjects.length === 0) return []
      const rows = yield* sql<ClaimRow>`SELECT * FROM claims WHERE subject = ANY (${subjects}::uuid[])
        ORDER BY created_at, claim_id`
      return rows.map(toClaim)
    })

    const owedBy = Effect.fn("PostgresClaimStore.owedBy")(function* (debtor: ProviderId) {
      const [row] = yield* sql<{ readonly owed: bigint }>`
        SELECT coalesce(sum(amount - paid), 0)::int8 AS owed FROM claims WHERE debtor = ${debtor} AND paid < amount`
      return row!.owed
    })

    const owedTo = Effect.fn("PostgresClaimStore.owedTo")(function* (creditor: ConsumerId) {
      const [row] = yield* sql<{ readonly owed: bigint }>`
        SELECT coalesce(sum(amount - paid), 0)::int8 AS owed FROM claims WHERE creditor = ${creditor} AND paid < amount`
      return row!.owed
    })

    const totals = Effect.gen(function* () {
      const [row] = yield* sql<ClaimTotals>`
        SELECT
          coalesce(sum(amount - paid) FILTER (WHERE debtor IS NOT NULL AND creditor IS NOT NULL), 0)::int8
            AS "byProvidersMicrocents",
          coalesce(sum(amount - paid) FILTER (WHERE debtor IS NULL), 0)::int8 AS "byPlatformMicrocents",
          coalesce(sum(amount - paid) FILTER (WHERE creditor IS NULL), 0)::int8 AS "advancedMicrocents"
        FROM claims WHERE paid < amount`
      return row!
    }).pipe(Effect.withSpan("PostgresClaimStore.totals"))

    const lockAdvanced = Effect.gen(function* () {
      yield* sql`LOCK TABLE claims IN SHARE ROW EXCLUSIVE MODE`
      return (yield* totals).advancedMicrocents
    })

    return ClaimStore.of({
      insert,
      lockOpen,
      setPaid: (id, paid) => sql`UPDATE claims SET paid = ${paid} WHERE claim_id = ${id}`.pipe(Effect.asVoid),
      debtors,
      ofSubjects,
      owedBy,
      owedTo,
      totals,
      lockAdvanced
    })
  })
)

const toClaim = (row: ClaimRow): Claim => ({
  id: ClaimId.make(row.claim_id),
  subject: row.subject,
  debtor: row.debtor === null ? undefined : ProviderId.make(row.debtor),
  creditor: row.creditor === null ? undefined : ConsumerId.make(row.creditor),
  amount: Microcents.make(row.amount),
  paid: Microcents.make(row.paid),
  createdAt: toInstant(row.created_at)
})
