/**
 * A tool as the provider's MCP server lists it, checked: the server is not trusted. Names have the pattern of the
 * catalog, texts are bounded, schemas have a bounded size and depth.
 */
import { Schema } from "effect"
import type { ListedTool } from "../upstream/ProviderServers.ts"
import { definitionFault, escapeHidden, withNewlines } from "../shared/PlainText.ts"
import { JSON_SCHEMA_BYTES_MAX, JSON_SCHEMA_DEPTH_MAX } from "./JsonSchemas.ts"
import { type JsonSchemaObject, type ToolAnnotations, ToolName } from "./Tool.ts"
import type { ToolDefinition } from "./ToolVersions.ts"

export const DISPLAY_NAME_CHARS_MAX = 200
export const DESCRIPTION_CHARS_MAX = 4_000
/** Of what a rejection shows of a name that is not valid. */
const NAME_SHOWN_CHARS_MAX = 60

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

/** At most `toolsMax` tools; a name that is listed twice is rejected, because it is unknown which of them is called. */
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
