/**
 * The tool lists of providers that were read recently: one read for concurrent callers, bounded in bytes.
 */
import { Clock, Effect } from "effect"
import type { ServerAddress, ServerFailed, ToolList } from "../../domain/mcp/ProviderServers.ts"
import { makeSingleFlight } from "../../domain/shared/SingleFlight.ts"
import type { McpClient } from "./McpClient.ts"
import type { Link } from "./ProtocolEra.ts"
import type { KnownEndpoint } from "./ProviderEndpoints.ts"
import type { Reply } from "./Reply.ts"
import { failureOf, knownEndpoint, reach } from "./ServerFailures.ts"
import { overSharedLink } from "./SharedLink.ts"
import { type ReadList, readToolPages } from "./ToolPages.ts"

/** A shorter validity of the server is ignored: each reader would otherwise read the list again. */
const TTL_MS_MIN = 10_000

interface KeptList extends ReadList {
  readonly readAtMs: number
}

export const makeToolLists = Effect.fnUntraced(function* (client: McpClient) {
  const { nowMs, options } = client
  const reads = yield* makeSingleFlight<ReadList>(yield* Clock.Clock)
  const kept = new Map<string, KeptList>()
  let bytes = 0

  const drop = (key: string): void => {
    bytes -= kept.get(key)?.bytes ?? 0
    kept.delete(key)
  }

  const keep = (key: string, list: KeptList): void => {
    drop(key)
    kept.set(key, list)
    bytes += list.bytes
    for (const oldest of kept.keys()) {
      if (bytes <= options.toolListsBytesMax && kept.size <= options.endpointsMax) break
      drop(oldest)
    }
  }

  const read = Effect.fnUntraced(function* (known: KnownEndpoint): Effect.fn.Return<ReadList, ServerFailed> {
    const untilMs = nowMs() + options.setupTimeoutMs
    const leftMs = () => Math.max(1, Math.ceil(untilMs - nowMs()))
    let list: ReadList | undefined = undefined
    const send = (link: Link): Effect.Effect<Reply> =>
      Effect.map(readToolPages(known.endpoint, link, nowMs, untilMs), (outcome) => {
        if (!("list" in outcome)) return outcome
        list = outcome
        return WHOLE
      })
    const { link, reply } = yield* overSharedLink(known, nowMs, leftMs, send)
    const { circuit } = known.endpoint
    if (reply.kind === "result") circuit.succeeded()
    else if (reply.kind === "connection") circuit.failed(nowMs())
    return list ?? (yield* failureOf(client, reply, link))
  })

  return Effect.fn("ProviderServers.tools")(function* (
    server: ServerAddress,
    maxAgeMs: number
  ): Effect.fn.Return<ToolList, ServerFailed> {
    const key = `${server.providerId} ${server.endpointUrl}`
    const known = yield* knownEndpoint(client, server)
    const last = kept.get(key)
    if (last !== undefined && last.readAtMs > known.endpoint.toolsChangedMs) {
      const freshMs = Math.min(maxAgeMs, Math.max(TTL_MS_MIN, last.ttlMs ?? Number.POSITIVE_INFINITY))
      if (nowMs() - last.readAtMs < freshMs) return last.list
    }
    const { list } = yield* reads.join(key, Effect.andThen(reach(client, server), read), (value, readAtMs) =>
      keep(key, { ...value, readAtMs })
    )
    return list
  })
})

const WHOLE: Reply = { kind: "result", result: {}, text: undefined, sessionId: undefined, bytes: 0 }
