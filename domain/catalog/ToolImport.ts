/**
 * Imports the tools of a provider's MCP server: reads the list, plans, and applies the plan in small units of work. What is
 * read from the server never changes what a call costs.
 */
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { ProviderServers, type ServerAddress, type ToolList } from "../upstream/ProviderServers.ts"
import { Catalog } from "./Catalog.ts"
import { CatalogStore } from "./CatalogStore.ts"
import { changesOf, type ImportOptions, makeImportApplication, withoutFaulty } from "./ImportApplication.ts"
import type { ImportPlan } from "./ImportPlan.ts"
import { ImportStore } from "./ImportStore.ts"
import type { SchemaChecksLimited } from "./JsonSchemas.ts"

/** All pages of one server's list. */
export const SERVER_READ_SECONDS_MAX = 20

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
     * The plan of an import by the provider. Invalid schemas are among the rejections. Not inside a unit of work: checking
     * new schemas may take long. An import after it does not check them again.
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
