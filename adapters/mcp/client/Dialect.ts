/**
 * How the client of a provider's server writes its requests, in both eras of the protocol.
 */
import { MAX_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  type McpEra,
  MODERN_VERSION,
  VERSION_META
} from "../../../domain/upstream/Protocol.ts"
import { requestBody } from "./JsonRpc.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import { headerText } from "./ToolHeaders.ts"

/** How to speak to one endpoint. */
export interface Link {
  readonly era: McpEra
  readonly version: string
  readonly sessionId: string | undefined
}

type ClientIdentity = Pick<McpUpstreamOptions, "clientName" | "clientVersion">

const accept = ["accept", "application/json, text/event-stream"]
const posted = [...accept, "content-type", "application/json"]

/** Headers of a POST with `method`, and the tool's name for a call. */
export const postHeaders = (link: Link | undefined, method: string, toolName?: string): Array<string> => {
  const headers = posted.slice()
  if (link === undefined) return headers
  if (link.era === "modern") {
    headers.push("mcp-protocol-version", link.version, "mcp-method", method)
    if (toolName !== undefined) headers.push("mcp-name", headerText(toolName))
  } else appendSession(headers, link)
  return headers
}

/** Headers of a GET that resumes a stream, or of the DELETE that ends a session. */
export const sessionHeaders = (link: Link, lastEventId?: string): Array<string> => {
  const headers = lastEventId === undefined ? [] : ["accept", "text/event-stream", "last-event-id", lastEventId]
  appendSession(headers, link)
  return headers
}

/** Headers of a GET for messages that belong to no request. */
export const listenHeaders = (link: Link, lastEventId: string | undefined): Array<string> => {
  const headers = ["accept", "text/event-stream"]
  if (lastEventId !== undefined && isEventId(lastEventId)) headers.push("last-event-id", lastEventId)
  appendSession(headers, link)
  return headers
}

export const modernLink: Link = { era: "modern", version: MODERN_VERSION, sessionId: undefined }

/** The `_meta` of every modern request, as JSON. `capabilities` too. */
export const modernMeta = (client: ClientIdentity, capabilities = "{}"): string => {
  const info = JSON.stringify({ name: client.clientName, version: client.clientVersion })
  return `{"${VERSION_META}":"${MODERN_VERSION}","${CLIENT_INFO_META}":${info},"${CLIENT_CAPABILITIES_META}":${capabilities}}`
}

export const discoverBody = (id: number, meta: string): string =>
  requestBody(id, "server/discover", `{"_meta":${meta}}`)

/** `meta`: of the modern era. */
export const toolListBody = (id: number, meta: string | undefined, cursor: string | undefined): string => {
  const members = [
    ...(cursor === undefined ? [] : [`"cursor":${JSON.stringify(cursor)}`]),
    ...(meta === undefined ? [] : [`"_meta":${meta}`])
  ]
  return requestBody(id, "tools/list", `{${members.join(",")}}`)
}

/** `capabilities`: as JSON. */
export const initializeBody = (id: number, version: string, client: ClientIdentity, capabilities: string): string => {
  const info = JSON.stringify({ name: client.clientName, version: client.clientVersion })
  return requestBody(
    id,
    "initialize",
    `{"protocolVersion":"${version}","capabilities":${capabilities},"clientInfo":${info}}`
  )
}

/**
 * `meta`: of the modern era. `maxCost`, the most that may be charged for the call, is in the body, which the signature
 * covers. Progress is always asked for: it gives the tool more time.
 */
export const toolCallBody = (
  id: number,
  link: Link,
  meta: string,
  toolName: string,
  args: Readonly<Record<string, unknown>>,
  maxCost?: bigint
): string => {
  const named = `{"name":${JSON.stringify(toolName)},"arguments":${JSON.stringify(args)}`
  const capped = maxCost === undefined ? "" : `,"${MAX_COST_FIELD}":${maxCost}`
  const ofEra = link.era === "modern" ? `,${meta.slice(1, -1)}` : ""
  return requestBody(id, "tools/call", `${named},"_meta":{"progressToken":${id}${capped}${ofEra}}}`)
}

/** An event id that is a valid header value. */
export const isEventId = (text: string): boolean => /^[\x20-\x7e]{1,1024}$/u.test(text)

/** A session id that is a valid header value; others are ignored. */
export const isSessionId = (text: string): boolean => /^[\x21-\x7e]{1,1024}$/u.test(text)

/** 2025-03-26 and before have no version header. */
const appendSession = (headers: Array<string>, link: Link): void => {
  if (link.version >= "2025-06-18") headers.push("mcp-protocol-version", link.version)
  if (link.sessionId !== undefined) headers.push("mcp-session-id", link.sessionId)
}
