/**
 * Errors of the server's transport layer that say nothing about the tool and can be fixed. A request is sent again only
 * if a 4xx status, or a modern server's error code, proves that the tool did not run.
 */
import { HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION } from "../../domain/upstream/Protocol.ts"
import type { Link } from "./ProtocolEra.ts"
import type { Reply } from "./Reply.ts"

export type Repair =
  | "none"
  /** The session is gone: repeat the handshake and the request. */
  | "new_session"
  /** The server does not support this version: determine its version and repeat the request. */
  | "new_era"
  /** The server may have changed its era: determine it, and repeat the request only if it has. */
  | "other_era"
  /** Headers for the tool's parameters are missing or outdated: read the tool list and repeat the request. */
  | "tool_headers"
  /** The session accepts one request at a time: repeat the request in another one. */
  | "own_session"
  /** Possibly the era: determine it before the next call. */
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
  // Servers on older SDKs return these for requests without a handshake.
  const legacyRejection = code === undefined || code === -32000 || code === -32001
  return legacyRejection && (status === 400 || status === 404 || status === 405) ? "other_era" : "none"
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
