/**
 * Ports of accounts, catalog, idempotency and change feed over memory and PostgreSQL.
 */
import { Clock, Duration, Layer, Redacted } from "effect"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeSealer from "../../adapters/crypto/NodeSealer.ts"
import * as AjvJsonSchemas from "../../adapters/jsonschema/AjvJsonSchemas.ts"
import * as MemoryAccountStores from "../../adapters/memory/accounts/MemoryAccountStores.ts"
import * as MemoryCatalogStores from "../../adapters/memory/catalog/MemoryCatalogStores.ts"
import { MemoryLedger } from "../../adapters/memory/ledger/MemoryLedger.ts"
import * as MemoryMcpStores from "../../adapters/memory/mcp/MemoryMcpStores.ts"
import * as MemoryMeteringStores from "../../adapters/memory/metering/MemoryMeteringStores.ts"
import * as MemoryOperatorStores from "../../adapters/memory/operator/MemoryOperatorStores.ts"
import * as MemoryChangeFeed from "../../adapters/memory/shared/MemoryChangeFeed.ts"
import * as MemoryIdempotencyStore from "../../adapters/memory/shared/MemoryIdempotencyStore.ts"
import { MemoryTables } from "../../adapters/memory/shared/MemoryTables.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/shared/MemoryUnitOfWork.ts"
import * as MemoryTrustStores from "../../adapters/memory/trust/MemoryTrustStores.ts"
import * as PostgresAccountStores from "../../adapters/sql/accounts/PostgresAccountStores.ts"
import * as PostgresLevelStore from "../../adapters/sql/accounts/PostgresLevelStore.ts"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresImportStore from "../../adapters/sql/catalog/PostgresImportStore.ts"
import * as PostgresMcpStores from "../../adapters/sql/mcp/PostgresMcpStores.ts"
import * as PostgresMeteringStores from "../../adapters/sql/metering/PostgresMeteringStores.ts"
import * as PostgresOperatorStores from "../../adapters/sql/operator/PostgresOperatorStores.ts"
import * as PostgresChangeFeed from "../../adapters/sql/shared/PostgresChangeFeed.ts"
import * as PostgresIdempotencyStore from "../../adapters/sql/shared/PostgresIdempotencyStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import * as PostgresVerificationStore from "../../adapters/sql/trust/PostgresVerificationStore.ts"
import type { AccountStore } from "../../domain/accounts/Account.ts"
import { Authentication, type OperatorSessionStore } from "../../domain/accounts/Authentication.ts"
import { DefaultCaps } from "../../domain/accounts/DefaultCaps.ts"
import type { HandleStore } from "../../domain/accounts/Handle.ts"
import { Keys, type KeyStore } from "../../domain/accounts/Keys.ts"
import type { LevelStore } from "../../domain/accounts/Levels.ts"
import type { ToolboxStore } from "../../domain/accounts/ToolboxStore.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import type { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import type { ImportStore } from "../../domain/catalog/ImportStore.ts"
import type { JsonSchemas } from "../../domain/catalog/JsonSchemas.ts"
import { CATALOG_POLICY, CatalogPolicy } from "../../domain/catalog/Terms.ts"
import type { McpSessionStore, McpStreamStore } from "../../domain/mcp/McpStores.ts"
import type { ToolAliasStore } from "../../domain/mcp/ToolAliases.ts"
import type { NamePinStore } from "../../domain/metering/ToolDirectory.ts"
import type { AuditTrailStore } from "../../domain/operator/AuditTrail.ts"
import { Handles } from "../../domain/providers/Handles.ts"
import { PlatformFees } from "../../domain/providers/PlatformFees.ts"
import { Registration } from "../../domain/providers/Registration.ts"
import type { ChangeFeed } from "../../domain/shared/ChangeFeed.ts"
import type { Digest, Entropy, Sealer } from "../../domain/shared/Cryptography.ts"
import { Idempotency, type IdempotencyStore } from "../../domain/shared/Idempotency.ts"
import type { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import type { VerificationStore } from "../../domain/trust/Challenge.ts"
import { overBoth, PostgresTest } from "../support/servers/PostgresTest.ts"

export type Ports =
  | AccountStore
  | AuditTrailStore
  | CatalogStore
  | ChangeFeed
  | Digest
  | Entropy
  | HandleStore
  | IdempotencyStore
  | ImportStore
  | JsonSchemas
  | KeyStore
  | LevelStore
  | McpSessionStore
  | McpStreamStore
  | NamePinStore
  | OperatorSessionStore
  | Sealer
  | ToolAliasStore
  | ToolboxStore
  | UnitOfWork
  | VerificationStore

const crypto = Layer.mergeAll(NodeDigest.layer, NodeEntropy.layer, NodeSealer.layer([Redacted.make("a test's secret")]))

export const memoryPorts: Layer.Layer<Ports> = Layer.mergeAll(
  MemoryOperatorStores.layer,
  MemoryCatalogStores.layer,
  MemoryChangeFeed.layer,
  MemoryAccountStores.layer.pipe(Layer.provideMerge(MemoryTrustStores.layer)),
  MemoryIdempotencyStore.layer,
  MemoryMcpStores.layer,
  MemoryMeteringStores.layer,
  MemoryUnitOfWork.layer,
  AjvJsonSchemas.layer,
  crypto
).pipe(Layer.provide([MemoryTables.layer, MemoryLedger.layer]))

/** The ports of one node; a second build is a second node on the same database. */
export const postgresNode = Layer.mergeAll(
  PostgresAccountStores.layer,
  PostgresLevelStore.layer,
  PostgresOperatorStores.layer,
  PostgresCatalogStore.layer,
  // Its connection needs the time of the machine, also under a test clock.
  PostgresChangeFeed.layer.pipe(Layer.provide(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue()))),
  PostgresIdempotencyStore.layer,
  PostgresImportStore.layer,
  PostgresMcpStores.layer,
  PostgresMeteringStores.layer,
  PostgresUnitOfWork.layer,
  PostgresVerificationStore.layer,
  AjvJsonSchemas.layer,
  crypto
)

export const postgresPorts = Layer.orDie(postgresNode).pipe(Layer.provideMerge(PostgresTest.layer))

/** The services of accounts, catalog and idempotency, with their ports. */
export const withServices = <P, E, R>(ports: Layer.Layer<P | Ports, E, R>, notice = Duration.zero) =>
  Registration.layer.pipe(
    Layer.provideMerge(Handles.layer),
    Layer.provideMerge(
      Layer.mergeAll(Authentication.layer, Catalog.layer, Idempotency.layer, Keys.layer, PlatformFees.layer)
    ),
    Layer.provideMerge(DefaultCaps.layer),
    Layer.provideMerge(ports),
    Layer.provide(Layer.succeed(CatalogPolicy, { ...CATALOG_POLICY, priceNotice: notice }))
  )

export const everyStore = overBoth<Layer.Layer<Ports>, Layer.Layer<Ports>>(memoryPorts, postgresPorts)
