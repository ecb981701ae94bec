/**
 * All numbers and options of the upstream client, with their defaults.
 */
import type { ProviderId } from "../../domain/shared/Ids.ts"
import { type EgressPolicy, publicOnly } from "./AddressGuard.ts"
import type { Resolve } from "./GuardedConnector.ts"
import type { Signer } from "./ProviderSignature.ts"

export interface McpUpstreamOptions {
  /** Which addresses may be dialed. */
  readonly policy: EgressPolicy
  /** Signs a provider's request headers; see ProviderSignature. */
  readonly signerOf: (providerId: ProviderId) => Signer
  /** How names are resolved; the system's resolver except in tests. */
  readonly resolve: Resolve | undefined
  readonly clientName: string
  readonly clientVersion: string
  /** All attempts of a call and the waits between them. An attempt is limited to the remaining time. */
  readonly totalDeadlineMs: number
  /** The wait before a retry is drawn from this range. */
  readonly retryDelayMsMin: number
  readonly retryDelayMsMax: number
  readonly connectTimeoutMs: number
  /** For `server/discover`; without a response the legacy handshake is tried. */
  readonly probeTimeoutMs: number
  /** Version, handshake and tool list together. */
  readonly setupTimeoutMs: number
  /** Limit for sending a cancellation or the end of a session. */
  readonly courtesyTimeoutMs: number
  /** How long a server may take to end a stream after its response, so that the socket can be reused. */
  readonly lingerMs: number
  readonly responseBodyBytesMax: number
  readonly responseHeaderBytesMax: number
  /** Of all large responses that are read or wait for the settlement of their calls. */
  readonly answerBytesMax: number
  /** Per provider endpoint: sockets, and requests sent or waiting for a socket. */
  readonly socketsMax: number
  readonly inFlightMax: number
  /** Sessions of a server that accepts one request at a time in each. */
  readonly exclusiveSessionsMax: number
  /** Endpoints in memory (version, session, sockets); the least recently used is removed. */
  readonly endpointsMax: number
  /** Reconnections to a stream that ended before its response. */
  readonly resumptionsMax: number
  /** The wait before such a reconnection if the server names none. */
  readonly resumptionDelayMs: number
  /** Tools of an endpoint read for their `x-mcp-header` annotations, and how long that result is valid. */
  readonly toolListPagesMax: number
  readonly toolListTtlMs: number
  /** Consecutive failures that open an endpoint's circuit, and for how long: doubled each time, up to the maximum. */
  readonly circuitFailures: number
  readonly circuitOpenMs: number
  readonly circuitOpenMsMax: number
}

const defaults: Omit<McpUpstreamOptions, "signerOf"> = {
  policy: publicOnly,
  resolve: undefined,
  clientName: "agent-tool-billing",
  clientVersion: "0.4.0",
  totalDeadlineMs: 25_000,
  retryDelayMsMin: 50,
  retryDelayMsMax: 250,
  connectTimeoutMs: 5_000,
  probeTimeoutMs: 3_000,
  setupTimeoutMs: 10_000,
  courtesyTimeoutMs: 1_000,
  lingerMs: 250,
  responseBodyBytesMax: 5 * 1024 * 1024,
  responseHeaderBytesMax: 16 * 1024,
  answerBytesMax: 64 * 1024 * 1024,
  socketsMax: 256,
  inFlightMax: 1_024,
  exclusiveSessionsMax: 16,
  endpointsMax: 1_000,
  resumptionsMax: 20,
  resumptionDelayMs: 500,
  toolListPagesMax: 20,
  toolListTtlMs: 300_000,
  circuitFailures: 8,
  circuitOpenMs: 5_000,
  circuitOpenMsMax: 60_000
}

/** Required and optional settings. */
export type McpUpstreamSettings = Pick<McpUpstreamOptions, "signerOf"> & Partial<McpUpstreamOptions>

export const withDefaults = (settings: McpUpstreamSettings): McpUpstreamOptions => ({ ...defaults, ...settings })
