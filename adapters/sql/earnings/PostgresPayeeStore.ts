/**
 * Payees in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { type Payee, PayeeStore } from "../../../domain/earnings/PayoutStore.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { toDate } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

/** The status is JSON text that only this store writes and reads. */
const toPayee = rowReader<Payee>({ standing: "status" }, { standing: (text: string) => JSON.parse(text) as unknown })

const FIRST_ID = "00000000-0000-0000-0000-000000000000"

export const layer = Layer.effect(
  PayeeStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal("provider_id, automatic, reserve_lifted, updated_at, standing")

    return PayeeStore.of({
      find: (providerId) => sql`SELECT ${columns} FROM payees WHERE provider_id = ${providerId}`.first(toPayee),

      findByAccount: (accountId) => sql`SELECT ${columns} FROM payees WHERE account_id = ${accountId}`.first(toPayee),

      putStatus: Effect.fn("PostgresPayeeStore.putStatus")(
        (providerId, standing, at) => sql`
          INSERT INTO payees (provider_id, account_id, standing, updated_at)
          VALUES (${providerId}, ${standing.accountId}, ${JSON.stringify(standing)}, ${toDate(at)})
          ON CONFLICT (provider_id) DO UPDATE SET account_id = excluded.account_id, standing = excluded.standing,
            updated_at = excluded.updated_at`,
        Effect.asVoid
      ),

      putAutomatic: Effect.fn("PostgresPayeeStore.putAutomatic")(
        (providerId, automatic, at) => sql`
          INSERT INTO payees (provider_id, automatic, updated_at)
          VALUES (${providerId}, ${automatic}, ${toDate(at)})
          ON CONFLICT (provider_id) DO UPDATE SET automatic = excluded.automatic, updated_at = excluded.updated_at`,
        Effect.asVoid
      ),

      putReserveLifted: Effect.fn("PostgresPayeeStore.putReserveLifted")(
        (providerId, lifted, at) => sql`
          INSERT INTO payees (provider_id, reserve_lifted, updated_at)
          VALUES (${providerId}, ${lifted}, ${toDate(at)})
          ON CONFLICT (provider_id) DO UPDATE SET reserve_lifted = excluded.reserve_lifted,
            updated_at = excluded.updated_at`,
        Effect.asVoid
      ),

      automatic: Effect.fn("PostgresPayeeStore.automatic")((after, limit) =>
        sql<{ readonly provider_id: string }>`
          SELECT provider_id FROM payees WHERE automatic AND provider_id > ${after ?? FIRST_ID}
          ORDER BY provider_id LIMIT ${limit}`.all((row) => ProviderId.make(row.provider_id))
      )
    })
  })
)
