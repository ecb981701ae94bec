/**
 * Every number and choice of the upstream client, with its default, in one place.
 */
import type { Redacted } from "effect"
import type { ProviderId } from "../../domain/shared/Ids.ts"
import { type EgressPolicy, publicOnly } from "./AddressGuard.ts"
import type { Resolve } from "./GuardedConnector.ts"

export interface McpUpstreamOptions {
  /** Which addresses may be dialled. */
  readonly policy: EgressPolicy
  /** The secret that a provider's request headers are signed with; see ProviderSignature. */
  readonly signingSecretOf: (providerId: ProviderId) => Redacted.Redacted<string>
  /** How names become addresses; the system's resolver unless a test says otherwise. */
  readonly resolve: Resolve | undefined
  readonly clientName: string
  readonly clientVersion: string
  /** All attempts of a call and the waits between them. An attempt is cut to what is left of it. */
  readonly totalDeadlineMs: number
  /** The wait before a retry is drawn evenly from this span. */
  readonly retryDelayMsMin: number
  readonly retryDelayMsMax: number
  readonly connectTimeoutMs: number
  /** The question which era a server speaks; unanswered, the server is asked in the older way. */
  readonly probeTimeoutMs: number
  /** Era, handshake and tool list together. */
  readonly setupTimeoutMs: number
  /** A cancellation or a session's end is given up after this. */
  readonly courtesyTimeoutMs: number
  /** How long a server may take to end a stream that has carried its answer, so that the socket can be kept. */
  readonly lingerMs: number
  readonly responseBodyBytesMax: number
  readonly responseHeaderBytesMax: number
  /** Of all large answers that are read or wait for the settlement of their calls. */
  readonly answerBytesMax: number
  /** Per provider endpoint: sockets, and requests sent or waiting for a socket. */
  readonly socketsMax: number
  readonly inFlightMax: number
  /** Sessions of a server that takes one request at a time in each. */
  readonly exclusiveSessionsMax: number
  /** Endpoints remembered (era, session, sockets); the one unused longest makes room. */
  readonly endpointsMax: number
  /** Reconnections to a stream that ended before its answer. */
  readonly resumptionsMax: number
  /** The wait before such a reconnection where the server names none. */
  readonly resumptionDelayMs: number
  /** Tools of an endpoint read for their `x-mcp-header` annotations, and how long that reading lasts. */
  readonly toolListPagesMax: number
  readonly toolListTtlMs: number
  /** Failures in a row that open an endpoint's circuit, and for how long: doubled each time, up to the most. */
  readonly circuitFailures: number
  readonly circuitOpenMs: number
  readonly circuitOpenMsMax: number
}

const defaults: Omit<McpUpstreamOptions, "signingSecretOf"> = {
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

/** What a caller must and may say. */
export type McpUpstreamSettings = Pick<McpUpstreamOptions, "signingSecretOf"> & Partial<McpUpstreamOptions>

export const withDefaults = (settings: McpUpstreamSettings): McpUpstreamOptions => ({ ...defaults, ...settings })
