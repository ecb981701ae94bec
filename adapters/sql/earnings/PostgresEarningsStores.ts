/**
 * Claims, payees and payouts in PostgreSQL.
 */
import { DateTime, Effect, Layer } from "effect"
import { type Claim, ClaimStore, type ClaimTotals } from "../../../domain/earnings/Claims.ts"
import { type Payee, PayeeStore, type Payout, PayoutStore } from "../../../domain/earnings/PayoutStore.ts"
import { PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX, pageOf } from "../../../domain/shared/Page.ts"
import { beginsBeforeTime, rowReader, toDate, toDateOrNull } from "../shared/Rows.ts"
import { pageById, storeLayer } from "../shared/StoreSql.ts"

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"

const toClaim = rowReader<Claim>({ claim_id: "id" })

const claimStore = storeLayer(ClaimStore, (sql) => {
  const totals = sql`
    SELECT
      coalesce(sum(amount - paid) FILTER (WHERE debtor IS NOT NULL AND creditor IS NOT NULL), 0)::int8
        AS by_providers_microcents,
      coalesce(sum(amount - paid) FILTER (WHERE debtor IS NULL), 0)::int8 AS by_platform_microcents,
      coalesce(sum(amount - paid) FILTER (WHERE creditor IS NULL), 0)::int8 AS advanced_microcents
    FROM claims WHERE paid < amount`.one(rowReader<ClaimTotals>())

  return {
    insert: (claim) =>
      sql`
        INSERT INTO claims (claim_id, subject, debtor, creditor, amount, credit, paid, created_at)
        VALUES (${claim.id}, ${claim.subject}, ${claim.debtor ?? null}, ${claim.creditor ?? null}, ${claim.amount},
          ${claim.credit}, ${claim.paid}, ${toDate(claim.createdAt)})`.done,

    lockOpen: (debtor, limit) =>
      sql`
        SELECT * FROM claims
        WHERE ${debtor === undefined ? sql`debtor IS NULL` : sql`debtor = ${debtor}`} AND paid < amount
        ORDER BY created_at, claim_id LIMIT ${limit} FOR UPDATE`.all(toClaim),

    setPaid: (id, paid) => sql`UPDATE claims SET paid = ${paid} WHERE claim_id = ${id}`.done,

    debtors: (after, limit) =>
      sql<{ readonly debtor: string }>`
        SELECT DISTINCT debtor FROM claims WHERE paid < amount AND debtor > ${after ?? BEFORE_ALL}
        ORDER BY debtor LIMIT ${limit}`.all((row) => ProviderId.make(row.debtor)),

    list: (openOnly, page) => {
      const where = openOnly ? sql`paid < amount` : sql`true`
      return pageById(sql, page, { table: "claims", id: "claim_id", where, countedMax: COUNTED_MAX, read: toClaim })
    },

    ofSubjects: (subjects) =>
      subjects.length === 0
        ? Effect.succeed([])
        : sql`
          SELECT * FROM claims WHERE subject = ANY (${subjects}::uuid[]) ORDER BY created_at, claim_id`.all(toClaim),

    owedBy: (debtor) =>
      sql<{ readonly owed: bigint }>`
        SELECT coalesce(sum(amount - paid), 0)::int8 AS owed FROM claims
        WHERE debtor = ${debtor} AND paid < amount`.one(({ owed }) => owed),

    owedTo: (creditor) =>
      sql<{ readonly owed: bigint }>`
        SELECT coalesce(sum(amount - paid), 0)::int8 AS owed FROM claims
        WHERE creditor = ${creditor} AND paid < amount`.one(({ owed }) => owed),

    totals,

    lockAdvanced: Effect.gen(function* () {
      yield* sql`LOCK TABLE claims IN SHARE ROW EXCLUSIVE MODE`
      return (yield* totals).advancedMicrocents
    })
  }
})

/** The status is JSON text that only this store writes and reads. */
const toPayee = rowReader<Payee>({ standing: "status" }, { standing: (text: string) => JSON.parse(text) as unknown })

const payeeStore = storeLayer(PayeeStore, (sql) => {
  const columns = sql.literal("provider_id, automatic, reserve_lifted, updated_at, standing")

  const putFlag = (id: ProviderId, flag: "automatic" | "reserve_lifted", value: boolean, at: DateTime.Utc) =>
    Effect.asVoid(sql`
      INSERT INTO payees (provider_id, ${sql(flag)}, updated_at) VALUES (${id}, ${value}, ${toDate(at)})
      ON CONFLICT (provider_id) DO UPDATE SET ${sql(flag)} = excluded.${sql(flag)}, updated_at = excluded.updated_at`)

  return {
    find: (providerId) => sql`SELECT ${columns} FROM payees WHERE provider_id = ${providerId}`.first(toPayee),

    findByAccount: (accountId) => sql`SELECT ${columns} FROM payees WHERE account_id = ${accountId}`.first(toPayee),

    putStatus: (providerId, standing, at) =>
      sql`
        INSERT INTO payees (provider_id, account_id, standing, updated_at)
        VALUES (${providerId}, ${standing.accountId}, ${JSON.stringify(standing)}, ${toDate(at)})
        ON CONFLICT (provider_id) DO UPDATE SET account_id = excluded.account_id, standing = excluded.standing,
          updated_at = excluded.updated_at`.done,

    putAutomatic: (providerId, automatic, at) => putFlag(providerId, "automatic", automatic, at),

    putReserveLifted: (providerId, lifted, at) => putFlag(providerId, "reserve_lifted", lifted, at),

    automatic: (after, limit) =>
      sql<{ readonly provider_id: string }>`
        SELECT provider_id FROM payees WHERE automatic AND provider_id > ${after ?? BEFORE_ALL}
        ORDER BY provider_id LIMIT ${limit}`.all((row) => ProviderId.make(row.provider_id))
  }
})

const toPayout = rowReader<Payout>({ payout_id: "id" }, { amount_cents: Number, reversed_cents: Number })

const payoutStore = storeLayer(PayoutStore, (sql) => ({
  insert: (payout) =>
    sql`
      INSERT INTO payouts (payout_id, provider_id, account_id, amount_cents, state, transfer_id, failure,
        reversed_cents, attempts, next_attempt_at, created_at, paid_at)
      VALUES (${payout.id}, ${payout.providerId}, ${payout.accountId}, ${BigInt(payout.amountCents)},
        ${payout.state}, ${payout.transferId ?? null}, ${payout.failure ?? null},
        ${BigInt(payout.reversedCents)}, ${payout.attempts}, ${toDate(payout.nextAttemptAt)},
        ${toDate(payout.createdAt)}, ${toDateOrNull(payout.paidAt)}::timestamptz)
      ON CONFLICT DO NOTHING RETURNING payout_id`.hasRows,

  find: (id) => sql`SELECT * FROM payouts WHERE payout_id = ${id}`.first(toPayout),

  openOf: (providerId) =>
    sql`
      SELECT * FROM payouts
      WHERE provider_id = ${providerId} AND state IN ('requested', 'transferring')`.first(toPayout),

  lock: (id) => sql`SELECT * FROM payouts WHERE payout_id = ${id} FOR UPDATE`.first(toPayout),

  update: (payout) =>
    sql`
      UPDATE payouts SET state = ${payout.state}, transfer_id = ${payout.transferId ?? null},
        failure = ${payout.failure ?? null}, reversed_cents = ${BigInt(payout.reversedCents)},
        attempts = ${payout.attempts}, next_attempt_at = ${toDate(payout.nextAttemptAt)},
        paid_at = ${toDateOrNull(payout.paidAt)}::timestamptz
      WHERE payout_id = ${payout.id}`.done,

  due: (now, limit) =>
    sql<{ readonly payout_id: string }>`
      SELECT payout_id FROM payouts
      WHERE state IN ('requested', 'transferring') AND next_attempt_at <= ${toDate(now)}
      ORDER BY next_attempt_at, payout_id LIMIT ${limit}`.all((row) => PayoutId.make(row.payout_id)),

  list: Effect.fnUntraced(function* ({ providerId, state }, page) {
    const where = sql.and([
      sql`true`,
      ...(state === undefined ? [] : [sql`state = ${state}`]),
      ...(providerId === undefined ? [] : [sql`provider_id = ${providerId}`])
    ])
    const total = yield* sql`
      SELECT count(*) FROM (SELECT 1 FROM payouts WHERE ${where} LIMIT ${COUNTED_MAX}) counted`.unprepared.number
    const before = beginsBeforeTime(page)
    const rows = yield* sql`
      SELECT * FROM payouts WHERE ${where} AND (created_at, payout_id) < (${before.at}, ${before.id}::uuid)
      ORDER BY created_at DESC, payout_id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toPayout)
    return pageOf(rows, page.limit, total, ({ createdAt, id }) => ({ key: DateTime.formatIso(createdAt), id }))
  }),

  history: (providerId, limit) =>
    sql`
      SELECT * FROM payouts WHERE provider_id = ${providerId}
      ORDER BY created_at DESC, payout_id DESC LIMIT ${limit}`.all(toPayout)
}))

export const layer = Layer.mergeAll(claimStore, payeeStore, payoutStore)
