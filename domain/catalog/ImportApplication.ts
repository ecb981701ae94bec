/**
 * Plans an import over the stores, and applies it in small units of work.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import { Entropy } from "../shared/Cryptography.ts"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import { sameJson } from "../shared/JsonText.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { UnitOfWork } from "../shared/StoreUnavailable.ts"
import type { ToolList } from "../upstream/ProviderServers.ts"
import { Catalog } from "./Catalog.ts"
import { type CatalogEntry, CatalogStore } from "./CatalogStore.ts"
import { type ImportPlan, type MarketTool, planImport, type PlannedTool, readServerTools } from "./ImportPlan.ts"
import { type ImportedTool, ImportStore, isWorthRecording, resultOf } from "./ImportStore.ts"
import { CatalogPolicy } from "./Terms.ts"
import { declarationOf, type ToolChange } from "./Tool.ts"
import { TOOLS_PER_PROVIDER_MAX, type UpsertMode } from "./ToolUpserts.ts"

export const IMPORT_RECORDS_KEPT_MAX = 50
export const SYNC_EVERY = Duration.minutes(55)
/** Tools per unit of work: it locks the provider's tools. */
const BATCH_MAX = 100
const PAGE_MAX = TOOLS_PER_PROVIDER_MAX

/** Says how the tools of an import are priced, and whether they are listed at once. */
export interface ImportOptions {
  readonly defaultPrice: Microcents | undefined
  readonly overrides: ReadonlyArray<ToolChange>
  readonly listed: boolean
}

export const makeImportApplication = Effect.gen(function* () {
  const catalog = yield* Catalog
  const store = yield* CatalogStore
  const imports = yield* ImportStore
  const entropy = yield* Entropy
  const { withdrawalGrace: grace } = yield* CatalogPolicy
  const { atomically } = yield* UnitOfWork

  const marketTools = Effect.fnUntraced(function* (providerId: ProviderId) {
    const { items } = yield* store.search(
      { category: undefined, providerId, maxPrice: undefined, tokens: [], state: "any" },
      "name",
      { limit: PAGE_MAX, offset: 0, after: undefined }
    )
    const imported = new Map((yield* imports.imported(providerId)).map((tool) => [tool.toolName, tool]))
    return { ids: idsOf(items), imported, tools: items.map((entry) => marketTool(entry, imported)) }
  })

  const plan = Effect.fnUntraced(function* (
    providerId: ProviderId,
    list: ToolList,
    { defaultPrice, listed, overrides }: ImportOptions,
    byProvider: boolean
  ) {
    const market = yield* marketTools(providerId)
    const read = readServerTools(list.tools, TOOLS_PER_PROVIDER_MAX)
    const planned = planImport({
      listed: read.tools,
      rejected: read.rejected,
      truncated: list.truncated || read.tools.length === TOOLS_PER_PROVIDER_MAX,
      market: market.tools,
      dismissed: new Map(dismissedOf(market.imported).map(({ definition, toolName }) => [toolName, definition])),
      overrides: new Map(overrides.map((change) => [change.toolName, change])),
      defaultPrice,
      listNew: listed,
      byProvider,
      now: yield* DateTime.now,
      grace
    })
    return { market, planned }
  })

  const apply = Effect.fnUntraced(function* (
    providerId: ProviderId,
    list: ToolList,
    options: ImportOptions,
    byProvider: boolean
  ) {
    const { market, planned } = yield* plan(providerId, list, options, byProvider)
    const at = yield* DateTime.now
    const failed = new Map<string, string>()
    // Outside of the units of work. What could not be checked now is rejected below.
    yield* Effect.ignore(catalog.checkSchemas(providerId, changesOf(planned)))

    /** The tools and what is remembered of them, so that an interrupted import continues where it ended. */
    const batch = Effect.fnUntraced(function* (tools: ReadonlyArray<PlannedTool>, mode: UpsertMode) {
      const { rejected } = yield* catalog.upsert(
        providerId,
        tools.map(({ change }) => change),
        mode
      )
      for (const { error, tool_name: name } of rejected) failed.set(name, error)
      const stored = tools.filter(({ toolName }) => !failed.has(toolName))
      yield* remember(stored.map(({ imported, toolName }) => listedAs(toolName, imported)))
    }, atomically)

    const remember = (tools: ReadonlyArray<ImportedTool>) => {
      const news = tools.filter((tool) => !sameImported(tool, market.imported.get(tool.toolName)))
      return news.length === 0 ? Effect.void : imports.putImported(providerId, news)
    }

    const inBatches = Effect.fnUntraced(function* (tools: ReadonlyArray<PlannedTool>, mode: UpsertMode) {
      for (let i = 0; i < tools.length; i += BATCH_MAX) yield* batch(tools.slice(i, i + BATCH_MAX), mode)
    })

    for (const terms of ["declared", "kept"] as const) {
      for (const state of ["listed", "draft", "unchanged"] as const) {
        yield* inBatches(
          planned.changes.filter((change) => change.terms === terms && change.state === state),
          { source: "server", terms, state }
        )
      }
    }
    yield* inBatches(planned.restored, { source: "server", terms: "kept", state: "restored" })
    yield* inBatches(
      planned.creates.filter(({ draft }) => !draft),
      { source: "server", terms: "declared", state: "listed" }
    )
    yield* inBatches(
      planned.creates.filter(({ draft }) => draft),
      { source: "server", terms: "declared", state: "draft" }
    )

    const applied = () => withoutFaulty(planned, failed)

    const leave = Effect.gen(function* () {
      yield* remember(
        planned.unchanged.flatMap(({ imported, toolName }) =>
          imported === undefined ? [] : [listedAs(toolName, imported)]
        )
      )
      // Listed, but not as a valid tool: not missing.
      yield* remember(
        planned.rejected.flatMap(({ toolName }) => {
          const known = market.imported.get(toolName)
          return known === undefined ? [] : [{ ...known, missingSince: undefined }]
        })
      )
      yield* remember(
        planned.missing.flatMap(({ since, toolName }) => {
          const known = market.imported.get(toolName)
          return known === undefined ? [] : [{ ...known, missingSince: since }]
        })
      )
      for (const toolName of planned.withdrawals) {
        yield* Effect.catchTag(
          catalog.withdraw(providerId, market.ids.get(toolName)!, true),
          "ToolNotYours",
          () => Effect.void
        )
      }
      for (const toolName of planned.removedDrafts) yield* store.removeDraft(providerId, market.ids.get(toolName)!)
      const forgotten = [...planned.removedDrafts, ...(list.truncated ? [] : dismissedBefore(market.imported, list))]
      if (forgotten.length > 0) yield* imports.forgetImported(providerId, forgotten)
      const result = resultOf(applied())
      if (byProvider) {
        const before = Option.getOrUndefined(yield* imports.sync(providerId))
        const settings = {
          enabled: before?.enabled ?? true,
          listed: options.listed,
          defaultPrice: options.defaultPrice
        }
        yield* imports.configure(providerId, settings, DateTime.addDuration(at, SYNC_EVERY))
      }
      yield* imports.checked(providerId, at, undefined)
      const [last] = yield* imports.records(providerId, 1)
      if (byProvider || isWorthRecording(result, last?.result)) {
        const source = byProvider ? ("provider" as const) : ("server" as const)
        const record = { id: yield* entropy.uuid, importedAt: at, source, result }
        yield* imports.addRecord(providerId, record, IMPORT_RECORDS_KEPT_MAX)
      }
    }).pipe(atomically)
    yield* leave
    return applied()
  })

  return { apply, plan }
})

const idsOf = (entries: ReadonlyArray<CatalogEntry>): ReadonlyMap<string, ToolId> =>
  new Map(entries.map(({ tool }) => [tool.toolName, tool.id]))

const marketTool = (
  { billingPolicy, prices, tool }: CatalogEntry,
  imported: ReadonlyMap<string, ImportedTool>
): MarketTool => {
  const known = imported.get(tool.toolName)
  return {
    declaration: declarationOf(tool),
    state: tool.draft ? "draft" : tool.withdrawnAt === undefined ? "listed" : "withdrawn",
    withdrawnByServer: tool.withdrawnByServer,
    billedByOutput: [billingPolicy, prices.upcoming?.billingPolicy, tool.declared.billingPolicy].includes(
      "valid_output"
    ),
    imported: known?.definition,
    missingSince: known?.missingSince
  }
}

const dismissedOf = (imported: ReadonlyMap<string, ImportedTool>): ReadonlyArray<ImportedTool> =>
  [...imported.values()].filter(({ dismissed }) => dismissed === true)

/** The server has removed them: they are new if it lists them again. */
const dismissedBefore = (imported: ReadonlyMap<string, ImportedTool>, list: ToolList): ReadonlyArray<string> => {
  const listed = new Set(list.tools.map(({ name }) => name))
  return dismissedOf(imported).flatMap(({ toolName }) => (listed.has(toolName) ? [] : [toolName]))
}

const listedAs = (toolName: string, definition: ImportedTool["definition"]): ImportedTool => ({
  toolName,
  definition,
  missingSince: undefined
})

const sameImported = (tool: ImportedTool, known: ImportedTool | undefined): boolean =>
  known !== undefined &&
  tool.missingSince?.epochMilliseconds === known.missingSince?.epochMilliseconds &&
  tool.dismissed === known.dismissed &&
  sameJson(tool.definition, known.definition)

export const changesOf = ({ changes, creates, restored }: ImportPlan): ReadonlyArray<ToolChange> =>
  [...creates, ...changes, ...restored].map(({ change }) => change)

/** Removes tools that could not be stored, or would not be. */
export const withoutFaulty = (plan: ImportPlan, faults: ReadonlyMap<string, string>): ImportPlan => {
  const isValid = ({ toolName }: { readonly toolName: string }): boolean => !faults.has(toolName)
  return {
    ...plan,
    creates: plan.creates.filter(isValid),
    changes: plan.changes.filter(isValid),
    restored: plan.restored.filter(isValid),
    rejected: [...plan.rejected, ...[...faults].map(([toolName, reason]) => ({ toolName, reason }))]
  }
}
