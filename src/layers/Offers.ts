/**
 * Parts of a whole service on top of the core, so that a program that embeds only the core does not contain them:
 * imports of providers' tools, toolboxes for the market door, sessions of MCP clients, tasks of calls, profiles of
 * providers, and what the operator has: sessions, the audit trail, freezes of providers and retries of payouts.
 */
import { Layer } from "effect"
import { callResult } from "../../adapters/http/mcp/CallResults.ts"
import { OfferedFeatures, ProviderDirectory } from "../../domain/accounts/ProviderDirectory.ts"
import { EndpointProbe } from "../../domain/catalog/EndpointProbe.ts"
import { ToolImport, ToolSync } from "../../domain/catalog/ToolImport.ts"
import { PayoutRetries } from "../../domain/earnings/Payouts.ts"
import { McpCancellations } from "../../domain/mcp/McpCancellations.ts"
import { McpListeners } from "../../domain/mcp/McpListeners.ts"
import { McpSessions } from "../../domain/mcp/McpSessions.ts"
import { LostRequests, McpStreams } from "../../domain/mcp/McpStreams.ts"
import { OfferChanges } from "../../domain/mcp/OfferChanges.ts"
import { PassThrough } from "../../domain/mcp/PassThrough.ts"
import { ToolAliases } from "../../domain/mcp/ToolAliases.ts"
import { ToolOffers } from "../../domain/mcp/ToolOffers.ts"
import { Toolbox, ToolboxChanges, ToolboxList } from "../../domain/mcp/Toolbox.ts"
import { AuditTrail } from "../../domain/operator/AuditTrail.ts"
import { OperatorSessions } from "../../domain/operator/OperatorSessions.ts"
import { ProviderFreezes } from "../../domain/providers/ProviderFreezes.ts"
import { ProviderProfile } from "../../domain/providers/ProviderProfile.ts"
import { Tasks } from "../../domain/tasks/Tasks.ts"

/** Without `ProviderServers` endpoints are not asked, and nothing is imported. */
const imports = Layer.merge(EndpointProbe.layer, ToolSync.layer.pipe(Layer.provideMerge(ToolImport.layer)))

const doors = Layer.mergeAll(OfferedFeatures.layer, ProviderDirectory.layer, ToolOffers.layer, PassThrough.layer)

const toolboxes = Layer.mergeAll(OfferChanges.layer, ToolboxChanges.layer, ToolboxList.layer).pipe(
  Layer.provideMerge(Toolbox.layer),
  Layer.provideMerge(ToolAliases.layer),
  Layer.provideMerge(doors),
  Layer.provideMerge(imports)
)

const mcpSessions = Layer.mergeAll(
  LostRequests.layer,
  McpCancellations.layer,
  McpListeners.layer,
  McpStreams.layer
).pipe(Layer.provideMerge(McpSessions.layer))

/** A task is a call whose provider works on after the response. */
const tasks = Tasks.layer(callResult)

const accounts = Layer.mergeAll(
  ProviderProfile.layer,
  AuditTrail.layer,
  OperatorSessions.layer,
  ProviderFreezes.layer,
  PayoutRetries.layer
)

export const offers = Layer.mergeAll(tasks, toolboxes, mcpSessions, accounts)
