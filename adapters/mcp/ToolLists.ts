/**
 * The tool lists of providers that were read recently: one read for concurrent callers, bounded in bytes. A server may list
 * other tools to clients of the other era, or with other capabilities: each kind of client has its own list.
 */
import { Clock, Effect } from "effect"
import { makeSingleFlight } from "../../domain/shared/FreshCache.ts"
import {
  ALL_LISTING_CAPABILITIES,
  type ListClient,
  type ServerAddress,
  type ServerFailed,
  type ToolList
} from "../../domain/upstream/ProviderServers.ts"
import { isLink, openSession } from "./Handshake.ts"
import type { McpClient } from "./McpClient.ts"
import { type Link, modernMeta } from "./ProtocolEra.ts"
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

  const leftUntil = (untilMs: number) => () => Math.max(1, Math.ceil(untilMs - nowMs()))

  /** Over the shared link. A server of the legacy era knows no capabilities there. */
  const readShared = Effect.fnUntraced(function* (
    known: KnownEndpoint,
    capabilities: string,
    untilMs: number
  ): Effect.fn.Return<ReadList, ServerFailed> {
    let list: ReadList | undefined = undefined
    const meta = modernMeta(options, capabilities)
    const send = (link: Link): Effect.Effect<Reply> =>
      Effect.map(readToolPages(known.endpoint, link, meta, nowMs, untilMs), (outcome) => {
        if (!("list" in outcome)) return outcome
        list = outcome
        return WHOLE
      })
    const { link, reply } = yield* overSharedLink(known, nowMs, leftUntil(untilMs), send)
    const { circuit } = known.endpoint
    if (reply.kind === "result") circuit.succeeded()
    else if (reply.kind === "connection") circuit.failed(nowMs())
    return list ?? (yield* failureOf(client, reply, link))
  })

  /** In a session of the legacy era that serves nothing else. Or the reply that prevented the list. */
  const readApart = Effect.fnUntraced(function* (
    { endpoint }: KnownEndpoint,
    capabilities: string,
    untilMs: number
  ): Effect.fn.Return<ReadList | Reply> {
    const link = yield* openSession(endpoint, capabilities, leftUntil(untilMs))
    if (!isLink(link)) return link
    const end = link.sessionId === undefined ? Effect.void : Effect.forkIn(endpoint.endSession(link), client.scope)
    return yield* Effect.ensuring(readToolPages(endpoint, link, "", nowMs, untilMs), end)
  })

  /** The service's own list, and what only other clients are listed. */
  const readAny = Effect.fnUntraced(function* (
    known: KnownEndpoint,
    untilMs: number
  ): Effect.fn.Return<ReadList, ServerFailed> {
    const own = yield* readShared(known, "{}", untilMs)
    const capable =
      known.endpoint.era === "modern"
        ? [Effect.orElseSucceed(readShared(known, ALL_LISTING_CAPABILITIES, untilMs), () => UNREAD)]
        : []
    const apart = Effect.map(readApart(known, ALL_LISTING_CAPABILITIES, untilMs), (read) =>
      "list" in read ? read : isRefused(read) ? NO_LIST : UNREAD
    )
    const others = yield* Effect.all([...capable, apart], { concurrency: "unbounded" })
    return others.reduce(together, own)
  })

  const read = (known: KnownEndpoint, kind: ListClient | "any") =>
    Effect.suspend(() => {
      const untilMs = nowMs() + options.setupTimeoutMs
      if (kind === "any") return readAny(known, untilMs)
      if (!kind.inSession) return readShared(known, kind.capabilities, untilMs)
      return Effect.flatMap(readApart(known, kind.capabilities, untilMs), (outcome) =>
        "list" in outcome ? Effect.succeed(outcome) : Effect.fail(failureOf(client, outcome))
      )
    })

  return Effect.fn("ProviderServers.tools")(function* (
    server: ServerAddress,
    maxAgeMs: number,
    to: ListClient | "any" = SERVICE
  ): Effect.fn.Return<ToolList, ServerFailed> {
    const known = yield* knownEndpoint(client, server)
    const kind = kindOf(known, to)
    const key = `${server.providerId} ${server.endpointUrl} ${keyOf(kind)}`
    const last = kept.get(key)
    if (last !== undefined && last.readAtMs > known.endpoint.toolsChangedMs) {
      const freshMs = Math.min(maxAgeMs, Math.max(TTL_MS_MIN, last.ttlMs ?? Number.POSITIVE_INFINITY))
      if (nowMs() - last.readAtMs < freshMs) return last.list
    }
    const { list } = yield* reads.join(
      key,
      Effect.flatMap(reach(client, server), (reached) => read(reached, kind)),
      (value, readAtMs) => keep(key, { ...value, readAtMs })
    )
    return list
  })
})

/** The service itself. */
const SERVICE: ListClient = { inSession: false, capabilities: "{}" }

/** What distinguishes the client for this server. */
const kindOf = ({ endpoint: { era } }: KnownEndpoint, one: ListClient | "any"): ListClient | "any" => {
  if (one === "any" || era !== "legacy") return one
  return one.inSession && one.capabilities !== SERVICE.capabilities ? one : SERVICE
}

const keyOf = (kind: ListClient | "any"): string =>
  kind === "any" ? kind : `${kind.inSession ? "session" : "shared"} ${kind.capabilities}`

/** The server takes no such session, now or later: not that it is overloaded, or down. */
const isRefused = (reply: Reply): boolean =>
  reply.kind === "rpc_error" ||
  reply.kind === "malformed" ||
  (reply.kind === "status" && reply.status !== 429 && reply.status <= 501)

const NO_LIST: ReadList = { list: { tools: [], truncated: false }, bytes: 0, ttlMs: undefined }
/** There may be tools that were not read. */
const UNREAD: ReadList = { ...NO_LIST, list: { tools: [], truncated: true } }

/** Of tools with one name, the first. */
const together = (one: ReadList, other: ReadList): ReadList => {
  const names = new Set(one.list.tools.map(({ name }) => name))
  const more = other.list.tools.filter(({ name }) => !names.has(name))
  const list = {
    ...one.list,
    tools: [...one.list.tools, ...more],
    truncated: one.list.truncated || other.list.truncated
  }
  return { ...one, list, bytes: more.reduce((bytes, { text }) => bytes + text.length, one.bytes) }
}

const WHOLE: Reply = { kind: "result", result: {}, text: undefined, sessionId: undefined, bytes: 0 }
