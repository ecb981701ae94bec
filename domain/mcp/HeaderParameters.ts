/**
 * `x-mcp-header` of 2026-07-28: parameters of a tool that are sent as `Mcp-Param-*` headers in addition to the body.
 */
import { isObject } from "../shared/JsonText.ts"

export interface HeaderParameter {
  readonly path: ReadonlyArray<string>
  /** The name in lower case. */
  readonly header: string
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

/** The member of a method's params that `Mcp-Name` repeats. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])
