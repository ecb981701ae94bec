/**
 * A dialect has the differences between versions of MCP that are not compatible, for the client of a provider's server.
 * Each link has its dialect, and shared code calls its members.
 */
import type { Effect, Scope } from "effect"
import { randomUUID } from "node:crypto"
import type { HeaderParameter } from "../../../domain/mcp/HeaderParameters.ts"
import { MAX_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import { type JsonMember, membersOf } from "../../../domain/shared/JsonText.ts"
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  META_PREFIX,
  type UpstreamSession,
  VERSION_META
} from "../../../domain/upstream/Protocol.ts"
import type { ListClient } from "../../../domain/upstream/ProviderServers.ts"
import type { McpExchange, PendingResult, ToolResult, UpstreamCall } from "../../../domain/upstream/ToolUpstream.ts"
import type { ExchangeRequest, Reply } from "./HttpExchange.ts"
import { requestBody, type RpcError, type ServerRequest } from "./JsonRpc.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import type { SignedFor } from "./ProviderSignature.ts"

/** A way to speak to one endpoint. */
export interface Link {
  readonly dialect: Dialect
  readonly version: string
  readonly sessionId: string | undefined
}

/** A request before its signature is added. */
export interface Message extends Omit<ExchangeRequest, "consumer" | "method" | "onAsked" | "path"> {
  readonly http?: "GET" | "DELETE"
  readonly link: Link | undefined
  readonly subject?: SignedFor
}

/** Parameters that tools require as headers, too, and tools whose definition of them is invalid. */
export type ToolHeaders = ReadonlyMap<string, ReadonlyArray<HeaderParameter> | "invalid">

/** One provider's endpoint, as dialects use it. */
export interface Endpoint {
  readonly options: McpUpstreamOptions
  readonly nowMs: () => number
  /** The service's own `_meta`, where each request has one. */
  readonly meta: string
  toolHeaders: ToolHeaders
  toolHeadersUntilMs: number
  nextId(): number
  /** Whole milliseconds, at least one. */
  leftMs(untilMs: number): number
  /** Sends a message and waits for its reply. */
  ask(message: Message): Effect.Effect<Reply>
  /** Sends a message without waiting for its reply. */
  tell(message: Message): void
}

/** A client, as its request describes it. Texts are JSON. */
export interface Caller {
  readonly inSession: boolean
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
}

export type Repair =
  | "none"
  /** The session is gone: repeat the handshake and the request. */
  | "new_session"
  /** The server does not support this version: determine its version and repeat the request. */
  | "new_dialect"
  /** The server may have changed its dialect: determine it, and repeat the request only if it has. */
  | "other_dialect"
  /** Headers for the tool's parameters are missing or outdated: read the tool list and repeat the request. */
  | "tool_headers"
  /** The session accepts one request at a time: repeat the request in another one. */
  | "own_session"
  /** Possibly the dialect: determine it before the next call. */
  | "forget_dialect"

export interface Dialect {
  /** Its handshake opens a session, in which a client says once what it can do. */
  readonly sessions: boolean
  /** Appends to those of every POST. `name`: what the request names, such as a tool. */
  appendHeaders(headers: Array<string>, link: Link, method: string, name: string | undefined): void
  /** This `_meta` of the service, where each request has one: as a whole. */
  requestMeta(meta: string): string | undefined
  /** The same of a call, as `"name":value`. */
  callerMeta(own: ReadonlyArray<JsonMember>, caller: Caller): ReadonlyArray<string>
  /** Members of a call's params besides its tool and arguments, each with a comma behind it. */
  callParams(exchange: McpExchange): string
  /** Appends the headers of a call's parameters, or returns the reply that prevents the call. */
  prepareCall(
    endpoint: Endpoint,
    call: UpstreamCall,
    headers: Array<string>,
    atMs: number,
    scope: Scope.Scope
  ): Effect.Effect<Reply | undefined>
  /** Tells whether the tool's calls can be written. */
  isCallable(inputSchema: unknown): boolean
  /** Returns what the server knows of the client when it lists its tools. */
  listClient(client: ListClient): ListClient
  isUnfinished(result: ToolResult): boolean
  /** Returns how an unfinished call goes on; undefined where its caller cannot follow. */
  pendingOf(link: Link, result: ToolResult, resultText: string, exchange: McpExchange): PendingResult | undefined
  repair(link: Link, status: number, error: RpcError | undefined): Repair
  /** Waits for the response to a message whose stream ended before it. `count` gets the bytes of each further stream. */
  resume(
    endpoint: Endpoint,
    message: Message,
    first: Reply,
    untilMs: number,
    count: (bytes: number) => void
  ): Effect.Effect<Reply>
  /** Such a request changes or reads the state of a session. */
  isOfOneClient(method: string): boolean
  /** Reads what the server says of itself; undefined where the handshake alone tells it. */
  readonly reread: ((endpoint: Endpoint, timeoutMs: number) => Effect.Effect<Reply>) | undefined
  /** Tells the server that a request was canceled. */
  cancel(endpoint: Endpoint, message: Message, reason: string): void
  /** Answers a request of the server that is passed on to no client. */
  answer(endpoint: Endpoint, link: Link, asked: ServerRequest): void
  /** Ends the session, where the server has one. */
  end(endpoint: Endpoint, link: Link): Effect.Effect<unknown>
}

/** These servers do not know `server/discover`, but open sessions. */
export interface SessionDialect extends Dialect {
  speaks(versions: ReadonlyArray<unknown>): boolean
  linkOf(session: UpstreamSession): Link
  /** A session whose client declares these capabilities, or the reply that prevented it. */
  open(
    endpoint: Endpoint,
    capabilities: string,
    leftMs: () => number,
    onGreeted?: (link: Link, reply: Reply) => void
  ): Effect.Effect<Link | Reply>
}

/** The service itself, as a client for which tools are listed. */
export const SERVICE: ListClient = { inSession: false, capabilities: "{}" }

const accept = ["accept", "application/json, text/event-stream"]
const posted = [...accept, "content-type", "application/json"]

/** Headers of a POST with `method`; without a link, of the handshake. */
export const postHeaders = (link: Link | undefined, method: string, name?: string): Array<string> => {
  const headers = posted.slice()
  link?.dialect.appendHeaders(headers, link, method, name)
  return headers
}

/** `meta`: of the service. */
export const toolListBody = (id: number, link: Link, meta: string, cursor: string | undefined): string => {
  const own = link.dialect.requestMeta(meta)
  const members = [
    ...(cursor === undefined ? [] : [`"cursor":${JSON.stringify(cursor)}`]),
    ...(own === undefined ? [] : [`"_meta":${own}`])
  ]
  return requestBody(id, "tools/list", `{${members.join(",")}}`)
}

// Params that a client wrote, as the provider's server gets them: verbatim except `_meta`, whose fields of the protocol and
// of this service are written anew.

// The id of a request in a client's own session. The client sends other requests and cancellations there, so it must not
// choose or guess the id of a call: a server that got one id twice would answer the wrong request. Other nodes use the session
// too. Node draws the bytes of UUIDs in blocks: a draw per id would take longer than the rest of the message.

export const ownId = (prefix: string): string => `${prefix}.${randomUUID()}`

interface OwnFields {
  /** The service's, where each request has one. */
  readonly meta: ReadonlyArray<JsonMember>
  /** The token that the server gets, as JSON. */
  readonly progressToken: string | undefined
  readonly maxCost?: bigint | undefined
}

/** `_meta` as JSON, or undefined if it would be empty. `given` is the client's. */
export const metaFor = (link: Link, caller: Caller, given: string | undefined, own: OwnFields): string | undefined => {
  const fields: Array<string> = []
  for (const { name, text } of given === undefined ? [] : membersOf(given)) {
    if (!isReserved(name)) fields.push(`${JSON.stringify(name)}:${text}`)
  }
  if (own.progressToken !== undefined) fields.push(`"progressToken":${own.progressToken}`)
  if (own.maxCost !== undefined) fields.push(`"${MAX_COST_FIELD}":${own.maxCost}`)
  fields.push(...link.dialect.callerMeta(own.meta, caller))
  return fields.length === 0 ? undefined : `{${fields.join(",")}}`
}

/** Params with another `_meta`. Every other member is verbatim. */
export const paramsWith = (
  params: string | undefined,
  metaOf: (given: string | undefined) => string | undefined
): string => {
  const members = params === undefined ? [] : membersOf(params)
  const meta = metaOf(members.findLast(({ name }) => name === "_meta")?.text)
  const others = members
    .filter(({ name }) => name !== "_meta")
    .map(({ name, text }) => `${JSON.stringify(name)}:${text}`)
  return `{${[...others, ...(meta === undefined ? [] : [`"_meta":${meta}`])].join(",")}}`
}

/** Other members of a call's params, each with a comma behind it. */
export const othersOf = ({ otherParams }: McpExchange): string =>
  otherParams === undefined
    ? ""
    : membersOf(`{${otherParams}}`)
        .filter(({ name }) => !ofTheCall.has(name.toLowerCase()))
        .map(({ name, text }) => `${JSON.stringify(name)}:${text},`)
        .join("")

/** Some servers do not distinguish upper and lower case. */
const ofTheCall = new Set(["name", "arguments", "task", "_meta"])

const written = new Set(
  ["progressToken", VERSION_META, CLIENT_INFO_META, CLIENT_CAPABILITIES_META].map((name) => name.toLowerCase())
)

/**
 * A client must not write what the provider believes to come from this service. Some servers do not distinguish upper and
 * lower case.
 */
const isReserved = (name: string): boolean => {
  const lower = name.toLowerCase()
  return written.has(lower) || lower.startsWith(`${META_PREFIX}/`) || lower.startsWith("market/")
}
