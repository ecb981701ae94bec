/**
 * The evidence about a provider besides its calls, in few statements: a round trip costs more than any of their parts.
 */
import { Array as Arr, DateTime, Effect, Option } from "effect"
import type { Statement } from "effect/sql"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import type { ProofLevel } from "../../../domain/trust/Challenge.ts"
import { countedCallsOf, scoredDisputesOf } from "../../../domain/trust/PaidCalls.ts"
import { type Evidence, ProviderEvidence } from "../../../domain/trust/Trust.ts"
import { toDate, toInstant } from "../shared/Rows.ts"
import { storeLayer } from "../shared/StoreSql.ts"
import { FILED_BY_CODE, readRulings, TALLY_COLUMNS, tallyOf, type TallyRow } from "./PostgresDisputeStore.ts"
import { readPayers } from "./PostgresSlaStore.ts"
import { HIGHEST_LEVEL_FIRST } from "./PostgresVerificationStore.ts"

interface EvidenceRow extends TallyRow {
  readonly name: string
  readonly level: ProofLevel | null
  readonly verified_at: Date | null
}

interface ScoreRow extends EvidenceRow {
  readonly calls: bigint
  readonly dates: ReadonlyArray<string>
  readonly scores: ReadonlyArray<number>
}

export const layer = storeLayer(ProviderEvidence, (sql) => {
  const counts = sql.literal(TALLY_COLUMNS)
  const highestFirst = sql.literal(HIGHEST_LEVEL_FIRST)

  /** Joins only single rows, so that the planner cannot choose a bad plan. */
  const read = <R extends EvidenceRow>(providerId: ProviderId, since: DateTime.Utc, more: Statement.Fragment) => sql<R>`
    SELECT p.name, d.*, v.level, v.verified_at ${more} FROM providers p
    CROSS JOIN LATERAL (
      SELECT ${counts} FROM disputes WHERE provider_id = ${providerId} AND filed_by = ${FILED_BY_CODE.agent}
        AND created_at >= ${toDate(since)}) d
    LEFT JOIN LATERAL (
      SELECT level, verified_at FROM provider_proofs WHERE provider_id = ${providerId} AND verified_at IS NOT NULL
      ORDER BY ${highestFirst} LIMIT 1) v ON true
    WHERE p.id = ${providerId}`

  return {
    ofSla: (providerId, since) => read<EvidenceRow>(providerId, since, sql``).first(toEvidence),

    ofScore: Effect.fnUntraced(function* (providerId, since) {
      const sinceDate = DateTime.formatIsoDateUtc(since)
      const scores = sql`FROM provider_scores WHERE provider_id = ${providerId} AND day >= ${sinceDate}::text::date
        ORDER BY day`
      const whole = read<ScoreRow>(
        providerId,
        since,
        sql`, (SELECT coalesce(sum(calls), 0)::int8 FROM sla_hourly
            WHERE provider_id = ${providerId} AND tool_id = ${providerId} AND hour >= ${toDate(since)}) AS calls,
          ARRAY(SELECT to_char(day, 'YYYY-MM-DD') ${scores}) AS dates, ARRAY(SELECT score::int4 ${scores}) AS scores`
      )
      const [rows, payers, rulings] = yield* Effect.all(
        [whole, readPayers(sql, providerId, sinceDate), readRulings(sql, providerId, DateTime.startOf(since, "day"))],
        { concurrency: "unbounded" }
      )
      return Option.map(Arr.head(rows), (row) => ({
        ...toEvidence(row),
        calls: Number(row.calls),
        counted: countedCallsOf(payers, rulings),
        scored: scoredDisputesOf(rulings),
        history: row.dates.map((date, at) => ({ date, score: row.scores[at]! }))
      }))
    })
  }
})

const toEvidence = (row: EvidenceRow): Evidence => ({
  name: row.name,
  disputes: tallyOf(row),
  verified:
    row.level === null || row.verified_at === null
      ? { level: "unverified", at: undefined }
      : { level: row.level, at: toInstant(row.verified_at) }
})
