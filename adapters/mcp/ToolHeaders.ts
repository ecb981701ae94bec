/**
 * `x-mcp-header` of 2026-07-28: parameters that a tool requires as `Mcp-Param-*` headers in addition to the body. A
 * tool with invalid annotations may not be called.
 */
import { headerText } from "./HeaderText.ts"
import { isObject, type JsonObject } from "./JsonRpc.ts"

export interface HeaderParameter {
  readonly path: ReadonlyArray<string>
  readonly header: string
}

/** Only tools with annotations. */
export type ToolHeaders = ReadonlyMap<string, ReadonlyArray<HeaderParameter> | "invalid">

/** Reads a page of `tools/list` into `known`. */
export const readToolHeaders = (
  tools: unknown,
  known: Map<string, ReadonlyArray<HeaderParameter> | "invalid">
): void => {
  if (!Array.isArray(tools)) return
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool["name"] !== "string" || known.size >= TOOLS_MAX) continue
    const parameters = headerParametersOf(tool["inputSchema"])
    if (parameters === undefined) known.set(tool["name"], "invalid")
    else if (parameters.length > 0) known.set(tool["name"], parameters)
  }
}

/** Undefined if an annotation is invalid or misplaced. */
export const headerParametersOf = (inputSchema: unknown): ReadonlyArray<HeaderParameter> | undefined => {
  const parameters: Array<HeaderParameter> = []
  const names = new Set<string>()
  // `path` is undefined outside of a chain of `properties`.
  const visit = (schema: unknown, path: ReadonlyArray<string> | undefined, depth: number): boolean => {
    if (Array.isArray(schema)) return schema.every((part) => visit(part, undefined, depth + 1))
    if (!isObject(schema)) return true
    if (depth > DEPTH_MAX) return true
    if (Object.hasOwn(schema, "x-mcp-header")) {
      const name = schema["x-mcp-header"]
      if (
        path === undefined ||
        path.length === 0 ||
        typeof name !== "string" ||
        !token.test(name) ||
        names.has(name.toLowerCase()) ||
        !primitives.has(schema["type"])
      )
        return false
      names.add(name.toLowerCase())
      parameters.push({ path, header: `mcp-param-${name.toLowerCase()}` })
    }
    for (const [keyword, value] of Object.entries(schema)) {
      if (mapsOfSchemas.has(keyword) && isObject(value)) {
        for (const [key, child] of Object.entries(value)) {
          const below = keyword === "properties" && path !== undefined ? [...path, key] : undefined
          if (!visit(child, below, depth + 1)) return false
        }
      } else if (schemas.has(keyword) && !visit(value, undefined, depth + 1)) return false
    }
    return true
  }
  return visit(inputSchema, [], 0) ? parameters : undefined
}

/** Appends the header of every parameter that has an argument. */
export const appendParameterHeaders = (
  headers: Array<string>,
  parameters: ReadonlyArray<HeaderParameter>,
  args: JsonObject
): void => {
  for (const { header, path } of parameters) {
    let value: unknown = args
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
    if (typeof value === "string" || typeof value === "boolean" || typeof value === "number") {
      headers.push(header, headerText(String(value)))
    }
  }
}

const TOOLS_MAX = 10_000
const DEPTH_MAX = 64
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/u
const primitives = new Set<unknown>(["string", "integer", "boolean"])
const mapsOfSchemas = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies"
])
const schemas = new Set([
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "contentSchema",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else"
])
