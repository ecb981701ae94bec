/**
 * A session as requests use it: without its params, which are large, because many sessions are in memory.
 */
import type { DateTime } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import type { McpSession } from "./McpSessionStore.ts"
import type { ServerAddress } from "./ProviderServers.ts"

export type LiveSession = Omit<McpSession, "clientParams">

export const liveOf = ({ clientParams: _, ...live }: McpSession): LiveSession => live

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
