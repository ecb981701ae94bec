/**
 * A session as requests use it: without its params, which are large, because many sessions are in memory.
 */
import type { McpSession } from "./McpSessionStore.ts"

export type LiveSession = Omit<McpSession, "clientParams">

export const liveOf = ({ clientParams: _, ...live }: McpSession): LiveSession => live
