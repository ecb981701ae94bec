/**
 * Accounts in PostgreSQL.
 */
import { Effect, Layer } from "effect"
import { AccountStore, type Consumer, type Erasure } from "../../../domain/accounts/Account.ts"
import { FEE_CHANGES_SHOWN_MAX } from "../../../domain/ledger/PlatformFee.ts"
import { toDate, toDateOrNull } from "../shared/Instants.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { FEE_COLUMNS, type FeeChangeRow, type FeeRow, toFee, toFeeChange } from "./ProviderFeeRows.ts"
import { type FrozenRow, PROVIDER_COLUMNS, toProvider } from "./ProviderRows.ts"

const toConsumer = rowReader<Consumer>({ default_cap_microcents: "defaultCap" })
const toErasure = rowReader<Erasure>({ erased_by: "by", erased_at: "at" })

export const layer = Layer.effect(
  AccountStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return AccountStore.of({
      insertProvider: Effect.fn("PostgresAccountStore.insertProvider")(
        (provider) => sql`
          WITH added AS (
            INSERT INTO providers
              (id, handle, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at)
            VALUES (${provider.id}, ${provider.handle}, ${provider.name}, ${provider.email}, ${provider.endpointUrl}, ${provider.description},
              ${provider.pricingModel}, ${provider.defaultPrice}, ${toDate(provider.createdAt)})
            RETURNING id, created_at
          )
          INSERT INTO provider_fees (provider_id, revision, recorded_at, recorded_by)
          SELECT id, 1, created_at, 'registration' FROM added`,
        Effect.asVoid
      ),

      insertConsumer: Effect.fn("PostgresAccountStore.insertConsumer")(
        (consumer) => sql`
          INSERT INTO consumers (id, name, email, use_case, rate_limit_rpm, default_cap_microcents, created_at)
          VALUES (${consumer.id}, ${consumer.name}, ${consumer.email}, ${consumer.useCase}, ${consumer.rateLimitRpm},
            ${consumer.defaultCap ?? null}::int8, ${toDate(consumer.createdAt)})`,
        Effect.asVoid
      ),

      findProvider: Effect.fn("PostgresAccountStore.findProvider")((id) =>
        sql<FrozenRow>`SELECT ${sql.literal(PROVIDER_COLUMNS)} FROM providers WHERE id = ${id}`.first(toProvider)
      ),

      findConsumer: Effect.fn("PostgresAccountStore.findConsumer")((id) =>
        sql`SELECT * FROM consumers WHERE id = ${id}`.first(toConsumer)
      ),

      feeOf: Effect.fn("PostgresAccountStore.feeOf")(function* (id) {
        const lock = sql.literal((yield* sql.isInTransaction) ? "FOR NO KEY UPDATE" : "")
        return yield* sql<FeeRow>`
          SELECT ${sql.literal(FEE_COLUMNS)} FROM providers p WHERE id = ${id} ${lock}`.first(toFee)
      }),

      setFee: Effect.fn("PostgresAccountStore.setFee")(
        (id, { at, by, fee: { own, upcoming }, reason }) => sql`
          WITH changed AS (
            UPDATE providers SET fee_bps = ${own ?? null}::int2, upcoming_fee_bps = ${upcoming?.own ?? null}::int2,
              upcoming_fee_from = ${toDateOrNull(upcoming?.effectiveFrom)}::timestamptz WHERE id = ${id}
            RETURNING id, fee_bps, upcoming_fee_bps, upcoming_fee_from
          )
          INSERT INTO provider_fees
            (provider_id, revision, fee_bps, upcoming_fee_bps, upcoming_fee_from, recorded_at, recorded_by, reason)
          SELECT id, (SELECT max(revision) + 1 FROM provider_fees WHERE provider_id = id), fee_bps, upcoming_fee_bps,
            upcoming_fee_from, ${toDate(at)}, ${by}, ${reason ?? null}
          FROM changed`,
        Effect.asVoid
      ),

      feeHistory: Effect.fn("PostgresAccountStore.feeHistory")((id) =>
        sql<FeeChangeRow>`
          SELECT ${sql.literal(FEE_COLUMNS)}, recorded_at, recorded_by, reason FROM provider_fees p WHERE provider_id = ${id}
          ORDER BY revision DESC LIMIT ${FEE_CHANGES_SHOWN_MAX}`.all(toFeeChange)
      ),

      setFeaturesOff: Effect.fn("PostgresAccountStore.setFeaturesOff")(
        (id, features) => sql`
          UPDATE providers SET features_off = ${features.length === 0 ? null : features}::text[] WHERE id = ${id}`,
        Effect.asVoid
      ),

      setFrozen: Effect.fn("PostgresAccountStore.setFrozen")(
        (id, freeze) => sql`
          UPDATE providers SET frozen_at = ${toDateOrNull(freeze?.at)}::timestamptz, frozen_reason = ${freeze?.reason ?? null}
          WHERE id = ${id}`,
        Effect.asVoid
      ),

      updateProvider: Effect.fn("PostgresAccountStore.updateProvider")(
        (provider) => sql`
          UPDATE providers SET handle = ${provider.handle}, name = ${provider.name}, email = ${provider.email}, endpoint_url = ${provider.endpointUrl},
            description = ${provider.description}, pricing_model = ${provider.pricingModel},
            default_price_microcents = ${provider.defaultPrice} WHERE id = ${provider.id}`,
        Effect.asVoid
      ),

      changeProvider: Effect.fn("PostgresAccountStore.changeProvider")(
        (id, { description, email, endpointUrl, name }) => sql`
          UPDATE providers SET name = COALESCE(${name ?? null}::text, name), email = COALESCE(${email ?? null}::text, email),
            endpoint_url = COALESCE(${endpointUrl ?? null}::text, endpoint_url),
            description = COALESCE(${description ?? null}::text, description) WHERE id = ${id}`,
        Effect.asVoid
      ),

      updateConsumer: Effect.fn("PostgresAccountStore.updateConsumer")(
        (consumer) => sql`
          UPDATE consumers SET name = ${consumer.name}, email = ${consumer.email}, use_case = ${consumer.useCase},
            rate_limit_rpm = ${consumer.rateLimitRpm} WHERE id = ${consumer.id}`,
        Effect.asVoid
      ),

      setDefaultCap: Effect.fn("PostgresAccountStore.setDefaultCap")(
        (id, cap) => sql`UPDATE consumers SET default_cap_microcents = ${cap ?? null}::int8 WHERE id = ${id}`,
        Effect.asVoid
      ),

      recordErasure: Effect.fn("PostgresAccountStore.recordErasure")(
        (erasure) => sql`
          INSERT INTO erasures (owner_id, role, erased_by, erased_at, left_microcents)
          VALUES (${erasure.ownerId}, ${erasure.role}, ${erasure.by}, ${toDate(erasure.at)}, ${erasure.leftMicrocents})
          ON CONFLICT (owner_id) DO NOTHING`,
        Effect.asVoid
      ),

      erasureOf: Effect.fn("PostgresAccountStore.erasureOf")((id) =>
        sql`SELECT * FROM erasures WHERE owner_id = ${id}`.first(toErasure)
      ),

      counts: sql<{ readonly providers: bigint; readonly consumers: bigint }>`
        SELECT (SELECT count(*) FROM providers) AS providers, (SELECT count(*) FROM consumers) AS consumers`.one(
        ({ consumers, providers }) => ({ providers: Number(providers), consumers: Number(consumers) })
      )
    })
  })
)
