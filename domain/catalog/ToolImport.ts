/**
 * Imports the tools of a provider's MCP server: reads the list, plans, and applies the plan in small units of work. What is
 * read from the server never changes what a call costs.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { AccountStore } from "../accounts/Account.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { round } from "../shared/Round.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { monotonicMs } from "../shared/Time.ts"
import { ProviderServers, type ServerAddress, type ToolList } from "../upstream/ProviderServers.ts"
import { Catalog } from "./Catalog.ts"
import { CatalogStore } from "./CatalogStore.ts"
import {
  changesOf,
  IMPORT_RECORDS_KEPT_MAX,
  type ImportOptions,
  makeImportApplication,
  SYNC_EVERY,
  withoutFaulty
} from "./ImportApplication.ts"
import type { ImportPlan } from "./ImportPlan.ts"
import { type ImportRecord, ImportStore, type SyncSettings, type SyncState } from "./ImportStore.ts"
import type { SchemaChecksLimited } from "./JsonSchemas.ts"

/** All pages of one server's list. */
const SERVER_READ_SECONDS_MAX = 20

/** The provider's server did not return its list of tools. Nothing was changed. */
export class ServerUnreadable extends Schema.TaggedError<ServerUnreadable>()("ServerUnreadable", {
  problem: Schema.String
}) {
  override get message() {
    return `The tools of your MCP server could not be read: ${this.problem}. Nothing was changed.`
  }
}

export class ToolImport extends Context.Service<
  ToolImport,
  {
    /** Asks the server: not inside a unit of work. Fails after `SERVER_READ_SECONDS_MAX`. */
    read(server: ServerAddress): Effect.Effect<ToolList, ServerUnreadable>
    /**
     * Plans an import by the provider, outside of units of work: checking new schemas may take long. Invalid schemas are
     * among the rejections. An import after it does not check them again.
     */
    preview(
      providerId: ProviderId,
      list: ToolList,
      options: ImportOptions
    ): Effect.Effect<ImportPlan, SchemaChecksLimited | StoreUnavailable>
    /** An import by the provider, whose choices also apply to later syncs. Returns what was applied. */
    apply(providerId: ProviderId, list: ToolList, options: ImportOptions): Effect.Effect<ImportPlan, StoreUnavailable>
    /** An import in the background: terms stay, and hand-made changes too. */
    follow(
      providerId: ProviderId,
      list: ToolList,
      options: Omit<ImportOptions, "overrides">
    ): Effect.Effect<ImportPlan, StoreUnavailable>
    /**
     * Removes a draft, which comes back when the server changes the tool. Returns its name; none if the provider has no such
     * draft.
     */
    dismiss(providerId: ProviderId, id: ToolId): Effect.Effect<Option.Option<string>, StoreUnavailable>
    /** The tools do not follow the server, and are not withdrawn for it. */
    keepUnlisted(providerId: ProviderId, toolNames: ReadonlyArray<string>): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/catalog/ToolImport") {
  static readonly layer = Layer.effect(
    ToolImport,
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const catalog = yield* Catalog
      const store = yield* CatalogStore
      const { atomically } = yield* UnitOfWork
      const servers = yield* Effect.serviceOption(ProviderServers)

      const read = Effect.fn("ToolImport.read")((server: ServerAddress) =>
        Option.match(servers, {
          onNone: () => Effect.fail(new ServerUnreadable({ problem: "this service has no MCP client" })),
          onSome: ({ tools }) =>
            tools(server, 0, "any").pipe(
              Effect.mapError(({ message }) => new ServerUnreadable({ problem: message })),
              Effect.timeoutOrElse({
                duration: Duration.seconds(SERVER_READ_SECONDS_MAX),
                orElse: () =>
                  Effect.fail(new ServerUnreadable({ problem: `it took more than ${SERVER_READ_SECONDS_MAX} s` }))
              })
            )
        })
      )

      const { apply, plan } = yield* makeImportApplication

      const preview = Effect.fn("ToolImport.preview")(function* (
        providerId: ProviderId,
        list: ToolList,
        options: ImportOptions
      ) {
        const { planned } = yield* plan(providerId, list, options, true)
        return withoutFaulty(planned, yield* catalog.checkSchemas(providerId, changesOf(planned)))
      })

      const dismiss = Effect.fn("ToolImport.dismiss")(function* (providerId: ProviderId, id: ToolId) {
        // Locks the provider's tools against a concurrent import.
        yield* store.countOf(providerId)
        const found = Option.getOrUndefined(yield* store.find(id))
        if (found === undefined || !(yield* store.removeDraft(providerId, id))) return Option.none<string>()
        const { toolName } = found.tool
        const known = (yield* imports.imported(providerId)).find((tool) => tool.toolName === toolName)
        if (known !== undefined) yield* imports.putImported(providerId, [{ ...known, dismissed: true }])
        return Option.some<string>(toolName)
      }, atomically)

      return ToolImport.of({
        dismiss,
        read,
        preview,
        apply: Effect.fn("ToolImport.apply")((providerId, list, options) => apply(providerId, list, options, true)),
        follow: Effect.fn("ToolImport.follow")((providerId, list, options) =>
          apply(providerId, list, { ...options, overrides: [] }, false)
        ),
        keepUnlisted: Effect.fn("ToolImport.keepUnlisted")((providerId, toolNames) =>
          toolNames.length === 0 ? Effect.void : imports.forgetImported(providerId, toolNames)
        )
      })
    })
  )
}

const PROVIDERS_PER_ROUND_MAX = 200
/** Servers that are read at once. */
const CONCURRENCY = 8
const PROBLEM_CHARS_MAX = 500
/** Limits a provider whose server keeps announcing changes. */
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

/**
 * Keeps the tools of providers in sync with their servers: on request, and in the background at least every hour. A server
 * that cannot be read changes nothing.
 */
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
