/**
 * Headers that repeat parts of the body for proxies in between: both must say the same.
 */
import { type HeaderParameter, NAMED_BY } from "../../../domain/mcp/HeaderParameters.ts"
import { header, type WebRequest } from "../pipeline/WebRequest.ts"
import type { RpcRequest } from "./RpcMessage.ts"
import { headerMismatch, type RpcFault } from "./RpcReply.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"

export const methodHeadersFault = (request: WebRequest, { id, method, params }: RpcRequest): RpcFault | undefined => {
  const sentMethod = header(request, "mcp-method")?.trim()
  if (sentMethod !== method) return mismatch("Mcp-Method", sentMethod, method, id)
  const member = NAMED_BY.get(method)
  const name = member === undefined ? undefined : params?.value[member]
  if (typeof name !== "string") return undefined
  const sent = header(request, "mcp-name")
  return sent !== undefined && decoded(sent) === name ? undefined : mismatch("Mcp-Name", sent, name, id)
}

/** `Mcp-Param-*`: of the arguments that the tool's schema marks. */
export const parameterHeadersFault = (
  request: WebRequest,
  id: string,
  parameters: ReadonlyArray<HeaderParameter>,
  args: Readonly<Record<string, unknown>>
): RpcFault | undefined => {
  for (const { header: name, path } of parameters) {
    const value = valueAt(args, path)
    const sent = header(request, name)
    const isMarked = typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    if (isMarked ? sent === undefined || !isSame(decoded(sent), value) : sent !== undefined) {
      return mismatch(name, sent, isMarked ? String(value) : undefined, id)
    }
  }
  return undefined
}

const valueAt = (args: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined), args)

/** Numbers by value: `42.0` is 42. */
const isSame = (sent: string | undefined, value: string | number | boolean): boolean =>
  sent === String(value) || (typeof value === "number" && sent !== undefined && sent !== "" && Number(sent) === value)

const PREFIX = "=?base64?"
const SUFFIX = "?="
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u
const PLAIN = /^[\x20-\x7e\t]*$/u

/** The value of a header, which may be encoded; undefined if it is malformed. */
const decoded = (raw: string): string | undefined => {
  const text = raw.trim()
  if (!PLAIN.test(text)) return undefined
  if (!text.startsWith(PREFIX) || !text.endsWith(SUFFIX) || text.length < PREFIX.length + SUFFIX.length) return text
  const encoded = text.slice(PREFIX.length, -SUFFIX.length)
  if (!BASE64.test(encoded)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, "base64"))
  } catch {
    return undefined
  }
}

const SHOWN_CHARS_MAX = 100

export const mismatch = (name: string, sent: string | undefined, body: string | undefined, id: string): RpcFault => {
  const inBody = body === undefined ? "the body has no such value" : `the body says \`${shortened(body)}\``
  const inHeader = sent === undefined ? "is missing" : `is \`${shortened(sent)}\``
  return headerMismatch(`The header ${name} ${inHeader}, and ${inBody}. Both must be equal.`, undefined, id)
}

const shortened = (text: string): string =>
  text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
