/**
 * Adds and changes tools: checks their names and schemas, and plans when a change of terms takes effect. A fault of one
 * does not affect the others: all are planned, then those without a fault are stored in a few statements.
 */
import { DateTime, Duration, Effect, Option, Schema } from "effect"
import { AccountStore, type Provider } from "../accounts/Account.ts"
import { HandleStore, qualifiedName, splitQualified } from "../accounts/Handle.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import { Entropy } from "../shared/Cryptography.ts"
import { type ProviderId, ToolId } from "../shared/Ids.ts"
import { sameJson } from "../shared/JsonText.ts"
import { UnitOfWork } from "../shared/StoreUnavailable.ts"
import { inSeconds } from "../shared/Time.ts"
import {
  type CatalogEntry,
  CatalogStore,
  changedFields,
  type ChangeSource,
  nextVersion,
  TOOL_VERSION_BYTES_KEPT_MAX,
  TOOL_VERSIONS_KEPT_MAX,
  type ToolOutcome,
  type ToolUpsert
} from "./CatalogStore.ts"
import { type InvalidJsonSchema, JsonSchemas, type SchemaBudgetSpent, SchemaChecksLimited } from "./JsonSchemas.ts"
import { tokensOfTool } from "./SearchTokens.ts"
import {
  better,
  billedSchemaOf,
  CatalogPolicy,
  declaredTerms,
  judgesTheSame,
  noWorse,
  pricesAt,
  type PriceVersion,
  sameTerms,
  type Terms,
  termsOf,
  type ToolPrices
} from "./Terms.ts"
import { applyChange, declarationOf, type Tool, type ToolChange, type ToolDeclaration } from "./Tool.ts"

// Better terms for consumers apply at once. Worse ones are announced and apply after the notice period; a smaller free
// tier applies from the first month after it.

/** The versions after a provider requested these terms. `known` is undefined for a new tool. */
export const planPrices = (
  known: ToolPrices | undefined,
  wanted: Terms,
  now: DateTime.Utc,
  notice: Duration.Duration
): ToolPrices => {
  if (known === undefined) {
    const first = { ...wanted, version: 1, announcedAt: now, effectiveFrom: now, replacedAt: undefined }
    return { inEffect: first, upcoming: undefined, lastVersion: 1 }
  }
  const { inEffect: before, lastVersion, upcoming: announced } = pricesAt(known, now.epochMilliseconds)
  const inEffect = withTextsOf(before, wanted)
  const upcoming = announced === undefined ? undefined : withTextsOf(announced, wanted)
  if (sameTerms(wanted, inEffect)) return { inEffect, upcoming: undefined, lastVersion }
  if (upcoming !== undefined && sameTerms(wanted, upcoming)) return { inEffect, upcoming, lastVersion }

  // The clocks of two nodes may differ: the history never goes backward.
  const at = DateTime.max(now, inEffect.effectiveFrom)
  const versions: Array<PriceVersion> = []
  const add = (terms: Terms, effectiveFrom: DateTime.Utc): PriceVersion => {
    const version = lastVersion + versions.length + 1
    // This tells permanently whether terms were announced before or apply at once.
    const announcedAt = DateTime.isLessThanOrEqualTo(effectiveFrom, at) ? effectiveFrom : now
    const added = { ...terms, version, announcedAt, effectiveFrom, replacedAt: undefined }
    versions.push(added)
    return added
  }

  const from = effectiveFrom(inEffect, wanted, at, notice)
  if (DateTime.isLessThanOrEqualTo(from, at)) {
    return { inEffect: add(wanted, at), upcoming: undefined, lastVersion: lastVersion + 1 }
  }
  const atOnce = better(inEffect, wanted)
  const inEffectNow = sameTerms(atOnce, inEffect) ? inEffect : add(atOnce, at)
  // Terms that are not worse than announced ones need no longer notice than these.
  const noticed = upcoming !== undefined && noWorse(wanted, upcoming) ? upcoming.effectiveFrom : from
  const next = add(wanted, DateTime.min(from, noticed))
  return { inEffect: inEffectNow, upcoming: next, lastVersion: lastVersion + versions.length }
}

const effectiveFrom = (inEffect: Terms, wanted: Terms, at: DateTime.Utc, notice: Duration.Duration): DateTime.Utc => {
  if (Duration.isZero(notice) || noWorse(wanted, inEffect)) return at
  const noticed = DateTime.addDuration(at, notice)
  return wanted.freeTierCalls < inEffect.freeTierCalls ? monthFrom(noticed) : noticed
}

/** Texts of an output schema change without notice. */
const withTextsOf = (version: PriceVersion, { outputSchema }: Terms): PriceVersion =>
  outputSchema !== undefined && judgesTheSame(version.outputSchema, outputSchema)
    ? { ...version, outputSchema }
    : version

/** The start of the first calendar month (UTC) that is not before `at`. */
const monthFrom = (at: DateTime.Utc): DateTime.Utc => {
  const month = DateTime.startOf(at, "month")
  return DateTime.Equivalence(month, at) ? at : DateTime.add(month, { months: 1 })
}

// The rule for names of new tools, beside handles: a qualified name always means the tool of that provider.

/**
 * Returns why a new tool cannot have this name. A tool named `acme/echo` would be mistaken for the tool `echo` of the
 * provider with the handle `acme`.
 */
const nameFault = (
  { handle: own, id }: Provider,
  toolName: string,
  taken: ReadonlySet<string>,
  owners: ReadonlyMap<string, ProviderId>
): string | undefined => {
  // Calls of its own tool `acme/echo` would go to the new `echo`, at another price and without notice.
  const qualified = qualifiedName(own, toolName)
  if (taken.has(qualified)) return `calls of your tool \`${qualified}\` would go to this one. Choose another tool_name`
  const handle = splitQualified(toolName)?.handle
  const owner = handle === undefined ? undefined : owners.get(handle)
  if (owner === undefined || owner === id) return undefined
  return `a tool_name cannot begin with \`${handle}/\`: \`${handle}\` is the handle of another provider`
}

export const TOOLS_PER_PROVIDER_MAX = 1_000
/** Each version is kept permanently: receipts refer to it. */
export const PRICE_CHANGES_PER_DAY_MAX = 100

/** The checks of a request take less time than a request may take. */
const CHECKS_TIME_MAX = Duration.seconds(20)

/** A declaration of a request that was not stored, and why. */
export interface RejectedTool {
  /** Index in the request. */
  readonly index: number
  readonly tool_name: string
  readonly error: string
}

/** One entry for each declaration of a request. A rejected one does not stop the others. */
export interface UpsertResult {
  readonly stored: ReadonlyArray<ToolOutcome>
  readonly rejected: ReadonlyArray<RejectedTool>
}

/** Says whether an upsert replaces tools or changes them, and whether it lists them. */
export interface UpsertMode {
  readonly source: ChangeSource
  /** `kept`: the terms of a tool that was listed before do not change, except that a new output schema is announced. */
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

/**
 * Checks the schemas of changes before a unit of work begins, which then does not wait for it. Returns what is wrong, by the
 * name of the tool.
 */
export const makeSchemaChecks = Effect.gen(function* () {
  const { check } = yield* JsonSchemas

  return Effect.fn("Catalog.checkSchemas")(function* (providerId: ProviderId, changes: ReadonlyArray<ToolChange>) {
    const faults = new Map<string, string>()
    const checkAll = Effect.gen(function* () {
      for (const { inputSchema, outputSchema, toolName } of changes) {
        for (const [name, schema] of Object.entries({ input_schema: inputSchema, output_schema: outputSchema })) {
          if (schema === undefined || schema === null) continue
          const fault = yield* check(schema, providerId).pipe(
            Effect.as(undefined),
            Effect.catchTags({
              InvalidJsonSchema: (error) => Effect.succeed(error),
              SchemaBudgetSpent: ({ of, waitMs }) => Effect.fail(new SchemaChecksLimited({ of, waitMs }))
            })
          )
          if (fault !== undefined) faults.set(toolName, reasonOf(name, fault))
        }
      }
    })
    // Other accounts use the time. What was checked by then is not checked again.
    yield* Effect.timeoutOrElse(checkAll, {
      duration: CHECKS_TIME_MAX,
      orElse: () => Effect.fail(new SchemaChecksLimited({ of: "process", waitMs: 1_000 }))
    })
    return faults
  })
})

/** Upserts the tools of a provider, in one unit of work. */
export const makeToolUpsert = Effect.gen(function* () {
  const store = yield* CatalogStore
  const accounts = yield* AccountStore
  const handles = yield* HandleStore
  const schemas = yield* JsonSchemas
  const feed = yield* ChangeFeed
  const entropy = yield* Entropy
  const { freeTierCalls: defaultFreeTier, priceNotice: notice } = yield* CatalogPolicy
  const { atomically } = yield* UnitOfWork

  /** A schema that is stored already stays, even if today's rules would reject it. */
  const checkSchema = (
    name: string,
    schema: ToolDeclaration["inputSchema"],
    stored: ToolDeclaration["inputSchema"],
    providerId: ProviderId
  ) =>
    schema === undefined || sameJson(schema, stored)
      ? Effect.void
      : Effect.mapError(
          schemas.check(schema, providerId),
          (error) => new ToolRejected({ reason: reasonOf(name, error) })
        )

  /** The provider's tools that the changes concern, and the owners of handles that begin new names. */
  const lookUp = Effect.fnUntraced(function* (provider: Provider, changes: ReadonlyArray<ToolChange>) {
    const names = changes.flatMap(({ toolName }) => [toolName, qualifiedName(provider.handle, toolName)])
    const found = yield* store.findAllOf(provider.id, names)
    const handlesNamed = changes.flatMap(({ toolName }) => splitQualified(toolName)?.handle ?? [])
    const owners: ReadonlyMap<string, ProviderId> =
      handlesNamed.length === 0 ? new Map() : yield* handles.ownersOf([...new Set(handlesNamed)])
    return { known: new Map(found.map((entry) => [entry.tool.toolName, entry])), owners }
  })

  /** Including the change that is being made. */
  const changedTooOften = Effect.fnUntraced(function* (past: CatalogEntry, next: ToolPrices, at: DateTime.Utc) {
    const added = next.lastVersion - past.prices.lastVersion
    if (added === 0 || next.lastVersion <= PRICE_CHANGES_PER_DAY_MAX) return false
    const before = PRICE_CHANGES_PER_DAY_MAX - added
    const first = (yield* store.prices(past.tool.id, before + 1)).at(before)
    return first !== undefined && DateTime.isGreaterThan(first.announcedAt, DateTime.subtract(at, { days: 1 }))
  })

  /** The versions that the tools' definitions are in; a draft has none. */
  const recordVersions = Effect.fnUntraced(function* (
    tools: ReadonlyArray<StoredTool>,
    source: ChangeSource,
    at: DateTime.Utc
  ) {
    const changed = tools.filter(
      ({ declaration, draft, past }) =>
        draft !== true && (past === undefined || changedFields(declarationOf(past.tool), declaration).length > 0)
    )
    const later = changed.flatMap(({ id, past }) => (past === undefined ? [] : [id]))
    const last = later.length === 0 ? undefined : yield* store.lastVersions(later)
    const versions = changed.flatMap(({ declaration, id }) => {
      const next = nextVersion(last?.get(id), declaration, source, at)
      return next === undefined ? [] : [[id, next] as const]
    })
    if (versions.length > 0) yield* store.addVersions(versions, VERSIONS_KEPT)
  })

  return Effect.fn("Catalog.upsert")(function* (
    providerId: ProviderId,
    changes: ReadonlyArray<ToolChange>,
    { source, state, terms }: UpsertMode = BY_PROVIDER
  ) {
    const rejected: Array<RejectedTool> = []
    if (changes.length === 0) return { stored: [], rejected }
    const provider = Option.getOrThrow(yield* accounts.findProvider(providerId))
    const at = yield* DateTime.now
    let room = TOOLS_PER_PROVIDER_MAX - (yield* store.countOf(providerId))
    const twice = namesTwice(changes)
    const { known: knownTools, owners } = yield* lookUp(provider, changes)
    /** Names of the provider's tools, with those that are added now. */
    const taken = new Set(knownTools.keys())

    const planOne = Effect.fnUntraced(function* (change: ToolChange) {
      if (twice.has(change.toolName)) {
        return yield* new ToolRejected({ reason: "this tool_name is in the request more than once" })
      }
      const known = knownTools.get(change.toolName)
      if (!isAllowed(state, known?.tool)) {
        return yield* new ToolRejected({ reason: "the tool was listed or withdrawn in the meantime" })
      }
      if (known === undefined || known.tool.draft) {
        const reason = nameFault(provider, change.toolName, taken, owners)
        if (reason !== undefined) return yield* new ToolRejected({ reason })
      }
      const declaration = applyChange(known === undefined ? undefined : declarationOf(known.tool), change)
      if (declaration.outputSchema === undefined && declaration.billingPolicy === "valid_output") {
        return yield* new ToolRejected({ reason: "billing_policy `valid_output` requires an output_schema" })
      }
      const { inputSchema, outputSchema } = declaration
      yield* checkSchema("input_schema", inputSchema, known?.tool.inputSchema, providerId)
      yield* checkSchema("output_schema", outputSchema, known?.tool.outputSchema, providerId)
      const past = withHistory(known)
      const wanted =
        past !== undefined && terms === "kept"
          ? keptTerms(past.prices, declaration, at)
          : declaredTerms(declaration, provider, defaultFreeTier)
      const prices = planPrices(past?.prices, wanted, at, notice)
      if (known === undefined && room-- <= 0) {
        return yield* new ToolRejected({ reason: `a provider has at most ${TOOLS_PER_PROVIDER_MAX} tools` })
      }
      if (past !== undefined && (yield* changedTooOften(past, prices, at))) {
        const reason = `the price of a tool changes at most ${PRICE_CHANGES_PER_DAY_MAX} times in 24 hours`
        return yield* new ToolRejected({ reason })
      }
      const draft = (state === "draft" && past === undefined) || (state === "unchanged" && known?.tool.draft === true)
      taken.add(change.toolName)
      const upsert = {
        id: ToolId.make(yield* entropy.uuid),
        providerId,
        declaration,
        prices,
        searchTokens: tokensOfTool(declaration, provider.name),
        at,
        draft
      }
      return { upsert, past }
    })

    const planned: Array<{ readonly upsert: ToolUpsert; readonly past: CatalogEntry | undefined }> = []
    for (const [index, change] of changes.entries()) {
      const plan = yield* planOne(change).pipe(Effect.catchTag("ToolRejected", Effect.succeed))
      if (plan instanceof ToolRejected) rejected.push({ index, tool_name: change.toolName, error: plan.message })
      else planned.push(plan)
    }
    if (planned.length === 0) return { stored: [], rejected }
    const stored = yield* store.upsert(planned.map(({ upsert }) => upsert))
    yield* recordVersions(
      planned.map(({ past, upsert }, n) => ({ ...upsert, id: stored[n]!.id, past })),
      source,
      at
    )
    yield* feed.publishAll(stored.map(({ id }) => ({ topic: "catalog", id })))
    return { stored, rejected }
  }, atomically)
})

interface StoredTool extends Pick<ToolUpsert, "declaration" | "draft" | "id"> {
  readonly past: CatalogEntry | undefined
}

/** The history of a draft begins when it is listed. */
const withHistory = (known: CatalogEntry | undefined): CatalogEntry | undefined =>
  known?.tool.draft === true ? undefined : known

/** The latest ones, with the output schema of the declaration. */
const keptTerms = (known: ToolPrices, { outputSchema }: ToolDeclaration, at: DateTime.Utc): Terms => {
  const { inEffect, upcoming } = pricesAt(known, at.epochMilliseconds)
  const latest = termsOf(upcoming ?? inEffect)
  return { ...latest, ...billedSchemaOf(latest.billingPolicy, outputSchema) }
}

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
      } used up their processing time for now. Send this tool again in ${inSeconds(error.retryAfterSeconds)}`

const namesTwice = (changes: ReadonlyArray<ToolChange>): ReadonlySet<string> => {
  const seen = new Set<string>()
  return new Set(changes.map((one) => one.toolName).filter((name) => seen.has(name) || (seen.add(name), false)))
}
