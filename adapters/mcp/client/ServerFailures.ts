/**
 * Why a request other than a tool call got no response: before it was sent, or by the reply.
 */
import { Effect } from "effect"
import { INVALID_REQUEST } from "../../../domain/upstream/Protocol.ts"
import { type ServerAddress, ServerFailed } from "../../../domain/upstream/ProviderServers.ts"
import type { UpstreamProblem } from "../../../domain/upstream/ToolUpstream.ts"
import { endpointOf, type McpClient, reachable, reachableUnprobed } from "./McpClient.ts"
import type { Link } from "./Dialect.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import type { Reply } from "./Reply.ts"
import { isSessionLost, outcomeOf, SESSION_LOST } from "./UpstreamOutcome.ts"

type Find = typeof reachable

const found =
  (find: Find) =>
  (client: McpClient, { endpointUrl, providerId }: ServerAddress): Effect.Effect<KnownEndpoint, ServerFailed> =>
    Effect.suspend(() => {
      const known = find(client, providerId, endpointUrl, client.nowMs())
      return "kind" in known ? Effect.fail(failure(known)) : Effect.succeed(known)
    })

/** The endpoint of a server that is called now, and whose answer is reported to its circuit. */
export const reach = found(reachable)
/** As `reach`, without such a report. */
export const reachUnprobed = found(reachableUnprobed)
/** For what is known of a server, whether or not it is called now. */
export const knownEndpoint = found(endpointOf)

/** On the shared link. */
export const failureOf = ({ epochMs }: McpClient, reply: Reply, link?: Link): ServerFailed =>
  failure(outcomeOf(reply, link, epochMs).problem ?? notMcp)

/** In a session of the client's own. */
export const sessionFailureOf = (client: McpClient, reply: Reply, link: Link): ServerFailed =>
  isSessionLost(link, reply)
    ? new ServerFailed({ problem: SESSION_LOST, sessionLost: true })
    : failureOf(client, reply, link)

/** There is no room for another request of this consumer, or to this provider. */
export const refusal = (by: "consumer" | "provider"): ServerFailed => failure(tooMany[by])

/** Not a notification of MCP, and no response: nothing else is sent without a response. */
export const notTold = new ServerFailed({
  problem: {
    kind: "json_rpc_error",
    message: "Only notifications of MCP and responses are passed on",
    rpcError: { code: INVALID_REQUEST, message: "Only notifications of MCP and responses are passed on" }
  },
  sessionLost: false
})

const failure = (problem: UpstreamProblem): ServerFailed => new ServerFailed({ problem, sessionLost: false })

const tooMany: Readonly<Record<"consumer" | "provider", UpstreamProblem>> = {
  consumer: {
    kind: "overloaded",
    message: "Too many requests of this account are in progress. Retry when one of them has ended."
  },
  provider: {
    kind: "overloaded",
    message: "Too many requests to this provider are in progress. Retry after 1 second.",
    retryAfterSeconds: 1
  }
}

const notMcp: UpstreamProblem = { kind: "malformed_answer", message: "The provider's response is not MCP" }
