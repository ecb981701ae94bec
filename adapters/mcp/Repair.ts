/**
 * Refusals that say nothing of the tool: the server turned the request away at the door, for a reason that can be put
 * right. Only what a 4xx status, or a modern server's own code, proves to have been turned away is sent again.
 */
import { HEADER_MISMATCH, type Link, MISSING_CAPABILITY, UNSUPPORTED_VERSION } from "./ProtocolEra.ts"
import type { Reply } from "./Reply.ts"

export type Repair =
  | "none"
  /** The session is gone: shake hands again, and send again. */
  | "new_session"
  /** The server says that it does not speak this version: find out which, and send again. */
  | "new_era"
  /** The server may speak another era than it did: find out, and send again only if it does. */
  | "other_era"
  /** Headers for the tool's parameters are missing or stale: read the tool list, and send again. */
  | "tool_headers"
  /** The session takes one request at a time: use another, and send again. */
  | "own_session"
  /** Perhaps the era: find out before the next call. */
  | "forget_era"

export const repairOf = (link: Link, reply: Reply): Repair => {
  if (reply.kind !== "rpc_error" && reply.kind !== "status") return "none"
  const { error, status } = reply
  if (link.era === "modern" && error?.code === HEADER_MISMATCH) return "tool_headers"
  if (link.era === "modern" && error?.code === UNSUPPORTED_VERSION) return "new_era"
  if (status < 400 || status >= 500 || status === 429) return "none"
  return link.era === "modern"
    ? repairOfModern(status, error?.code)
    : repairOfLegacy(link, status, error?.code, error?.message)
}

const repairOfModern = (status: number, code: number | undefined): Repair => {
  // Servers of the older SDKs say these to whatever does not begin with a handshake.
  const legacyRefusal = code === undefined || code === -32000 || code === -32001
  return legacyRefusal && (status === 400 || status === 404 || status === 405) ? "other_era" : "none"
}

const repairOfLegacy = (link: Link, status: number, code: number | undefined, message: string | undefined): Repair => {
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION) return "new_era"
  if (link.sessionId !== undefined) {
    if (status === 404) return "new_session"
    if (status === 400 && /session|initiali[sz]ed/iu.test(message ?? "")) return "new_session"
    if (status === 409) return "own_session"
  }
  return code === undefined && (status === 400 || status === 404 || status === 405) ? "forget_era" : "none"
}
