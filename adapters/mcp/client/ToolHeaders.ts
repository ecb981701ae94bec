/**
 * `x-mcp-header` of 2026-07-28: parameters that a tool requires as `Mcp-Param-*` headers in addition to the body. A
 * tool with invalid annotations may not be called.
 */
import { type HeaderParameter, headerParametersOf } from "../../../domain/mcp/HeaderParameters.ts"
import { isObject, type JsonObject } from "./JsonRpc.ts"

// Any text as a header value. Text that plain ASCII cannot represent is encoded as `=?base64?…?=`, the form of MCP's
// `Mcp-Name` and `Mcp-Param-*`; the `X-Market-*` headers use it as well.

export const headerText = (text: string): string =>
  plain.test(text) && !(text.startsWith(prefix) && text.endsWith(suffix))
    ? text
    : `${prefix}${Buffer.from(text, "utf8").toString("base64")}${suffix}`

const prefix = "=?base64?"
const suffix = "?="

/** Visible ASCII with inner spaces, or empty. */
const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/u

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
