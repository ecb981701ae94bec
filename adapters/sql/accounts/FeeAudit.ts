/**
 * Compares the fees of providers and of receipts with the history of fees. A receipt's id, which is signed, states when its
 * call was named and the fee in basis points: `CallNames` fixes both at once, and no later change affects the call. So
 * neither a fee that was changed in the database without its history, nor one that was added to the history afterwards,
 * agrees with the receipts.
 */
import { DateTime, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import { receiptOfUuid } from "../ledger/LedgerCodes.ts"
import { toDate } from "../shared/Rows.ts"

/** Nodes cache a fee for half a minute, and their clocks differ. */
const TOLERANCE = Duration.minutes(5)
/** Nodes are restarted one after the other: until then each has its own default fee. */
const RESTARTS = Duration.days(1)
const FINDINGS_MAX = 20

interface Wrong {
  readonly id: string
}

interface WrongReceipt extends Wrong {
  readonly provider_id: string
  readonly named_bps: number
}

export const auditFees = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const defaultFee = yield* DefaultFeeBasisPoints
  const seconds = (duration: Duration.Duration) => sql`${Duration.toSeconds(duration)} * interval '1 second'`

  const changed = yield* sql<Wrong>`
    SELECT p.id FROM providers p LEFT JOIN LATERAL (
      SELECT * FROM provider_fees f WHERE f.provider_id = p.id ORDER BY revision DESC LIMIT 1
    ) last ON true
    WHERE last.provider_id IS NULL OR (p.fee_bps, p.upcoming_fee_bps, p.upcoming_fee_from)
      IS DISTINCT FROM (last.fee_bps, last.upcoming_fee_bps, last.upcoming_fee_from)
    ORDER BY p.id LIMIT ${FINDINGS_MAX}`

  const incomplete = yield* sql<Wrong>`
    SELECT provider_id AS id FROM provider_fees GROUP BY provider_id HAVING count(*) <> max(revision)
    ORDER BY provider_id LIMIT ${FINDINGS_MAX}`

  const receipts = yield* sql<WrongReceipt>`
    WITH written AS (
      SELECT *, lead(recorded_at, 1, 'infinity') OVER (PARTITION BY provider_id ORDER BY revision) AS replaced_at
      FROM provider_fees
    ), spans AS (
      SELECT provider_id, fee_bps, recorded_at AS since, least(replaced_at, upcoming_fee_from) AS until FROM written
      UNION ALL SELECT provider_id, upcoming_fee_bps, upcoming_fee_from, replaced_at FROM written
      WHERE upcoming_fee_from < replaced_at
    ), defaults AS (
      SELECT fee_bps, since, until + ${seconds(RESTARTS)} AS until FROM spans WHERE provider_id = ${MARKET_OWNER}
      UNION ALL SELECT ${defaultFee}::int2, '-infinity', 'infinity'
      WHERE NOT EXISTS (SELECT 1 FROM spans WHERE provider_id = ${MARKET_OWNER})
    ), allowed AS (
      SELECT provider_id, fee_bps, since, until FROM spans WHERE fee_bps IS NOT NULL
      UNION ALL SELECT s.provider_id, d.fee_bps, greatest(s.since, d.since), least(s.until, d.until)
      FROM spans s JOIN defaults d ON d.since < s.until AND s.since < d.until
      WHERE s.fee_bps IS NULL
    ), named AS (
      SELECT receipt_id, provider_id, get_byte(uuid_send(receipt_id), 14) * 256 + get_byte(uuid_send(receipt_id), 15) AS named_bps,
        to_timestamp(('x' || left(encode(uuid_send(receipt_id), 'hex'), 12))::bit(48)::int8 / 1000.0) AS named_at
      FROM receipts WHERE provider_id IN (SELECT id FROM providers)
    )
    SELECT receipt_id AS id, provider_id, named_bps FROM named n
    WHERE NOT EXISTS (
      SELECT FROM allowed a WHERE a.provider_id = n.provider_id AND a.fee_bps = n.named_bps
        AND n.named_at >= a.since - ${seconds(TOLERANCE)} AND n.named_at < a.until + ${seconds(TOLERANCE)}
    )
    ORDER BY receipt_id LIMIT ${FINDINGS_MAX}`

  return [
    ...changed.map(({ id }) => `The fee of provider ${id} is not the last one in its history.`),
    ...incomplete.map(({ id }) => `Entries are missing in the history of the fee of ${historyOf(id)}.`),
    ...receipts.map(
      ({ id, named_bps: points, provider_id: provider }) =>
        `${receiptOfUuid(id)} has a fee of ${points} basis points, which provider ${provider} did not have then.`
    )
  ]
})

const historyOf = (id: string): string => (id === MARKET_OWNER ? "the service, the default one" : `provider ${id}`)

// The default fee of the nodes in the history of fees. A node adds it when it starts, if it is not the last one.

/** One of the nodes that start together adds it. */
export const recordDefaultFee = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const basisPoints = yield* DefaultFeeBasisPoints
  yield* sql`
    INSERT INTO provider_fees (provider_id, revision, fee_bps, recorded_at, recorded_by)
    SELECT ${MARKET_OWNER}, coalesce(max(revision), 0) + 1, ${basisPoints}::int2, ${toDate(yield* DateTime.now)}, 'a node'
    FROM provider_fees WHERE provider_id = ${MARKET_OWNER}
    HAVING (array_agg(fee_bps ORDER BY revision DESC))[1] IS DISTINCT FROM ${basisPoints}::int2
    ON CONFLICT (provider_id, revision) DO NOTHING`
})
