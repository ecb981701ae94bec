/**
 * The tool lists of providers that were read recently: one read for concurrent callers, bounded in bytes. A server may list
 * other tools over sessions, or to clients with other capabilities: each kind of client has its own list.
 */
import { Clock, Effect } from "effect"
import { makeSingleFlight } from "../../domain/shared/FreshCache.ts"
import { elementsOf, isObject, memberOf } from "../../domain/shared/JsonText.ts"
import { METHOD_NOT_FOUND } from "../../domain/upstream/Protocol.ts"
import {
  ALL_LISTING_CAPABILITIES,
  type ListClient,
  type ListedTool,
  type ServerAddress,
  type ServerFailed,
  type ToolList
} from "../../domain/upstream/ProviderServers.ts"
import { type Link, type Message, postHeaders, SERVICE, toolListBody } from "./client/Dialect.ts"
import { fault, type Reply } from "./client/HttpExchange.ts"
import { overSharedLink } from "./client/LinkRepair.ts"
import type { McpClient } from "./client/McpClient.ts"
import type { McpUpstreamOptions } from "./client/McpUpstreamOptions.ts"
import { modernMeta } from "./client/ModernDialect.ts"
import type { ProviderEndpoint } from "./client/ProviderEndpoint.ts"
import { isLink, type KnownEndpoint } from "./client/ProviderEndpoints.ts"
import { failureOf, knownEndpoint, reach } from "./client/UpstreamOutcome.ts"

// Reads `tools/list` page by page, within limits: of pages, of tools, of the bytes of one definition and of all.

export interface ReadList {
  readonly list: ToolList
  readonly bytes: number
  /** The time for which the server says that the list is valid. */
  readonly ttlMs: number | undefined
}

const NAME_CHARS_MAX = 256

/** The list, or the reply that prevented it. `meta`: of the service. */
const readToolPages = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  link: Link,
  meta: string,
  untilMs: number
): Effect.fn.Return<ReadList | Reply> {
  const { options } = endpoint
  const pages = new Pages(options, link)
  const cursors = new Set<string>()
  let cursor: string | undefined = undefined
  for (let page = 0; page < options.toolPagesMax; page++) {
    const id = endpoint.nextId()
    const message: Message = {
      headers: postHeaders(link, "tools/list"),
      body: toolListBody(id, link, meta, cursor),
      id,
      link,
      timeoutMs: endpoint.leftMs(untilMs)
    }
    const reply: Reply = yield* endpoint.askAndResume(message, untilMs)
    if (reply.kind === "rpc_error" && reply.error.code === METHOD_NOT_FOUND && page === 0) return pages.end(false)
    if (reply.kind !== "result") return reply
    const isRoom = pages.add(reply.result, reply.text ?? JSON.stringify(reply.result))
    if (isRoom === undefined) return malformed
    const next: unknown = reply.result["nextCursor"]
    if (typeof next !== "string" || next === "") return pages.end(!isRoom)
    // A cursor that comes again would never end.
    if (!isRoom || cursors.has(next)) return pages.end(true)
    cursors.add(next)
    cursor = next
  }
  return pages.end(true)
})

class Pages {
  private readonly options: McpUpstreamOptions
  private readonly link: Link
  private readonly tools = new Map<string, ListedTool>()
  private bytes = 0
  private omitted = false
  private ttlMs: number | undefined = undefined
  private meta: string | undefined = undefined

  constructor(options: McpUpstreamOptions, link: Link) {
    this.options = options
    this.link = link
  }

  /** Tells whether there is room for more tools; undefined if this is no page of tools. */
  add(result: Readonly<Record<string, unknown>>, text: string): boolean | undefined {
    const { tools, ttlMs } = result
    if (!Array.isArray(tools)) return undefined
    if (typeof ttlMs === "number" && ttlMs >= 0) this.ttlMs = Math.min(ttlMs, this.ttlMs ?? ttlMs)
    const meta = isObject(result["_meta"]) ? memberOf(text, 0, "_meta") : undefined
    if (this.meta === undefined && meta !== undefined && meta.length <= this.options.toolDefinitionBytesMax) {
      this.meta = meta
      this.bytes += meta.length
    }
    const texts = elementsOf(memberOf(text, 0, "tools") ?? "[]")
    for (let n = 0; n < tools.length; n++) {
      const definition: unknown = tools[n]
      const tool = isObject(definition) ? this.toolOf(definition, texts[n]!) : undefined
      if (tool === undefined || this.tools.has(tool.name)) continue
      if (tool.text.length > this.options.toolDefinitionBytesMax) {
        this.omitted = true
        continue
      }
      if (this.tools.size >= this.options.toolsMax || this.bytes + tool.text.length > this.options.toolListBytesMax) {
        return false
      }
      this.tools.set(tool.name, tool)
      this.bytes += tool.text.length
    }
    return true
  }

  end(truncated: boolean): ReadList {
    const list = {
      tools: [...this.tools.values()],
      truncated: truncated || this.omitted,
      ...(this.meta === undefined ? {} : { meta: this.meta })
    }
    return { list, bytes: this.bytes, ttlMs: this.ttlMs }
  }

  /** Undefined for a tool that cannot be called. */
  private toolOf(definition: Readonly<Record<string, unknown>>, text: string): ListedTool | undefined {
    const { inputSchema, name } = definition
    if (typeof name !== "string" || name === "" || name.length > NAME_CHARS_MAX) return undefined
    if (!this.link.dialect.isCallable(inputSchema)) return undefined
    return { name, text, definition }
  }
}

const malformed = fault("malformed", "The provider's list of tools is not MCP")

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

  const readShared = Effect.fnUntraced(function* (
    known: KnownEndpoint,
    capabilities: string,
    untilMs: number
  ): Effect.fn.Return<ReadList, ServerFailed> {
    let list: ReadList | undefined = undefined
    const meta = modernMeta(options, capabilities)
    const send = (link: Link): Effect.Effect<Reply> =>
      Effect.map(readToolPages(known.endpoint, link, meta, untilMs), (outcome) => {
        if (!("list" in outcome)) return outcome
        list = outcome
        return WHOLE
      })
    const { link, reply } = yield* overSharedLink(known, () => known.endpoint.leftMs(untilMs), send)
    const { circuit } = known.endpoint
    if (reply.kind === "result") circuit.succeeded()
    else if (reply.kind === "connection") circuit.failed(nowMs())
    return list ?? (yield* failureOf(client, reply, link))
  })

  /** Reads in a session that serves nothing else. Returns the list, or the reply that prevented it. */
  const readApart = Effect.fnUntraced(function* (
    { endpoint }: KnownEndpoint,
    capabilities: string,
    untilMs: number
  ): Effect.fn.Return<ReadList | Reply> {
    const link = yield* endpoint.sessionDialect.open(endpoint, capabilities, () => endpoint.leftMs(untilMs))
    if (!isLink(link)) return link
    const end = Effect.forkIn(link.dialect.end(endpoint, link), client.scope)
    return yield* Effect.ensuring(readToolPages(endpoint, link, "", untilMs), end)
  })

  /** The service's own list, and what only other clients are listed. */
  const readAny = Effect.fnUntraced(function* (
    known: KnownEndpoint,
    untilMs: number
  ): Effect.fn.Return<ReadList, ServerFailed> {
    const own = yield* readShared(known, "{}", untilMs)
    const capable =
      known.endpoint.dialect?.listClient(ABLEST) === ABLEST
        ? [Effect.orElseSucceed(readShared(known, ABLEST.capabilities, untilMs), () => UNREAD)]
        : []
    const apart = Effect.map(readApart(known, ABLEST.capabilities, untilMs), (read) =>
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

const ABLEST: ListClient = { inSession: false, capabilities: ALL_LISTING_CAPABILITIES }

const kindOf = ({ endpoint: { dialect } }: KnownEndpoint, one: ListClient | "any"): ListClient | "any" =>
  one === "any" ? one : (dialect?.listClient(one) ?? one)

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

/** Keeps the first of the tools with one name. */
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
