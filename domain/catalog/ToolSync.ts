/**
 * Keeps the tools of providers in sync with their servers: on request, and in the background at least every hour. A server
 * that cannot be read changes nothing.
 */
import { Clock, Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import type { ProviderId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { monotonicMs } from "../shared/Time.ts"
import type { ServerAddress } from "../upstream/ProviderServers.ts"
import { IMPORT_RECORDS_KEPT_MAX, SYNC_EVERY } from "./ImportApplication.ts"
import { type ImportRecord, ImportStore, type SyncSettings, type SyncState } from "./ImportStore.ts"
import { ToolImport } from "./ToolImport.ts"

const PROVIDERS_PER_ROUND_MAX = 200
/** Servers that are read at once. */
const CONCURRENCY = 8
const PROBLEM_CHARS_MAX = 500
/** Of a provider whose server keeps announcing changes. */
const SYNCS_APART_MS = 60_000
/** A write at most this often, per provider and node. */
const HASTENED_EVERY_MS = 10_000
const HASTENED_MAX = 10_000

/** The settings of a provider's sync, and what the last imports did. */
export interface SyncHistory {
  /** Undefined: the provider has never imported or configured. */
  readonly state: SyncState | undefined
  /** Newest first. */
  readonly records: ReadonlyArray<ImportRecord>
}

export class ToolSync extends Context.Service<
  ToolSync,
  {
    configure(providerId: ProviderId, settings: SyncSettings): Effect.Effect<SyncHistory, StoreUnavailable>
    history(providerId: ProviderId): Effect.Effect<SyncHistory, StoreUnavailable>
    /** The server's list has changed: the next sync comes within minutes. */
    hasten(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
    /** Providers whose sync is due; returns their number. */
    readonly work: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/ToolSync") {
  static readonly layer = Layer.effect(
    ToolSync,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const imports = yield* ImportStore
      const tools = yield* ToolImport
      const clock = yield* Clock.Clock
      const hastenedMs = new Map<ProviderId, number>()

      const history = Effect.fn("ToolSync.history")(function* (providerId: ProviderId) {
        const state = Option.getOrUndefined(yield* imports.sync(providerId))
        return { state, records: yield* imports.records(providerId, IMPORT_RECORDS_KEPT_MAX) }
      })

      const configure = Effect.fn("ToolSync.configure")(function* (providerId: ProviderId, settings: SyncSettings) {
        yield* imports.configure(providerId, settings, DateTime.addDuration(yield* DateTime.now, SYNC_EVERY))
        return yield* history(providerId)
      })

      const follow = Effect.fn("ToolSync.follow")(function* (providerId: ProviderId) {
        const provider = Option.getOrUndefined(yield* accounts.findProvider(providerId))
        const state = Option.getOrUndefined(yield* imports.sync(providerId))
        if (provider === undefined || state?.enabled !== true) return
        const server: ServerAddress = { providerId, endpointUrl: provider.endpointUrl }
        const list = yield* Effect.result(tools.read(server))
        if (list._tag === "Success") {
          yield* tools.follow(providerId, list.success, state)
          return
        }
        const problem = list.failure.problem.slice(0, PROBLEM_CHARS_MAX).toWellFormed()
        yield* imports.checked(providerId, yield* DateTime.now, problem)
      })

      const hasten = Effect.fn("ToolSync.hasten")(function* (providerId: ProviderId) {
        const nowMs = monotonicMs(clock)
        const lastMs = hastenedMs.get(providerId)
        if (lastMs !== undefined && nowMs - lastMs < HASTENED_EVERY_MS) return
        hastenedMs.delete(providerId)
        if (hastenedMs.size >= HASTENED_MAX) hastenedMs.delete(hastenedMs.keys().next().value!)
        hastenedMs.set(providerId, nowMs)
        yield* imports.hasten(providerId, yield* DateTime.now, SYNCS_APART_MS)
      })

      const work = Effect.gen(function* () {
        const now = yield* DateTime.now
        const due = yield* imports.claimDue(now, DateTime.addDuration(now, SYNC_EVERY), PROVIDERS_PER_ROUND_MAX)
        yield* round(due, {
          failing: "Providers whose tools could not be synced",
          concurrency: CONCURRENCY,
          work: follow
        })
        return due.length
      }).pipe(Effect.withSpan("ToolSync.work"))

      return ToolSync.of({ configure, hasten, history, work })
    })
  )
}
