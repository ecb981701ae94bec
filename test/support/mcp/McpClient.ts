/**
 * The MCP client under test, and waiting for the other side of a socket.
 */
import { Context, Effect, Schedule } from "effect"
import { hmacOf } from "../../../adapters/crypto/Hmac.ts"
import { publicAndLoopback } from "../../../adapters/mcp/egress/AddressGuard.ts"
import * as McpUpstream from "../../../adapters/mcp/McpUpstream.ts"
import type { McpUpstreamSettings } from "../../../adapters/mcp/client/McpUpstreamOptions.ts"
import { ProviderServers } from "../../../domain/upstream/ProviderServers.ts"
import { ToolUpstream } from "../../../domain/upstream/ToolUpstream.ts"

export const SIGNING_SECRET = "a secret of the tests"

/** Both ports of the client that may call loopback, over the same connections, in the scope of the test. */
export const makeClient = (settings: Partial<McpUpstreamSettings> = {}) =>
  Effect.map(
    McpUpstream.make({
      policy: publicAndLoopback,
      signerOf: () => hmacOf(Buffer.from(SIGNING_SECRET)),
      retryDelayMsMin: 1,
      retryDelayMsMax: 5,
      ...settings
    }),
    (ports) => ({ upstream: Context.get(ports, ToolUpstream), servers: Context.get(ports, ProviderServers) })
  )

export const makeUpstream = (settings: Partial<McpUpstreamSettings> = {}) =>
  Effect.map(makeClient(settings), ({ upstream }) => upstream)

/** Waits for an event on the other side of a socket; a defect where it does not happen. */
export const eventually = (isSo: () => boolean, withinMs = 30_000): Effect.Effect<void> =>
  Effect.sync(isSo).pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("10 millis") }),
    Effect.asVoid,
    Effect.timeoutOrElse({ duration: withinMs, orElse: () => Effect.die(new Error(`Never came true: ${isSo}`)) })
  )
