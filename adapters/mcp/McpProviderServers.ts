/**
 * ProviderServers over MCP's streamable HTTP, both eras of the protocol, on the connections that tool calls use.
 */
import { Effect } from "effect"
import { ProviderServers } from "../../domain/upstream/ProviderServers.ts"
import { makeClientSessions } from "./ClientSessions.ts"
import type { McpClient } from "./McpClient.ts"
import { makePassedRequests } from "./PassedRequests.ts"
import { makeServerProfiles } from "./ServerProfiles.ts"
import { Shares } from "./Shares.ts"
import { makeToolLists } from "./ToolLists.ts"

export const makeProviderServers = Effect.fnUntraced(function* (client: McpClient) {
  const { options } = client
  const streams = new Shares({
    total: options.listenersMax,
    perConsumer: options.listenersPerConsumerMax,
    perEndpoint: options.listenersPerEndpointMax
  })
  const passed = {
    total: Number.POSITIVE_INFINITY,
    perConsumer: options.passedPerConsumerMax,
    perEndpoint: options.passedPerEndpointMax
  }
  const requests = new Shares(passed)
  // Apart from the requests: one of these may wait for such a message of its client.
  const messages = new Shares(passed)
  // A caller who uses up its own share must not keep the service from asking what it has to pay for.
  const tasks = new Shares({ ...passed, perConsumer: Number.POSITIVE_INFINITY })
  return ProviderServers.of({
    profile: yield* makeServerProfiles(client),
    tools: yield* makeToolLists(client),
    ask: makePassedRequests(client, requests, streams, tasks),
    ...makeClientSessions(client, messages, streams)
  })
})
