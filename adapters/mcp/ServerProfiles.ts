/**
 * What servers say of themselves: the result of the handshake, read again where the era has no session that would tell of a
 * restart.
 */
import { Clock, Effect } from "effect"
import { makeSingleFlight } from "../../domain/shared/FreshCache.ts"
import { memberOf } from "../../domain/shared/JsonText.ts"
import type { ServerAddress, ServerFailed, ServerProfile } from "../../domain/upstream/ProviderServers.ts"
import { discover, greeted, isLink } from "./Handshake.ts"
import type { McpClient } from "./McpClient.ts"
import { modernLink } from "./ProtocolEra.ts"
import type { Greeting } from "./ProviderEndpoint.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import { fault } from "./Reply.ts"
import { failureOf, knownEndpoint, reach } from "./ServerFailures.ts"

export const makeServerProfiles = Effect.fnUntraced(function* (client: McpClient) {
  const { nowMs, options } = client
  const reads = yield* makeSingleFlight<ServerProfile>(yield* Clock.Clock)

  const isFresh = ({ atMs, era }: Greeting): boolean => era === "legacy" || nowMs() - atMs < options.profileTtlMs

  const read = Effect.fnUntraced(function* ({
    endpoint,
    sessions
  }: KnownEndpoint): Effect.fn.Return<ServerProfile, ServerFailed> {
    const link = sessions.shared ?? (yield* sessions.with(options.setupTimeoutMs, Effect.succeed))
    if (!isLink(link)) {
      if (link.kind === "connection") endpoint.circuit.failed(nowMs())
      return yield* failureOf(client, link)
    }
    if (link.era === "modern" && !(endpoint.greeting?.era === "modern" && isFresh(endpoint.greeting))) {
      const reply = yield* discover(endpoint, options.setupTimeoutMs)
      if (reply.kind !== "result") return yield* failureOf(client, reply, link)
      greeted(endpoint, modernLink, reply, nowMs())
    }
    const { greeting } = endpoint
    return greeting === undefined || greeting.era !== link.era
      ? yield* failureOf(client, unread, link)
      : yield* profileOf(greeting)
  })

  const profileOf = ({ era, text, version }: Greeting): Effect.Effect<ServerProfile, ServerFailed> => {
    if (text === undefined) {
      return Effect.fail(
        failureOf(
          client,
          fault("too_large", `The provider's server describes itself in more than ${options.profileBytesMax} bytes`)
        )
      )
    }
    const meta = memberOf(text, 0, "_meta")
    const instructions = memberOf(text, 0, "instructions")
    return Effect.succeed({
      era,
      version,
      capabilities: objectOr(memberOf(text, 0, "capabilities")) ?? "{}",
      serverInfo:
        objectOr(memberOf(text, 0, "serverInfo")) ??
        objectOr(objectOr(meta) === undefined ? undefined : memberOf(meta!, 0, "io.modelcontextprotocol/serverInfo")),
      instructions: instructions?.startsWith('"') === true ? instructions : undefined
    })
  }

  return Effect.fn("ProviderServers.profile")(function* (
    server: ServerAddress
  ): Effect.fn.Return<ServerProfile, ServerFailed> {
    const {
      endpoint: { greeting },
      sessions: { shared }
    } = yield* knownEndpoint(client, server)
    if (greeting !== undefined && shared?.era === greeting.era && isFresh(greeting)) return yield* profileOf(greeting)
    return yield* reads.join(
      `${server.providerId} ${server.endpointUrl}`,
      Effect.andThen(reach(client, server), read),
      ignore
    )
  })
})

const objectOr = (text: string | undefined): string | undefined => (text?.startsWith("{") === true ? text : undefined)

const unread = fault("malformed", "The provider's server did not say what it offers")

const ignore = () => {}
