/**
 * This node's connection to all providers' servers, shared by tool calls and passed requests: a provider has one set of
 * sockets, one circuit and one known protocol version.
 */
import { Clock, Effect, type Scope } from "effect"
import { UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { monotonicMs } from "../../../domain/shared/Time.ts"
import type { UpstreamProblem } from "../../../domain/upstream/ToolUpstream.ts"
import type { SessionDialect } from "./Dialect.ts"
import type { HttpExchange } from "./HttpExchange.ts"
import { type McpUpstreamOptions, type McpUpstreamSettings, withDefaults } from "./McpUpstreamOptions.ts"
import { type KnownEndpoint, ProviderEndpoints } from "./ProviderEndpoints.ts"
import { ResponseBytes } from "./ResponseBytes.ts"

export interface McpClient {
  readonly options: McpUpstreamOptions
  readonly endpoints: ProviderEndpoints
  readonly nowMs: () => number
  readonly epochMs: () => number
  readonly scope: Scope.Scope
}

export const makeMcpClient = Effect.fnUntraced(function* (
  settings: McpUpstreamSettings,
  sessionDialect: SessionDialect
) {
  const options = withDefaults(settings, yield* UpstreamLimits)
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const nowMs = () => monotonicMs(clock)
  const epochMs = () => clock.currentTimeMillisUnsafe()
  const guard = { policy: options.policy, resolve: options.resolve, connectTimeoutMs: options.connectTimeoutMs }
  const endpoints = new ProviderEndpoints(
    {
      options,
      guard,
      sessionDialect,
      begin: makeLane(),
      epochMs,
      nowMs,
      answerBytes: new ResponseBytes(options.answerBytesMax)
    },
    scope
  )
  yield* Effect.addFinalizer(() => endpoints.close)
  const client: McpClient = { options, endpoints, nowMs, epochMs, scope }
  return client
})

/** The endpoint of a provider, or why it is not called now. `isProbe`: what it answers is reported to its circuit. */
export const reachable = (
  client: McpClient,
  providerId: ProviderId,
  url: string,
  atMs: number,
  isProbe = true
): KnownEndpoint | UpstreamProblem => {
  const known = endpointOf(client, providerId, url, atMs)
  if ("kind" in known) return known
  const { circuit } = known.endpoint
  const closedInMs = isProbe ? circuit.waitMs(atMs) : circuit.leftMs(atMs)
  return closedInMs > 0 ? { ...problems.circuit_open, retryAfterSeconds: Math.ceil(closedInMs / 1_000) } : known
}

/** The provider may be one that is not called now. */
export const endpointOf = (
  { endpoints }: McpClient,
  providerId: ProviderId,
  url: string,
  atMs: number
): KnownEndpoint | UpstreamProblem => {
  const known = endpoints.of(providerId, url, atMs)
  return typeof known === "string" ? problems[known] : known
}

const problems = {
  not_a_url: { kind: "blocked_endpoint", message: "The provider's endpoint is not an http or https address" },
  no_room: { kind: "overloaded", message: "Too many providers are being called at the moment" },
  circuit_open: { kind: "circuit_open", message: "The provider has failed repeatedly and is not called for now" }
} as const satisfies Record<string, UpstreamProblem>

/** The most exchanges that start together. Larger groups delay the first exchanges of a burst, and gain nothing. */
const TOGETHER_MAX = 16

/**
 * Starts exchanges together, once per turn of the event loop, which makes fewer and fuller turns of undici and the
 * sockets.
 */
const makeLane = (): ((exchange: HttpExchange) => void) => {
  let queue: Array<HttpExchange> = []
  const flush = () => {
    const batch = queue
    queue = []
    for (const exchange of batch) exchange.dispatch()
  }
  return (exchange) => {
    const waiting = queue.push(exchange)
    if (waiting === TOGETHER_MAX) flush()
    else if (waiting === 1) setImmediate(flush)
  }
}
