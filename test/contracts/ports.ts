/**
 * The ports of accounts, catalogue, idempotency and change feed, once over memory and once over PostgreSQL: what every
 * contract suite and every test of a domain service runs on.
 */
import { Clock, Duration, Layer, Redacted } from "effect"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeSealer from "../../adapters/crypto/NodeSealer.ts"
import * as AjvJsonSchemas from "../../adapters/jsonschema/AjvJsonSchemas.ts"
import * as MemoryAccountStore from "../../adapters/memory/MemoryAccountStore.ts"
import * as MemoryCatalogStore from "../../adapters/memory/MemoryCatalogStore.ts"
import * as MemoryChangeFeed from "../../adapters/memory/MemoryChangeFeed.ts"
import * as MemoryHandleStore from "../../adapters/memory/MemoryHandleStore.ts"
import * as MemoryIdempotencyStore from "../../adapters/memory/MemoryIdempotencyStore.ts"
import * as MemoryKeyStore from "../../adapters/memory/MemoryKeyStore.ts"
import * as MemoryNamePinStore from "../../adapters/memory/MemoryNamePinStore.ts"
import { MemoryTables } from "../../adapters/memory/MemoryTables.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/MemoryUnitOfWork.ts"
import * as MemoryVerificationStore from "../../adapters/memory/MemoryVerificationStore.ts"
import * as PostgresAccountStore from "../../adapters/sql/PostgresAccountStore.ts"
import * as PostgresCatalogStore from "../../adapters/sql/PostgresCatalogStore.ts"
import * as PostgresChangeFeed from "../../adapters/sql/PostgresChangeFeed.ts"
import * as PostgresHandleStore from "../../adapters/sql/PostgresHandleStore.ts"
import * as PostgresIdempotencyStore from "../../adapters/sql/PostgresIdempotencyStore.ts"
import * as PostgresKeyStore from "../../adapters/sql/PostgresKeyStore.ts"
import * as PostgresNamePinStore from "../../adapters/sql/PostgresNamePinStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/PostgresUnitOfWork.ts"
import * as PostgresVerificationStore from "../../adapters/sql/PostgresVerificationStore.ts"
import { Authentication } from "../../domain/accounts/Authentication.ts"
import { DefaultCaps } from "../../domain/accounts/DefaultCaps.ts"
import { Handles } from "../../domain/accounts/Handles.ts"
import { Keys } from "../../domain/accounts/Keys.ts"
import { Registration } from "../../domain/accounts/Registration.ts"
import { PriceNotice } from "../../domain/catalog/PriceNotice.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { Idempotency } from "../../domain/shared/Idempotency.ts"
import type { AccountStore } from "../../domain/accounts/AccountStore.ts"
import type { HandleStore } from "../../domain/accounts/HandleStore.ts"
import type { KeyStore } from "../../domain/accounts/KeyStore.ts"
import type { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import type { JsonSchemas } from "../../domain/catalog/JsonSchemas.ts"
import type { NamePinStore } from "../../domain/metering/NamePinStore.ts"
import type { VerificationStore } from "../../domain/trust/VerificationStore.ts"
import type { ChangeFeed } from "../../domain/shared/ChangeFeed.ts"
import type { Digest } from "../../domain/shared/Digest.ts"
import type { Entropy } from "../../domain/shared/Entropy.ts"
import type { IdempotencyStore } from "../../domain/shared/IdempotencyStore.ts"
import type { Sealer } from "../../domain/shared/Sealer.ts"
import type { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { PostgresTest } from "../support/postgres.ts"

export type Ports =
  | AccountStore
  | CatalogStore
  | ChangeFeed
  | Digest
  | Entropy
  | HandleStore
  | IdempotencyStore
  | JsonSchemas
  | KeyStore
  | NamePinStore
  | Sealer
  | UnitOfWork
  | VerificationStore

const crypto = Layer.mergeAll(NodeDigest.layer, NodeEntropy.layer, NodeSealer.layer([Redacted.make("a test's secret")]))

export const memoryPorts: Layer.Layer<Ports> = Layer.mergeAll(
  MemoryAccountStore.layer,
  MemoryCatalogStore.layer,
  MemoryChangeFeed.layer,
  MemoryHandleStore.layer.pipe(Layer.provideMerge(MemoryVerificationStore.layer)),
  MemoryIdempotencyStore.layer,
  MemoryKeyStore.layer,
  MemoryNamePinStore.layer,
  MemoryUnitOfWork.layer,
  AjvJsonSchemas.layer,
  crypto
).pipe(Layer.provide(MemoryTables.layer))

/** Of one node; a second build of it in a test is a second node on the same database. */
export const postgresNode = Layer.mergeAll(
  PostgresAccountStore.layer,
  PostgresCatalogStore.layer,
  // Its connection lives in the machine's time, also under a test's clock.
  PostgresChangeFeed.layer.pipe(Layer.provide(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue()))),
  PostgresHandleStore.layer,
  PostgresIdempotencyStore.layer,
  PostgresKeyStore.layer,
  PostgresNamePinStore.layer,
  PostgresUnitOfWork.layer,
  PostgresVerificationStore.layer,
  AjvJsonSchemas.layer,
  crypto
)

export const postgresPorts = Layer.orDie(postgresNode).pipe(Layer.provideMerge(PostgresTest.layer))

/** The services of accounts, catalogue and idempotency, with the ports that they stand on. */
export const withServices = <P, E, R>(ports: Layer.Layer<P | Ports, E, R>, notice = Duration.zero) =>
  Registration.layer.pipe(
    Layer.provideMerge(Handles.layer),
    Layer.provideMerge(Layer.mergeAll(Authentication.layer, Catalog.layer, Idempotency.layer, Keys.layer)),
    Layer.provideMerge(DefaultCaps.layer),
    Layer.provideMerge(ports),
    Layer.provide(Layer.succeed(PriceNotice, notice))
  )

export const everyStore: ReadonlyArray<readonly [name: string, ports: Layer.Layer<Ports>]> = [
  ["memory", memoryPorts],
  ["PostgreSQL", postgresPorts]
]
