/**
 * The default fee of the nodes in the history of fees. A node adds it when it starts, if it is not the last one.
 */
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import { toDate } from "../shared/Instants.ts"

/** Of nodes that start together, one adds it. */
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
