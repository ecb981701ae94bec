/**
 * Clients of version 2026-07-28: every request carries its version and its client, and nothing is remembered between requests.
 */
import { Effect } from "effect"
import { type HeaderParameter, NAMED_BY } from "../../../domain/mcp/HeaderParameters.ts"
import { withMembers } from "../../../domain/mcp/PassedResults.ts"
import { isObject, memberOf } from "../../../domain/shared/JsonText.ts"
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  declaresTasks,
  MODERN_VERSION,
  SERVER_INFO_META,
  TASKS_EXTENSION,
  VERSION_META,
  withoutSessionTasks
} from "../../../domain/upstream/Protocol.ts"
import type { ServerProfile } from "../../../domain/upstream/ProviderServers.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { AnyInput, EncodedReply } from "../pipeline/Route.ts"
import { header, type WebRequest } from "../pipeline/WebRequest.ts"
import type { Dispatch, Door, DoorClients, DoorDialect, DoorProfile, DoorRequest } from "./Door.ts"
import { listMembers, makeTaskMethods } from "./MethodDispatch.ts"
import {
  ACCEPTED,
  faultReply,
  faultsReplied,
  headerMismatch,
  invalidRequest,
  lastMessage,
  malformedParams,
  methodNotFound,
  replyOf,
  resultAnswer,
  type RpcBatch,
  RpcFault,
  type RpcMessage,
  type RpcRequest,
  textAt,
  unsupportedVersion
} from "./RpcMessages.ts"
import { plainCapabilities } from "./Subscriptions.ts"

// Headers that repeat parts of the body for proxies in between: both must say the same.

const methodHeadersFault = (request: WebRequest, { id, method, params }: RpcRequest): RpcFault | undefined => {
  const sentMethod = header(request, "mcp-method")?.trim()
  if (sentMethod !== method) return mismatch("Mcp-Method", sentMethod, method, id)
  const member = NAMED_BY.get(method)
  const name = member === undefined ? undefined : params?.value[member]
  if (typeof name !== "string") return undefined
  const sent = header(request, "mcp-name")
  return sent !== undefined && decoded(sent) === name ? undefined : mismatch("Mcp-Name", sent, name, id)
}

/** `Mcp-Param-*`: of the arguments that the tool's schema marks. */
const parameterHeadersFault = (
  request: WebRequest,
  id: string,
  parameters: ReadonlyArray<HeaderParameter>,
  args: Readonly<Record<string, unknown>>
): RpcFault | undefined => {
  for (const { header: name, path } of parameters) {
    const value = valueAt(args, path)
    const sent = header(request, name)
    const isMarked = typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    if (isMarked ? sent === undefined || !isSame(decoded(sent), value) : sent !== undefined) {
      return mismatch(name, sent, isMarked ? String(value) : undefined, id)
    }
  }
  return undefined
}

const valueAt = (args: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined), args)

/** Numbers by value: `42.0` is 42. */
const isSame = (sent: string | undefined, value: string | number | boolean): boolean =>
  sent === String(value) || (typeof value === "number" && sent !== undefined && sent !== "" && Number(sent) === value)

const PREFIX = "=?base64?"
const SUFFIX = "?="
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u
const PLAIN = /^[\x20-\x7e\t]*$/u

/** The value of a header, which may be encoded; undefined if it is malformed. */
const decoded = (raw: string): string | undefined => {
  const text = raw.trim()
  if (!PLAIN.test(text)) return undefined
  if (!text.startsWith(PREFIX) || !text.endsWith(SUFFIX) || text.length < PREFIX.length + SUFFIX.length) return text
  const encoded = text.slice(PREFIX.length, -SUFFIX.length)
  if (!BASE64.test(encoded)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, "base64"))
  } catch {
    return undefined
  }
}

const SHOWN_CHARS_MAX = 100

const mismatch = (name: string, sent: string | undefined, body: string | undefined, id: string): RpcFault => {
  const inBody = body === undefined ? "the body has no such value" : `the body says \`${shortened(body)}\``
  const inHeader = sent === undefined ? "is missing" : `is \`${shortened(sent)}\``
  return headerMismatch(`The header ${name} ${inHeader}, and ${inBody}. Both must be equal.`, undefined, id)
}

const shortened = (text: string): string =>
  text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text

/** A client may choose from these. */
const SUPPORTED_VERSIONS: ReadonlyArray<string> = [MODERN_VERSION]

interface ModernClient {
  readonly capabilities: string
  readonly clientInfo: string | undefined
}

const readModern = (request: WebRequest, rpc: RpcRequest): ModernClient | RpcFault => {
  const { id, meta } = rpc
  const sent = header(request, "mcp-protocol-version")
  const version = meta?.value[VERSION_META]
  if (version === undefined && sent !== undefined && sent !== MODERN_VERSION)
    return unsupportedVersion(sent, SUPPORTED_VERSIONS, id)
  if (typeof version !== "string") return malformedParams(`\`_meta["${VERSION_META}"]\` is required.`, undefined, id)
  if (sent !== version) return mismatch("MCP-Protocol-Version", sent, version, id)
  if (version !== MODERN_VERSION) return unsupportedVersion(version, SUPPORTED_VERSIONS, id)
  if (!isObject(meta?.value[CLIENT_CAPABILITIES_META])) {
    return malformedParams(`\`_meta["${CLIENT_CAPABILITIES_META}"]\` is required, an object.`, undefined, id)
  }
  const clientInfo = meta.value[CLIENT_INFO_META]
  if (clientInfo !== undefined && !isObject(clientInfo)) {
    return malformedParams(`\`_meta["${CLIENT_INFO_META}"]\` must be an object.`, undefined, id)
  }
  return (
    methodHeadersFault(request, rpc) ?? {
      capabilities: textAt(meta, CLIENT_CAPABILITIES_META)!,
      clientInfo: textAt(meta, CLIENT_INFO_META)
    }
  )
}

/** Only sessions have these methods; a server with sessions must not get them from another client either. */
const REMOVED: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe"
])

const isRemoved = (method: string): boolean => REMOVED.has(method)

/** A modern client sends requests, one at a time. */
const notOneRequest = (message: RpcMessage | RpcBatch): RpcFault =>
  invalidRequest(
    message._tag === "Batch"
      ? "Batches are not part of this protocol version. Send one message per request."
      : "Responses are not part of this protocol version: answer with `inputResponses` in a repeated request.",
    undefined,
    message._tag === "Response" ? message.id : undefined
  )

const CACHEABLE: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read"
])

const COMPLETE = '"complete"'
const PRIVATE = '"private"'

/**
 * The result with what every modern result has: its type, and hints for caches. It depends on the key, so no cache may share
 * it, whatever the provider's server says.
 */
export const modernResult = (method: string, result: string): string => {
  const textOf = (name: string) => memberOf(result, 0, name)
  const type = textOf("resultType")
  const set: Record<string, string> = {}
  if (type === undefined) set["resultType"] = COMPLETE
  if (CACHEABLE.has(method) && (type ?? COMPLETE) === COMPLETE) {
    if (textOf("cacheScope") !== PRIVATE) set["cacheScope"] = PRIVATE
    if (!/^\d{1,15}$/u.test(textOf("ttlMs") ?? "")) set["ttlMs"] = "0"
  }
  return Object.keys(set).length === 0 ? result : withMembers(result, set)
}

/** Capabilities change when the provider's server does. */
const DISCOVERY_TTL_MS = 60_000

/** The lifetime of a `tools/list` result: prices and the provider's tools may change. */
const LIST_TTL_MS = 60_000

const withTasks = (capabilities: string): string =>
  withMembers(capabilities, { extensions: `{"${TASKS_EXTENSION}":{}}` })

/** The capabilities of a server. */
export const offeredByModern = ({ capabilities, sessions }: ServerProfile): string =>
  sessions ? plainCapabilities(capabilities) : withoutSessionTasks(capabilities)

export const makeModernDoor = Effect.fnUntraced(function* (dispatch: Dispatch) {
  const tasks = yield* makeTaskMethods
  const dialect: DoorDialect = {
    result: modernResult,
    listResult: (list) =>
      `{"resultType":"complete",${listMembers(list)},"ttlMs":${LIST_TTL_MS},"cacheScope":"private"}`,
    structuredErrors: true,
    offered: offeredByModern,
    withTasks,
    parametersFault: parameterHeadersFault,
    // The server decides on it.
    wantsTask: () => false,
    taskCall: (_, { capabilities }) => Effect.succeed(declaresTasks(capabilities) ? "taken" : "none"),
    started: (resultText) => resultText,
    tasks
  }
  return {
    dialect,
    post: (door, caller, input, message): Effect.Effect<EncodedReply, HandlerError> => {
      // This version defines no notification of a client: none is passed on.
      if (message._tag === "Notification") return Effect.succeed(ACCEPTED)
      if (message._tag !== "Request") return Effect.succeed(faultReply(notOneRequest(message)))
      const client = readModern(input.request, message)
      if (client instanceof RpcFault) return Effect.succeed(faultReply(client, message.id))
      if (isRemoved(message.method)) {
        return Effect.succeed(faultReply(methodNotFound(`Method \`${message.method}\` does not exist.`), message.id))
      }
      const request: DoorRequest = {
        rpc: message,
        dialect,
        capabilities: client.capabilities,
        clientInfo: client.clientInfo,
        session: undefined,
        caller,
        input,
        clock: input.clock,
        onMessage: messageSender(input, message.id)
      }
      return message.method === "server/discover" ? discovered(door, request) : dispatch(door, request)
    }
  } satisfies DoorClients
})

/** Progress may be lost while a client does not read; whatever else is lost ends its stream. */
const messageSender = (input: AnyInput, id: string): ((message: string) => void) => {
  const send = input.startEvents?.(lastMessage(id))
  if (send === undefined) return () => {}
  return (message) => send({ data: message, required: !isProgress(message) })
}

const isProgress = (message: string): boolean => /"method"\s*:\s*"notifications\/progress"/u.test(message)

const discovered = (door: Door, request: DoorRequest): Effect.Effect<EncodedReply, HandlerError> => {
  const { id, method } = request.rpc
  const replied = Effect.map(door.profile(request), (profile) =>
    replyOf(id, resultAnswer(modernResult(method, discovery(profile))))
  )
  return faultsReplied(replied, id)
}

const discovery = ({ capabilities, instructions, serverInfo }: DoorProfile): string =>
  withMembers("{}", {
    supportedVersions: JSON.stringify(SUPPORTED_VERSIONS),
    capabilities,
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs: String(DISCOVERY_TTL_MS),
    ...(serverInfo === undefined ? {} : { _meta: `{${JSON.stringify(SERVER_INFO_META)}:${serverInfo}}` })
  })
