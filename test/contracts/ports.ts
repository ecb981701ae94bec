/**
 * Ports of accounts, catalog, idempotency and change feed over memory and PostgreSQL.
 */
import { Clock, Duration, Layer, Redacted } from "effect"
import * as NodeDigest from "../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import * as NodeSealer from "../../adapters/crypto/NodeSealer.ts"
import * as AjvJsonSchemas from "../../adapters/jsonschema/AjvJsonSchemas.ts"
import * as MemoryAccountStore from "../../adapters/memory/accounts/MemoryAccountStore.ts"
import * as MemoryHandleStore from "../../adapters/memory/accounts/MemoryHandleStore.ts"
import * as MemoryKeyStore from "../../adapters/memory/accounts/MemoryKeyStore.ts"
import * as MemoryCatalogStore from "../../adapters/memory/catalog/MemoryCatalogStore.ts"
import * as MemoryImportStore from "../../adapters/memory/catalog/MemoryImportStore.ts"
import * as MemoryMcpSessionStore from "../../adapters/memory/mcp/MemoryMcpSessionStore.ts"
import * as MemoryMcpStreamStore from "../../adapters/memory/mcp/MemoryMcpStreamStore.ts"
import * as MemoryToolAliasStore from "../../adapters/memory/mcp/MemoryToolAliasStore.ts"
import * as MemoryToolboxStore from "../../adapters/memory/mcp/MemoryToolboxStore.ts"
import * as MemoryNamePinStore from "../../adapters/memory/metering/MemoryNamePinStore.ts"
import * as MemoryAuditTrailStore from "../../adapters/memory/operator/MemoryAuditTrailStore.ts"
import * as MemoryOperatorSessionStore from "../../adapters/memory/operator/MemoryOperatorSessionStore.ts"
import * as MemoryChangeFeed from "../../adapters/memory/shared/MemoryChangeFeed.ts"
import * as MemoryIdempotencyStore from "../../adapters/memory/shared/MemoryIdempotencyStore.ts"
import { MemoryTables } from "../../adapters/memory/shared/MemoryTables.ts"
import * as MemoryUnitOfWork from "../../adapters/memory/shared/MemoryUnitOfWork.ts"
import * as MemoryVerificationStore from "../../adapters/memory/trust/MemoryVerificationStore.ts"
import * as PostgresAccountStore from "../../adapters/sql/accounts/PostgresAccountStore.ts"
import * as PostgresHandleStore from "../../adapters/sql/accounts/PostgresHandleStore.ts"
import * as PostgresKeyStore from "../../adapters/sql/accounts/PostgresKeyStore.ts"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresImportStore from "../../adapters/sql/catalog/PostgresImportStore.ts"
import * as PostgresMcpSessionStore from "../../adapters/sql/mcp/PostgresMcpSessionStore.ts"
import * as PostgresMcpStreamStore from "../../adapters/sql/mcp/PostgresMcpStreamStore.ts"
import * as PostgresToolAliasStore from "../../adapters/sql/mcp/PostgresToolAliasStore.ts"
import * as PostgresToolboxStore from "../../adapters/sql/mcp/PostgresToolboxStore.ts"
import * as PostgresNamePinStore from "../../adapters/sql/metering/PostgresNamePinStore.ts"
import * as PostgresAuditTrailStore from "../../adapters/sql/operator/PostgresAuditTrailStore.ts"
import * as PostgresOperatorSessionStore from "../../adapters/sql/operator/PostgresOperatorSessionStore.ts"
import * as PostgresChangeFeed from "../../adapters/sql/shared/PostgresChangeFeed.ts"
import * as PostgresIdempotencyStore from "../../adapters/sql/shared/PostgresIdempotencyStore.ts"
import * as PostgresUnitOfWork from "../../adapters/sql/shared/PostgresUnitOfWork.ts"
import * as PostgresVerificationStore from "../../adapters/sql/trust/PostgresVerificationStore.ts"
import type { AccountStore } from "../../domain/accounts/Account.ts"
import { Authentication } from "../../domain/accounts/Authentication.ts"
import { DefaultCaps } from "../../domain/accounts/DefaultCaps.ts"
import type { HandleStore } from "../../domain/accounts/Handle.ts"
import { Keys, type KeyStore } from "../../domain/accounts/Keys.ts"
import type { OperatorSessionStore } from "../../domain/accounts/Principal.ts"
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
import type { VerificationStore } from "../../domain/trust/VerificationStore.ts"
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
  MemoryAccountStore.layer,
  MemoryAuditTrailStore.layer,
  MemoryCatalogStore.layer,
  MemoryChangeFeed.layer,
  MemoryHandleStore.layer.pipe(Layer.provideMerge(MemoryVerificationStore.layer)),
  MemoryIdempotencyStore.layer,
  MemoryImportStore.layer,
  MemoryKeyStore.layer,
  MemoryMcpSessionStore.layer,
  MemoryMcpStreamStore.layer,
  MemoryNamePinStore.layer,
  MemoryOperatorSessionStore.layer,
  MemoryToolAliasStore.layer,
  MemoryToolboxStore.layer,
  MemoryUnitOfWork.layer,
  AjvJsonSchemas.layer,
  crypto
).pipe(Layer.provide(MemoryTables.layer))

/** The ports of one node; a second build is a second node on the same database. */
export const postgresNode = Layer.mergeAll(
  PostgresAccountStore.layer,
  PostgresAuditTrailStore.layer,
  PostgresCatalogStore.layer,
  // Its connection needs the time of the machine, also under a test clock.
  PostgresChangeFeed.layer.pipe(Layer.provide(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue()))),
  PostgresHandleStore.layer,
  PostgresIdempotencyStore.layer,
  PostgresImportStore.layer,
  PostgresKeyStore.layer,
  PostgresMcpSessionStore.layer,
  PostgresMcpStreamStore.layer,
  PostgresNamePinStore.layer,
  PostgresOperatorSessionStore.layer,
  PostgresToolAliasStore.layer,
  PostgresToolboxStore.layer,
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
