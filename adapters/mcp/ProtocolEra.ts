/**
 * The two eras of MCP over HTTP. Modern (2026-07-28): every request carries its version and its client, nothing is
 * remembered. Legacy (2025-11-25 and before): a handshake, perhaps a session, and a version that both settled on.
 */
import { MAX_COST_FIELD } from "../../domain/metering/Billing.ts"
import { notificationBody, requestBody } from "./JsonRpc.ts"
import { headerText } from "./HeaderText.ts"

export const MODERN_VERSION = "2026-07-28"
/** The best first. 2024-11-05 is what servers on old SDKs still say over the newer transport. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const
/** Refusals that only a modern server knows. */
export const HEADER_MISMATCH = -32020
export const MISSING_CAPABILITY = -32021
export const UNSUPPORTED_VERSION = -32022

/** How to speak to one endpoint, as found out. */
export interface Link {
  readonly era: "modern" | "legacy"
  readonly version: string
  readonly sessionId: string | undefined
}

export interface ClientIdentity {
  readonly clientName: string
  readonly clientVersion: string
}

const accept = ["accept", "application/json, text/event-stream"]
const posted = [...accept, "content-type", "application/json"]

/** Headers of a POST that carries `method`; a tool's name where it calls one. */
export const postHeaders = (link: Link | undefined, method: string, toolName?: string): Array<string> => {
  const headers = posted.slice()
  if (link === undefined) return headers
  if (link.era === "modern") {
    headers.push("mcp-protocol-version", link.version, "mcp-method", method)
    if (toolName !== undefined) headers.push("mcp-name", headerText(toolName))
  } else appendSession(headers, link)
  return headers
}

/** Headers of a GET that takes a stream up again, or of the DELETE that ends a session. */
export const sessionHeaders = (link: Link, lastEventId?: string): Array<string> => {
  const headers = lastEventId === undefined ? [] : ["accept", "text/event-stream", "last-event-id", lastEventId]
  appendSession(headers, link)
  return headers
}

export const modernLink: Link = { era: "modern", version: MODERN_VERSION, sessionId: undefined }

/** The `_meta` that every modern request carries, as JSON. */
export const modernMeta = (client: ClientIdentity): string =>
  JSON.stringify({
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": { name: client.clientName, version: client.clientVersion },
    "io.modelcontextprotocol/clientCapabilities": {}
  })

export const discoverBody = (id: number, meta: string): string =>
  requestBody(id, "server/discover", `{"_meta":${meta}}`)

export const toolListBody = (id: number, meta: string, cursor: string | undefined): string =>
  requestBody(
    id,
    "tools/list",
    cursor === undefined ? `{"_meta":${meta}}` : `{"cursor":${JSON.stringify(cursor)},"_meta":${meta}}`
  )

export const initializeBody = (id: number, version: string, client: ClientIdentity): string =>
  requestBody(
    id,
    "initialize",
    JSON.stringify({
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: client.clientName, version: client.clientVersion }
    })
  )

export const initializedBody: string = notificationBody("notifications/initialized")

/**
 * `meta`: the modern era's own. `maxCost`, what may be charged for the call, stands in the body, which the signature
 * covers.
 */
export const toolCallBody = (
  id: number,
  link: Link,
  meta: string,
  toolName: string,
  args: Readonly<Record<string, unknown>>,
  wantsProgress = false,
  maxCost?: bigint
): string => {
  const named = `{"name":${JSON.stringify(toolName)},"arguments":${JSON.stringify(args)}`
  if (!wantsProgress && maxCost === undefined) {
    return requestBody(id, "tools/call", link.era === "modern" ? `${named},"_meta":${meta}}` : `${named}}`)
  }
  const fields = [
    ...(wantsProgress ? [`"progressToken":${id}`] : []),
    ...(maxCost === undefined ? [] : [`"${MAX_COST_FIELD}":${maxCost}`]),
    ...(link.era === "modern" ? [meta.slice(1, -1)] : [])
  ]
  return requestBody(id, "tools/call", `${named},"_meta":{${fields.join(",")}}}`)
}

/** A session id that may stand in a header; anything else is no session id. */
export const isSessionId = (text: string): boolean => /^[\x21-\x7e]{1,1024}$/u.test(text)

/** 2025-03-26 and before know no version header. */
const appendSession = (headers: Array<string>, link: Link): void => {
  if (link.version >= "2025-06-18") headers.push("mcp-protocol-version", link.version)
  if (link.sessionId !== undefined) headers.push("mcp-session-id", link.sessionId)
}
