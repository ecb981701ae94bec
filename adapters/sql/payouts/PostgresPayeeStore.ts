/**
 * Payees in PostgreSQL.
 */
import { Array as Arr, type DateTime, Effect, Layer, Option } from "effect"
import type { PayeeStatus } from "../../../domain/payments/PaymentGateway.ts"
import { type Payee, PayeeStore } from "../../../domain/payouts/PayeeStore.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface PayeeRow {
  readonly provider_id: string
  /** JSON text that only this store writes and reads. */
  readonly standing: string | null
  readonly automatic: boolean
  readonly reserve_lifted: boolean
  readonly updated_at: Date
}

const FIRST_ID = "00000000-0000-0000-0000-000000000000"

export const layer = Layer.effect(
  PayeeStore,
  Effect.gen(function* () {
    const sql = yield* storeSql

    const first = (rows: ReadonlyArray<PayeeRow>) => Option.map(Arr.head(rows), toPayee)

    const putStatus = Effect.fn("PostgresPayeeStore.putStatus")(function* (
      providerId: ProviderId,
      standing: PayeeStatus,
      at: DateTime.Utc
    ) {
      yield* sql`INSERT INTO payees (provider_id, account_id, standing, updated_at)
        VALUES (${providerId}, ${standing.accountId}, ${JSON.stringify(standing)}, ${toDate(at)})
        ON CONFLICT (provider_id) DO UPDATE SET account_id = excluded.account_id, standing = excluded.standing,
          updated_at = excluded.updated_at`
    })

    const putAutomatic = Effect.fn("PostgresPayeeStore.putAutomatic")(function* (
      providerId: ProviderId,
      automatic: boolean,
      at: DateTime.Utc
    ) {
      yield* sql`INSERT INTO payees (provider_id, automatic, updated_at)
        VALUES (${providerId}, ${automatic}, ${toDate(at)})
        ON CONFLICT (provider_id) DO UPDATE SET automatic = excluded.automatic, updated_at = excluded.updated_at`
    })

    const putReserveLifted = Effect.fn("PostgresPayeeStore.putReserveLifted")(function* (
      providerId: ProviderId,
      lifted: boolean,
      at: DateTime.Utc
    ) {
      yield* sql`INSERT INTO payees (provider_id, reserve_lifted, updated_at)
        VALUES (${providerId}, ${lifted}, ${toDate(at)})
        ON CONFLICT (provider_id) DO UPDATE SET reserve_lifted = excluded.reserve_lifted,
          updated_at = excluded.updated_at`
    })

    const automatic = Effect.fn("PostgresPayeeStore.automatic")(function* (
      after: ProviderId | undefined,
      limit: number
    ) {
      const rows = yield* sql<{ readonly provider_id: string }>`
        SELECT provider_id FROM payees WHERE automatic AND provider_id > ${after ?? FIRST_ID}
        ORDER BY provider_id LIMIT ${limit}`
      return rows.map((row) => ProviderId.make(row.provider_id))
    })

    return PayeeStore.of({
      find: (providerId) =>
        sql<PayeeRow>`SELECT * FROM payees WHERE provider_id = ${providerId}`.pipe(Effect.map(first)),
      findByAccount: (accountId) =>
        sql<PayeeRow>`SELECT * FROM payees WHERE account_id = ${accountId}`.pipe(Effect.map(first)),
      putStatus,
      putAutomatic,
      putReserveLifted,
      automatic
    })
  })
)

const toPayee = (row: PayeeRow): Payee => ({
  providerId: ProviderId.make(row.provider_id),
  status: row.standing === null ? undefined : (JSON.parse(row.standing) as PayeeStatus),
  automatic: row.automatic,
  reserveLifted: row.reserve_lifted,
  updatedAt: toInstant(row.updated_at)
})
