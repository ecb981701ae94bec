/**
 * Adds and changes tools, each alone: a fault of one does not affect the others.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import type { Provider } from "../accounts/Account.ts"
import { AccountStore } from "../accounts/AccountStore.ts"
import { qualifiedName, splitQualified } from "../accounts/Handle.ts"
import { HandleStore } from "../accounts/HandleStore.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Entropy } from "../shared/Entropy.ts"
import { type ProviderId, ToolId } from "../shared/Ids.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { CatalogStore, type ToolOutcome } from "./CatalogStore.ts"
import { type InvalidJsonSchema, JsonSchemas, type SchemaBudgetSpent } from "./JsonSchemas.ts"
import { planPrices, PriceNotice } from "./PriceNotice.ts"
import { DefaultFreeTierCalls, declaredTerms } from "./Pricing.ts"
import { tokensOfTool } from "./SearchTokens.ts"
import { pricesAt } from "./Terms.ts"
import { applyChange, declarationOf, type Tool, type ToolChange, type ToolDeclaration } from "./Tool.ts"
import {
  changedFields,
  type ChangeSource,
  nextVersion,
  TOOL_VERSION_BYTES_KEPT_MAX,
  TOOL_VERSIONS_KEPT_MAX
} from "./ToolVersions.ts"

export const TOOLS_PER_PROVIDER_MAX = 1_000
/** Each version is kept permanently: receipts refer to it. */
export const PRICE_CHANGES_PER_DAY_MAX = 100

/** A declaration of a request that was not stored, and why. */
export interface RejectedTool {
  /** Index in the request. */
  readonly index: number
  readonly tool_name: string
  readonly error: string
}

/** What happened to each declaration of a request: one that is rejected does not stop the others. */
export interface UpsertResult {
  readonly stored: ReadonlyArray<ToolOutcome>
  readonly rejected: ReadonlyArray<RejectedTool>
}

/** Whether an upsert replaces tools or changes them, and whether it lists them. */
export interface UpsertMode {
  readonly source: ChangeSource
  /** `kept`: the terms of a tool that was listed before do not change, whatever its declaration says. */
  readonly terms: "declared" | "kept"
  /**
   * `listed`: new tools, drafts and withdrawn tools are listed. `draft`: new tools and drafts are drafts. `unchanged`: listed
   * tools and drafts stay so, others are rejected. `restored`: only tools that the sync withdrew are listed again.
   */
  readonly state: "listed" | "draft" | "unchanged" | "restored"
}

const BY_PROVIDER: UpsertMode = { source: "provider", terms: "declared", state: "listed" }

const VERSIONS_KEPT = { versionsMax: TOOL_VERSIONS_KEPT_MAX, bytesMax: TOOL_VERSION_BYTES_KEPT_MAX }

class ToolRejected extends Schema.TaggedError<ToolRejected>()("ToolRejected", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** Upserts the tools of a provider, in one unit of work. */
export const makeToolUpsert = Effect.gen(function* () {
  const store = yield* CatalogStore
  const accounts = yield* AccountStore
  const handles = yield* HandleStore
  const schemas = yield* JsonSchemas
  const feed = yield* ChangeFeed
  const entropy = yield* Entropy
  const defaultFreeTier = yield* DefaultFreeTierCalls
  const notice = yield* PriceNotice
  const { atomically } = yield* UnitOfWork

  const checkSchema = (name: string, schema: ToolDeclaration["inputSchema"], providerId: ProviderId) =>
    schema === undefined
      ? Effect.void
      : Effect.mapError(
          schemas.check(schema, providerId),
          (error) => new ToolRejected({ reason: reasonOf(name, error) })
        )

  /** A tool named `acme/echo` would be mistaken for the tool `echo` of the provider with the handle `acme`. */
  const checkName = Effect.fnUntraced(function* (provider: Provider, toolName: string) {
    // Calls of its own tool `acme/echo` would go to the new `echo`, at another price and without notice.
    const qualified = qualifiedName(provider.handle, toolName)
    if (Option.isSome(yield* store.findOf(provider.id, qualified))) {
      const reason = `calls of your tool \`${qualified}\` would go to this one. Choose another tool_name`
      return yield* new ToolRejected({ reason })
    }
    const handle = splitQualified(toolName)?.handle
    const owner = handle === undefined ? undefined : Option.getOrUndefined(yield* handles.ownerOf(handle))
    if (owner === undefined || owner === provider.id) return
    const reason = `a tool_name cannot begin with \`${handle}/\`: \`${handle}\` is the handle of another provider`
    return yield* new ToolRejected({ reason })
  })

  /** Including the change that is being made. */
  const changedTooOften = Effect.fnUntraced(function* (id: ToolId, at: DateTime.Utc) {
    const first = (yield* store.prices(id, PRICE_CHANGES_PER_DAY_MAX + 1)).at(PRICE_CHANGES_PER_DAY_MAX)
    return first !== undefined && DateTime.isGreaterThan(first.announcedAt, DateTime.subtract(at, { days: 1 }))
  })

  /** The version that the tool's definition is in; a draft has none. */
  const recordVersion = Effect.fnUntraced(function* (
    id: ToolId,
    known: Tool | undefined,
    declaration: ToolDeclaration,
    source: ChangeSource,
    at: DateTime.Utc
  ) {
    const isFirst = known === undefined || known.draft
    if (!isFirst && changedFields(known, declaration).length === 0) return
    const [last] = isFirst ? [] : yield* store.versions(id, 1)
    const next = nextVersion(last, declaration, source, at)
    if (next !== undefined) yield* store.addVersion(id, next, VERSIONS_KEPT)
  })

  return Effect.fn("Catalog.upsert")(function* (
    providerId: ProviderId,
    changes: ReadonlyArray<ToolChange>,
    { source, state, terms }: UpsertMode = BY_PROVIDER
  ) {
    const stored: Array<ToolOutcome> = []
    const rejected: Array<RejectedTool> = []
    if (changes.length === 0) return { stored, rejected }
    const provider = Option.getOrThrow(yield* accounts.findProvider(providerId))
    const at = yield* DateTime.now
    let room = TOOLS_PER_PROVIDER_MAX - (yield* store.countOf(providerId))
    const twice = namesTwice(changes)
    const upsertOne = Effect.fnUntraced(function* (change: ToolChange) {
      if (twice.has(change.toolName)) {
        return yield* new ToolRejected({ reason: "this tool_name is in the request more than once" })
      }
      const known = Option.getOrUndefined(yield* store.findOf(providerId, change.toolName))
      if (!isAllowed(state, known?.tool)) {
        return yield* new ToolRejected({ reason: "the tool was listed or withdrawn in the meantime" })
      }
      if (known === undefined || known.tool.draft) yield* checkName(provider, change.toolName)
      const declaration = applyChange(known === undefined ? undefined : declarationOf(known.tool), change)
      if (declaration.outputSchema === undefined && declaration.billingPolicy === "valid_output") {
        return yield* new ToolRejected({ reason: "billing_policy `valid_output` requires an output_schema" })
      }
      yield* checkSchema("input_schema", declaration.inputSchema, providerId)
      yield* checkSchema("output_schema", declaration.outputSchema, providerId)
      // The history of a draft begins when it is listed.
      const past = known === undefined || known.tool.draft ? undefined : known.prices
      const prices =
        past !== undefined && terms === "kept"
          ? pricesAt(past, at.epochMilliseconds)
          : planPrices(past, declaredTerms(declaration, provider, defaultFreeTier), at, notice)
      const draft = (state === "draft" && past === undefined) || (state === "unchanged" && known?.tool.draft === true)
      const outcome = yield* store.upsert({
        id: ToolId.make(yield* entropy.uuid),
        providerId,
        declaration,
        prices,
        searchTokens: tokensOfTool(declaration, provider.name),
        at,
        draft
      })
      if (outcome.action === "created" && room-- <= 0) {
        return yield* new ToolRejected({ reason: `a provider has at most ${TOOLS_PER_PROVIDER_MAX} tools` })
      }
      if (prices.lastVersion > PRICE_CHANGES_PER_DAY_MAX && (yield* changedTooOften(outcome.id, at))) {
        const reason = `the price of a tool changes at most ${PRICE_CHANGES_PER_DAY_MAX} times in 24 hours`
        return yield* new ToolRejected({ reason })
      }
      if (!draft) yield* recordVersion(outcome.id, known?.tool, declaration, source, at)
      return outcome
    }, atomically)

    for (const [index, change] of changes.entries()) {
      const outcome = yield* upsertOne(change).pipe(Effect.catchTag("ToolRejected", Effect.succeed))
      if (outcome instanceof ToolRejected) {
        rejected.push({ index, tool_name: change.toolName, error: outcome.message })
      } else {
        stored.push(outcome)
        yield* feed.publish({ topic: "catalog", id: outcome.id })
      }
    }
    return { stored, rejected }
  }, atomically)
})

const isAllowed = (state: UpsertMode["state"], known: Tool | undefined): boolean => {
  const isWithdrawn = known?.withdrawnAt !== undefined && !known.draft
  switch (state) {
    case "listed":
      return true
    case "draft":
      return !isWithdrawn
    case "unchanged":
      return known !== undefined && !isWithdrawn
    case "restored":
      return isWithdrawn && known.withdrawnByServer
  }
}

const reasonOf = (name: string, error: InvalidJsonSchema | SchemaBudgetSpent): string =>
  error._tag === "InvalidJsonSchema"
    ? `${name} ${error.message}`
    : `${name} was not checked: ${
        error.of === "provider" ? "your schemas have" : "the schemas of all providers have"
      } used up their processing time for now. Send this tool again in ${error.retryAfterSeconds} s`

const namesTwice = (changes: ReadonlyArray<ToolChange>): ReadonlySet<string> => {
  const seen = new Set<string>()
  return new Set(changes.map((one) => one.toolName).filter((name) => seen.has(name) || (seen.add(name), false)))
}
