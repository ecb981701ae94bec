/**
 * All numbers and options of the upstream client, with their defaults.
 */
import type { UpstreamBounds } from "../../../domain/metering/CallTerms.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { publicOnly } from "../egress/AddressGuard.ts"
import type { BuiltInServer, Resolve } from "../egress/GuardedEgress.ts"
import type { Signer } from "./ProviderSignature.ts"

const defaults = {
  /** The addresses that may be dialed. */
  policy: publicOnly,
  /** The resolver of names; the system's except in tests. */
  resolve: undefined as Resolve | undefined,
  /** The server of one provider, within this process. */
  builtIn: undefined as BuiltInServer | undefined,
  clientName: "agent-tool-billing",
  clientVersion: "0.4.0",
  /** The wait before a retry is drawn from this range. */
  retryDelayMsMin: 50,
  retryDelayMsMax: 250,
  connectTimeoutMs: 5_000,
  /** Without a response to `server/discover` a session is tried. */
  probeTimeoutMs: 3_000,
  /** Version, handshake and tool list together. */
  setupTimeoutMs: 10_000,
  /** Limit for sending a cancellation or the end of a session. */
  notificationTimeoutMs: 1_000,
  /** A server may take this long to end a stream after its response, so that the socket can be reused. */
  lingerMs: 250,
  responseBodyBytesMax: 5 * 1024 * 1024,
  responseHeaderBytesMax: 16 * 1024,
  /** The limit of all large responses that are read or wait for the settlement of their calls. */
  answerBytesMax: 64 * 1024 * 1024,
  /** The limit per provider endpoint: sockets, and requests sent or waiting for a socket. */
  socketsMax: 256,
  inFlightMax: 1_024,
  /** Sessions of a server that accepts one request at a time in each. */
  exclusiveSessionsMax: 16,
  /** Endpoints in memory (version, session, sockets); the least recently used is removed. */
  endpointsMax: 1_000,
  /** Reconnections to a stream that ended before its response. */
  resumptionsMax: 20,
  /** The wait before such a reconnection if the server names none. */
  resumptionDelayMs: 500,
  /** Tools of an endpoint read for their `x-mcp-header` annotations, and how long that result is valid. */
  toolListPagesMax: 20,
  toolListTtlMs: 300_000,
  /** `tools/list` as a whole, for the catalog and for clients. */
  toolsMax: 1_000,
  toolPagesMax: 100,
  toolDefinitionBytesMax: 256 * 1024,
  toolListBytesMax: 4 * 1024 * 1024,
  toolListsBytesMax: 64 * 1024 * 1024,
  profileBytesMax: 256 * 1024,
  profileTtlMs: 300_000,
  /** One message of a server to a client, and how many of them come with one request. */
  messageBytesMax: 1024 * 1024,
  messagesMax: 1_000,
  /** A stream of messages that belong to no request: how long, and how many in a minute. */
  listenMsMax: 3_600_000,
  listenMessagesPerMinuteMax: 600,
  /** Passed requests in flight: per node and consumer, and per provider endpoint. */
  passedPerConsumerMax: 32,
  passedPerEndpointMax: 128,
  /** Streams: per node, of them per consumer and per provider endpoint. */
  listenersMax: 512,
  listenersPerConsumerMax: 16,
  listenersPerEndpointMax: 128,
  /** Consecutive failures that open an endpoint's circuit, and for how long: doubled each time, up to the maximum. */
  circuitFailures: 8,
  circuitOpenMs: 5_000,
  circuitOpenMsMax: 60_000
}

export interface McpUpstreamOptions extends Readonly<typeof defaults> {
  /**
   * All attempts of a call and the waits between them. An attempt is limited to the remaining time. Default: the total of
   * `UpstreamLimits`, or the time that the tool declares for one attempt if that is longer.
   */
  readonly totalDeadlineMs: (attemptMs: number) => number
  /** Signs a provider's request headers; see ProviderSignature. */
  readonly signerOf: (providerId: ProviderId) => Signer
}

/** A program sets these options; the others have defaults. */
export type McpUpstreamSettings = Pick<McpUpstreamOptions, "signerOf"> &
  Partial<Omit<McpUpstreamOptions, "totalDeadlineMs">> & { readonly totalDeadlineMs?: number }

export const withDefaults = (
  { totalDeadlineMs, ...settings }: McpUpstreamSettings,
  { totalMs }: Pick<UpstreamBounds, "totalMs">
): McpUpstreamOptions => ({
  ...defaults,
  ...settings,
  totalDeadlineMs: (attemptMs) => totalDeadlineMs ?? Math.max(attemptMs, totalMs)
})
