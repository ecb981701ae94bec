/**
 * Plans the changes of an import or a sync: compares the tools that the provider's server lists with those of the
 * market. Pure. Each field of a definition is merged three ways. A field that the provider has not changed by hand
 * since the last import follows the server; one that it has changed stays. Terms of listed tools never follow the
 * server.
 */
import { DateTime, type Duration, Schema } from "effect"
import { sameJson } from "../shared/JsonText.ts"
import type { Microcents } from "../shared/Microcents.ts"
import { definitionFault, escapeHidden, withNewlines } from "../shared/PlainText.ts"
import type { ListedTool } from "../upstream/ProviderServers.ts"
import { DEFINITION_FIELDS, definitionOf, type ToolDefinition } from "./CatalogStore.ts"
import { JSON_SCHEMA_BYTES_MAX, JSON_SCHEMA_DEPTH_MAX } from "./JsonSchemas.ts"
import {
  applyChange,
  defaultsOf,
  type JsonSchemaObject,
  type ToolAnnotations,
  type ToolChange,
  type ToolDeclaration,
  ToolName
} from "./Tool.ts"

export const DISPLAY_NAME_CHARS_MAX = 200
export const DESCRIPTION_CHARS_MAX = 4_000
/** A rejection shows this much of a name that is not valid. */
const NAME_SHOWN_CHARS_MAX = 60

/**
 * A tool as the provider's MCP server lists it, checked: the server is not trusted. Names have the pattern of the catalog,
 * texts are bounded, schemas have a bounded size and depth.
 */
export interface ServerTool {
  readonly toolName: string
  readonly definition: ToolDefinition
}

export interface RejectedServerTool {
  /** Shortened, with hidden characters as escapes, if it is not a valid name. */
  readonly toolName: string
  readonly reason: string
}

export interface ServerTools {
  readonly tools: ReadonlyArray<ServerTool>
  readonly rejected: ReadonlyArray<RejectedServerTool>
}

const isToolName = Schema.is(ToolName)
const FORM =
  "a tool_name has 1 to 128 letters, digits, `_`, `-`, `.` or `/`, does not begin with `/`, and has no `./` or `../`"

/** Reads at most `toolsMax` tools; rejects a name that is listed twice: it is unknown which of them is called. */
export const readServerTools = (listed: ReadonlyArray<ListedTool>, toolsMax: number): ServerTools => {
  const times = new Map<string, number>()
  for (const { name } of listed) times.set(name, (times.get(name) ?? 0) + 1)
  const tools: Array<ServerTool> = []
  const rejected = new Map<string, RejectedServerTool>()
  for (const tool of listed) {
    const read = times.get(tool.name)! > 1 ? "the server lists this name more than once" : readOne(tool)
    if (typeof read !== "string" && tools.length < toolsMax) tools.push(read)
    else {
      const reason = typeof read === "string" ? read : `a provider has at most ${toolsMax} tools`
      rejected.set(tool.name, { toolName: isToolName(tool.name) ? tool.name : shown(tool.name), reason })
    }
  }
  return { tools, rejected: [...rejected.values()] }
}

/** The tool, or the reason for its rejection. */
const readOne = ({ definition, name, text }: ListedTool): ServerTool | string => {
  if (!isToolName(name)) return FORM
  if (text.length > DEFINITION_CHARS_MAX) {
    return `its definition is larger than ${DEFINITION_CHARS_MAX.toLocaleString("en-US")} characters`
  }
  const hidden = definitionFault(definition)
  if (hidden !== undefined) return `its definition ${hidden}`
  const inputSchema = schemaOf(definition["inputSchema"])
  if (typeof inputSchema === "string") return `inputSchema ${inputSchema}`
  const outputSchema = schemaOf(definition["outputSchema"])
  if (typeof outputSchema === "string") return `outputSchema ${outputSchema}`
  const hints = objectOf(definition["annotations"])
  const title = line(definition["title"]) ?? line(hints?.["title"])
  return {
    toolName: name,
    definition: {
      displayName: title ?? name,
      description: textOf(definition["description"], DESCRIPTION_CHARS_MAX),
      inputSchema,
      outputSchema,
      annotations: hints === undefined ? undefined : hintsOf(hints)
    }
  }
}

/** Both schemas, and room for the texts. */
const DEFINITION_CHARS_MAX = 3 * JSON_SCHEMA_BYTES_MAX

const schemaOf = (value: unknown): JsonSchemaObject | undefined | string => {
  if (value === undefined || value === null) return undefined
  const schema = objectOf(value)
  if (schema === undefined) return "must be an object"
  return isDeeper(schema, JSON_SCHEMA_DEPTH_MAX) ? `is nested more than ${JSON_SCHEMA_DEPTH_MAX} levels deep` : schema
}

/** Level by level: a recursion could exhaust the stack. */
const isDeeper = (value: object, depthMax: number): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; depth <= depthMax; depth++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []))
    if (level.length === 0) return false
  }
  return true
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const

const hintsOf = (hints: Readonly<Record<string, unknown>>): ToolAnnotations | undefined => {
  const known = HINTS.flatMap((name) => (typeof hints[name] === "boolean" ? [[name, hints[name]] as const] : []))
  return known.length === 0 ? undefined : Object.fromEntries(known)
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

const textOf = (value: unknown, charsMax: number): string => {
  if (typeof value !== "string") return ""
  const text = withNewlines(value).trim()
  return text.length <= charsMax
    ? text
    : `${text
        .slice(0, charsMax - 1)
        .toWellFormed()
        .replace(/\ufffd$/u, "")}…`
}

/** One line of text; undefined if there is none. */
const line = (value: unknown): string | undefined => {
  const text = textOf(value, DISPLAY_NAME_CHARS_MAX)
  return text === "" ? undefined : text
}

const shown = (name: string): string => {
  const text = textOf(escapeHidden(name.slice(0, NAME_SHOWN_CHARS_MAX)), NAME_SHOWN_CHARS_MAX)
  return text === "" ? "(unnamed)" : text
}

/** A tool of the provider in the market, and what its server listed last. */
export interface MarketTool {
  readonly declaration: ToolDeclaration
  readonly state: "listed" | "draft" | "withdrawn"
  /** The sync withdrew it, because the server no longer listed it. */
  readonly withdrawnByServer: boolean
  /** A result is billed if it matches the output schema: under the terms in effect, or announced ones. */
  readonly billedByOutput: boolean
  /** Undefined if it was never imported. */
  readonly imported: ToolDefinition | undefined
  /** The time when the server first failed to list it. */
  readonly missingSince: DateTime.Utc | undefined
}

export interface ImportRequest {
  readonly listed: ReadonlyArray<ServerTool>
  readonly rejected: ReadonlyArray<RejectedServerTool>
  /** The server has further tools, which were not read: tools that are not listed may still exist. */
  readonly truncated: boolean
  readonly market: ReadonlyArray<MarketTool>
  /** Definitions that the provider does not want as drafts, by tool name. */
  readonly dismissed: ReadonlyMap<string, ToolDefinition>
  /** The provider's changes by tool name, without prices in a sync. */
  readonly overrides: ReadonlyMap<string, ToolChange>
  /** Undefined: new tools and drafts get the provider's default. */
  readonly defaultPrice: Microcents | undefined
  /** New tools are listed, else they are drafts. */
  readonly listNew: boolean
  /** The provider itself imports, and sees the preview: drafts are priced anew, and everything is applied. */
  readonly byProvider: boolean
  readonly now: DateTime.Utc
  /** The time between the first round in which a tool is missing and its withdrawal. */
  readonly grace: Duration.Duration
}

export interface PlannedTool {
  readonly toolName: string
  readonly change: ToolChange
  /** The definition to remember as imported. */
  readonly imported: ToolDefinition
}

export interface PlannedCreate extends PlannedTool {
  readonly draft: boolean
}

export interface PlannedChange extends PlannedTool {
  readonly fields: ReadonlyArray<DeclaredField>
  /** `kept`: the terms do not change. */
  readonly terms: "declared" | "kept"
  /** `listed`: a draft, or a tool that the provider withdrew, is listed. */
  readonly state: "listed" | "draft" | "unchanged"
}

export type DeclaredField = Exclude<keyof ToolDeclaration, "toolName">

export interface UnchangedTool {
  readonly toolName: string
  /** The definition to remember; undefined: none. */
  readonly imported: ToolDefinition | undefined
}

export interface MissingTool {
  readonly toolName: string
  readonly since: DateTime.Utc
  readonly withdrawnFrom: DateTime.Utc
}

export interface HeldChange {
  readonly toolName: string
  readonly reason: string
}

export interface ImportPlan {
  readonly creates: ReadonlyArray<PlannedCreate>
  readonly changes: ReadonlyArray<PlannedChange>
  readonly restored: ReadonlyArray<PlannedTool>
  /** Tools of which the service only remembers that the server lists them. */
  readonly unchanged: ReadonlyArray<UnchangedTool>
  /** Tools that the server does not list; they are withdrawn when the grace period is over. */
  readonly missing: ReadonlyArray<MissingTool>
  /** The grace period is over. */
  readonly withdrawals: ReadonlyArray<string>
  /** Drafts whose grace period is over. */
  readonly removedDrafts: ReadonlyArray<string>
  /** Dismissed by the provider, and not changed by the server since. */
  readonly dismissed: ReadonlyArray<string>
  /** Left for the provider, which applies them with an import. */
  readonly held: ReadonlyArray<HeldChange>
  readonly rejected: ReadonlyArray<RejectedServerTool>
}

export const planImport = (request: ImportRequest): ImportPlan => {
  const market = new Map(request.market.map((tool) => [tool.declaration.toolName, tool]))
  const listed = new Set(request.listed.map(({ toolName }) => toolName))
  const refused = new Set(request.rejected.map(({ toolName }) => toolName))
  const creates: Array<PlannedCreate> = []
  const changes: Array<PlannedChange> = []
  const restored: Array<PlannedTool> = []
  const unchanged: Array<UnchangedTool> = []
  const held: Array<HeldChange> = []
  const dismissed: Array<string> = []
  const rejected = [...request.rejected]

  for (const tool of request.listed) {
    const known = market.get(tool.toolName)
    if (known === undefined) {
      if (isDismissed(tool, request)) dismissed.push(tool.toolName)
      else creates.push(created(tool, request))
    } else if (known.state === "withdrawn" && !known.withdrawnByServer && !isOverridden(tool, request)) {
      // The provider withdrew it. An override lists it again, as a registration does.
      unchanged.push({ toolName: tool.toolName, imported: known.imported })
    } else {
      const merged = merge(known, tool, request)
      if (merged.isHeld) held.push({ toolName: tool.toolName, reason: HELD_OUTPUT_SCHEMA })
      const planned = { toolName: tool.toolName, change: merged.change, imported: merged.imported }
      if (known.state === "withdrawn" && !isOverridden(tool, request)) restored.push(planned)
      else if (isChanged(known, merged.change, request)) {
        const priced = known.state === "draft" ? request.byProvider : isOverridden(tool, request)
        changes.push({
          ...planned,
          fields: fieldsOf(known, merged.change),
          terms: priced ? "declared" : "kept",
          state: stateAfter(known, request)
        })
      } else unchanged.push({ toolName: tool.toolName, imported: merged.imported })
    }
  }

  for (const name of request.overrides.keys()) {
    if (!listed.has(name)) rejected.push({ toolName: name, reason: "the server does not list this tool" })
  }

  const missing: Array<MissingTool> = []
  const withdrawals: Array<string> = []
  const removedDrafts: Array<string> = []
  for (const { declaration, imported, missingSince, state } of request.market) {
    const { toolName } = declaration
    if (imported === undefined || state === "withdrawn" || request.truncated) continue
    if (listed.has(toolName) || refused.has(toolName)) continue
    const since = missingSince ?? request.now
    const withdrawnFrom = DateTime.addDuration(since, request.grace)
    const isOver = missingSince !== undefined && DateTime.isLessThanOrEqualTo(withdrawnFrom, request.now)
    if (!isOver) missing.push({ toolName, since, withdrawnFrom })
    else (state === "draft" ? removedDrafts : withdrawals).push(toolName)
  }
  return { creates, changes, restored, unchanged, missing, withdrawals, removedDrafts, dismissed, held, rejected }
}

const HELD_OUTPUT_SCHEMA =
  "the server changed the outputSchema, which decides what this tool bills; an import by you announces it as new terms"

const created = (tool: ServerTool, { defaultPrice, listNew, overrides }: ImportRequest): PlannedCreate => ({
  toolName: tool.toolName,
  imported: tool.definition,
  draft: !listNew,
  change: {
    ...tool.definition,
    // A default only: a later change of the hint changes nothing.
    idempotent: tool.definition.annotations?.idempotentHint === true,
    price: defaultPrice,
    ...overrideOf(tool.toolName, overrides),
    toolName: tool.toolName
  }
})

interface Merged {
  readonly change: ToolChange
  readonly imported: ToolDefinition
  readonly isHeld: boolean
}

const merge = (known: MarketTool, tool: ServerTool, request: ImportRequest): Merged => {
  const current = definitionOf(known.declaration)
  const base = known.imported ?? definitionOf(defaultsOf(tool.toolName))
  const followed = DEFINITION_FIELDS.filter((field) => sameJson(current[field], base[field]))
  const isHeld =
    !request.byProvider &&
    known.billedByOutput &&
    followed.includes("outputSchema") &&
    !sameJson(current.outputSchema, tool.definition.outputSchema)
  const taken = Object.fromEntries(
    followed
      .filter((field) => !(isHeld && field === "outputSchema"))
      // Null resets the field; undefined would leave it as it is.
      .map((field) => [field, tool.definition[field] ?? null])
  )
  const priced = known.state === "draft" && request.byProvider ? { price: request.defaultPrice ?? null } : {}
  return {
    change: {
      ...taken,
      ...priced,
      ...overrideOf(tool.toolName, request.overrides),
      toolName: tool.toolName
    },
    imported: isHeld ? { ...tool.definition, outputSchema: base.outputSchema } : tool.definition,
    isHeld
  }
}

/** A tool stays dismissed until the server changes it, or an override names it. */
const isDismissed = (tool: ServerTool, request: ImportRequest): boolean => {
  const definition = request.dismissed.get(tool.toolName)
  return definition !== undefined && !isOverridden(tool, request) && sameJson(definition, tool.definition)
}

const isOverridden = ({ toolName }: ServerTool, { overrides }: ImportRequest): boolean => overrides.has(toolName)

const stateAfter = ({ state }: MarketTool, { byProvider, listNew }: ImportRequest): PlannedChange["state"] => {
  if (state === "listed") return "unchanged"
  return state === "withdrawn" || (byProvider && listNew) ? "listed" : "draft"
}

const isChanged = (known: MarketTool, change: ToolChange, request: ImportRequest): boolean =>
  stateAfter(known, request) === "listed" || fieldsOf(known, change).length > 0

const fieldsOf = ({ declaration }: MarketTool, change: ToolChange): ReadonlyArray<DeclaredField> => {
  const after = applyChange(declaration, change)
  return (Object.keys(after) as ReadonlyArray<keyof ToolDeclaration>).filter(
    (field): field is DeclaredField => field !== "toolName" && !sameJson(declaration[field], after[field])
  )
}

const overrideOf = (toolName: string, overrides: ImportRequest["overrides"]): Partial<ToolChange> =>
  Object.fromEntries(Object.entries(overrides.get(toolName) ?? {}).filter(([, value]) => value !== undefined))
