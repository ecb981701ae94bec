/**
 * Accounts in PostgreSQL.
 */
import { Array as Arr, Effect, Layer, Option } from "effect"
import type { Consumer, Erasure, PricingModel, Provider } from "../../../domain/accounts/Account.ts"
import { AccountStore } from "../../../domain/accounts/AccountStore.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { toDate, toInstant } from "../shared/Instants.ts"
import { storeSql } from "../shared/StoreSql.ts"

interface ProviderRow {
  readonly id: string
  readonly handle: string
  readonly name: string
  readonly email: string
  readonly endpoint_url: string
  readonly description: string
  readonly pricing_model: PricingModel
  readonly default_price_microcents: bigint
  readonly created_at: Date
}

interface ConsumerRow {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly use_case: string
  readonly rate_limit_rpm: number
  readonly default_cap_microcents: bigint | null
  readonly created_at: Date
}

interface ErasureRow {
  readonly owner_id: string
  readonly role: Erasure["role"]
  readonly erased_by: string
  readonly erased_at: Date
  readonly left_microcents: bigint
}

export const layer = Layer.effect(
  AccountStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    return AccountStore.of({
      insertProvider: Effect.fn("PostgresAccountStore.insertProvider")(
        (provider) => sql`
          INSERT INTO providers
            (id, handle, name, email, endpoint_url, description, pricing_model, default_price_microcents, created_at)
          VALUES (${provider.id}, ${provider.handle}, ${provider.name}, ${provider.email}, ${provider.endpointUrl}, ${provider.description},
            ${provider.pricingModel}, ${provider.defaultPrice}, ${toDate(provider.createdAt)})`,
        Effect.asVoid
      ),

      insertConsumer: Effect.fn("PostgresAccountStore.insertConsumer")(
        (consumer) => sql`
          INSERT INTO consumers (id, name, email, use_case, rate_limit_rpm, default_cap_microcents, created_at)
          VALUES (${consumer.id}, ${consumer.name}, ${consumer.email}, ${consumer.useCase}, ${consumer.rateLimitRpm},
            ${consumer.defaultCap ?? null}::int8, ${toDate(consumer.createdAt)})`,
        Effect.asVoid
      ),

      findProvider: Effect.fn("PostgresAccountStore.findProvider")(
        (id) => sql<ProviderRow>`SELECT * FROM providers WHERE id = ${id}`,
        Effect.map((rows) => Option.map(Arr.head(rows), toProvider))
      ),

      findConsumer: Effect.fn("PostgresAccountStore.findConsumer")(
        (id) => sql<ConsumerRow>`SELECT * FROM consumers WHERE id = ${id}`,
        Effect.map((rows) => Option.map(Arr.head(rows), toConsumer))
      ),

      updateProvider: Effect.fn("PostgresAccountStore.updateProvider")(
        (provider) => sql`
          UPDATE providers SET handle = ${provider.handle}, name = ${provider.name}, email = ${provider.email}, endpoint_url = ${provider.endpointUrl},
            description = ${provider.description}, pricing_model = ${provider.pricingModel},
            default_price_microcents = ${provider.defaultPrice} WHERE id = ${provider.id}`,
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

      erasureOf: Effect.fn("PostgresAccountStore.erasureOf")(
        (id) => sql<ErasureRow>`SELECT * FROM erasures WHERE owner_id = ${id}`,
        Effect.map((rows) => Option.map(Arr.head(rows), toErasure))
      ),

      counts: sql<{ readonly providers: bigint; readonly consumers: bigint }>`
        SELECT (SELECT count(*) FROM providers) AS providers, (SELECT count(*) FROM consumers) AS consumers`.pipe(
        Effect.map(([row]) => ({ providers: Number(row!.providers), consumers: Number(row!.consumers) }))
      )
    })
  })
)

const toProvider = (row: ProviderRow): Provider => ({
  id: ProviderId.make(row.id),
  handle: row.handle,
  name: row.name,
  email: row.email,
  endpointUrl: row.endpoint_url,
  description: row.description,
  pricingModel: row.pricing_model,
  defaultPrice: Microcents.make(row.default_price_microcents),
  createdAt: toInstant(row.created_at)
})

const toConsumer = (row: ConsumerRow): Consumer => ({
  id: ConsumerId.make(row.id),
  name: row.name,
  email: row.email,
  useCase: row.use_case,
  rateLimitRpm: row.rate_limit_rpm,
  defaultCap: row.default_cap_microcents === null ? undefined : Microcents.make(row.default_cap_microcents),
  createdAt: toInstant(row.created_at)
})

const toErasure = (row: ErasureRow): Erasure => ({
  ownerId: row.role === "consumer" ? ConsumerId.make(row.owner_id) : ProviderId.make(row.owner_id),
  role: row.role,
  by: row.erased_by,
  at: toInstant(row.erased_at),
  leftMicrocents: row.left_microcents
})
