/**
 * Providers' servers, and requests that are passed on to them, for rules about ProviderServers.
 */
import type { PassedRequest, ServerAddress } from "../../../domain/upstream/ProviderServers.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"

export const serverAt = (endpointUrl: string): ServerAddress => ({
  providerId: ProviderId.make("a0000000-0000-4000-8000-000000000001"),
  endpointUrl
})

export const CONSUMER = ConsumerId.make("c0000000-0000-4000-8000-000000000001")

/** A request as a modern client without capabilities sends it. */
export const passed = (method: string, over: Partial<PassedRequest> = {}): PassedRequest => ({
  method,
  params: undefined,
  inSession: false,
  capabilities: undefined,
  clientInfo: undefined,
  session: undefined,
  requestId: '"of the client"',
  progressToken: undefined,
  consumerId: CONSUMER,
  timeoutMs: 10_000,
  onMessage: () => {},
  ...over
})

export const INITIALIZE = JSON.stringify({
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {}, sampling: {}, roots: {} },
  clientInfo: { name: "a client", version: "1.2.3" }
})
