/**
 * Calls as the metering core makes them, for tests of the MCP client.
 */
import type { UpstreamCall } from "../../../domain/upstream/ToolUpstream.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"

let invocations = 0

/** A call of a consumer to a provider, as the metering core makes it. */
export const upstreamCall = (endpointUrl: string, over: Partial<UpstreamCall> = {}): UpstreamCall => ({
  invocationId: ReceiptId.make(`rcpt_${(++invocations).toString(16).padStart(32, "0")}`),
  consumerId: ConsumerId.make("c0000000-0000-4000-8000-000000000001"),
  providerId: ProviderId.make("a0000000-0000-4000-8000-000000000001"),
  providerName: "A provider",
  endpointUrl,
  toolId: ToolId.make("b0000000-0000-4000-8000-000000000001"),
  toolName: "echo",
  arguments: {},
  timeoutMs: 10_000,
  retriesMax: 1,
  idempotent: false,
  ...over
})
