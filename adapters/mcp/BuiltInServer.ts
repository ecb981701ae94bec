/**
 * A provider's MCP server within this process. A connection to it is a new pair of streams: it has no address, so no policy
 * needs an exception for it, and an endpoint of any other provider never reaches it.
 */
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { buildConnector } from "undici"
import type { ProviderId } from "../../domain/shared/Ids.ts"

export interface BuiltInServer {
  /** Only endpoints of this provider are connected to the server, whatever their URLs are. */
  readonly providerId: ProviderId
  /** Opens a connection. */
  readonly open: () => Duplex
}

export const builtInConnector =
  ({ open }: BuiltInServer): buildConnector.connector =>
  (_target, callback) =>
    // undici uses a socket only as a stream, except for methods that it looks for first.
    queueMicrotask(() => callback(null, open() as Socket))
