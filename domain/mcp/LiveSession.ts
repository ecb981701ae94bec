/**
 * A session as requests use it: without its params, which are large, because many sessions are in memory.
 */
import type { DateTime } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import { memberOf } from "../shared/JsonText.ts"
import type { McpSession } from "./McpSessionStore.ts"
import { listingCapabilities, type ServerAddress } from "../upstream/ProviderServers.ts"

export interface LiveSession extends Omit<McpSession, "clientParams"> {
  /** Of the client, those by which servers choose the tools that they list. */
  readonly listingCapabilities: string
}

export const liveOf = ({ clientParams, ...live }: McpSession): LiveSession => ({
  ...live,
  listingCapabilities: listingCapabilities(memberOf(clientParams, 0, "capabilities"))
})

/** Whether requests of this account at this server may use the session. */
export const isUsable = (
  session: LiveSession,
  consumerId: ConsumerId,
  server: ServerAddress | undefined,
  now: DateTime.Utc
): boolean =>
  session.consumerId === consumerId &&
  session.server?.providerId === server?.providerId &&
  session.expiresAt.epochMilliseconds > now.epochMilliseconds
