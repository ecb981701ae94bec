/**
 * The session of a request of the legacy era: opened by `initialize`, then named by a header.
 */
import { Effect } from "effect"
import { withoutFeatures } from "../../../../domain/accounts/Account.ts"
import {
  type LiveSession,
  type McpSessionNotFound,
  McpSessions,
  withCapabilities
} from "../../../../domain/mcp/McpSessions.ts"
import { PassThrough } from "../../../../domain/mcp/PassThrough.ts"
import { INVALID_REQUEST, SESSION_VERSIONS } from "../../../../domain/upstream/Protocol.ts"
import type { HandlerError } from "../../metering/CallProblems.ts"
import type { AnyInput, EncodedReply } from "../../pipeline/Route.ts"
import { header } from "../../pipeline/WebRequest.ts"
import type { Consumer, Door, DoorDialect } from "../Door.ts"
import {
  faultOf,
  invalidRequest,
  limited,
  malformedParams,
  replyOf,
  resultAnswer,
  type RpcFault,
  type RpcRequest,
  serverFailed,
  textAt,
  unsupportedVersion
} from "../RpcMessages.ts"
import { announcingTools } from "../Subscriptions.ts"

/** All messages of one HTTP request share it. */
export interface LegacyContext {
  readonly door: Door
  readonly caller: Consumer
  readonly input: AnyInput
  readonly session: LiveSession
}

const SESSION_ID = /^[\x21-\x7e]{1,128}$/u
const NOT_FOUND = 404
/** The legacy era requires a name and a version. */
const UNNAMED = `{"name":"unnamed","version":"0"}`

export const makeLegacySessions = Effect.fnUntraced(function* (dialect: DoorDialect) {
  const sessions = yield* McpSessions
  const passThrough = yield* PassThrough

  const find = (
    door: Door,
    caller: Consumer,
    input: AnyInput
  ): Effect.Effect<LegacyContext, HandlerError | RpcFault> => {
    const version = header(input.request, "mcp-protocol-version")
    if (version !== undefined && !SESSION_VERSIONS.some((known) => known === version)) {
      return Effect.fail(unsupportedVersion(version, SESSION_VERSIONS))
    }
    const id = header(input.request, "mcp-session-id")
    if (id === undefined) {
      return Effect.fail(
        invalidRequest("The header Mcp-Session-Id is required. Send initialize first: its response has one.")
      )
    }
    return Effect.mapBothEager(sessions.find(SESSION_ID.test(id) ? id : "", caller.ownerId, door.server), {
      onFailure: (error) => (error._tag === "McpSessionNotFound" ? sessionGone(error) : error),
      onSuccess: (session) => ({ door, caller, input, session })
    })
  }

  const open = Effect.fnUntraced(function* (
    door: Door,
    caller: Consumer,
    input: AnyInput,
    rpc: RpcRequest
  ): Effect.fn.Return<EncodedReply, HandlerError | RpcFault> {
    const { id, params } = rpc
    const requested = params?.value["protocolVersion"]
    if (params === undefined || typeof requested !== "string") {
      return yield* malformedParams("`params.protocolVersion` is required, a string.", undefined, id)
    }
    const profile = Effect.map(
      door.profile({
        rpc,
        dialect,
        capabilities: textAt(params, "capabilities"),
        clientInfo: textAt(params, "clientInfo"),
        session: undefined,
        caller,
        input,
        clock: input.clock,
        onMessage: () => {}
      }),
      ({ serverInfo, ...rest }) => ({ ...rest, serverInfo: serverInfo ?? UNNAMED })
    )
    const request = { consumerId: caller.ownerId, server: door.server, params: params.text, requested }
    const opened = passThrough.limit(caller.ownerId, params.text.length, sessions.open(request, profile), () => 0)
    const { result, session } = yield* opened.pipe(
      Effect.catchTags({
        PassThroughLimited: limited,
        ServerFailed: ({ message, problem }) => Effect.fail(serverFailed(message, { problem: problem.kind }, id)),
        McpInitializeRejected: ({ message }) => Effect.fail(malformedParams(message, undefined, id))
      })
    )
    const offered = withCapabilities(result, (declared) => announcingTools(withoutFeatures(declared, door.featuresOff)))
    return replyOf(id, resultAnswer(offered), { "mcp-session-id": session.id })
  })

  return { find, open }
})

/** A client that gets 404 opens another session. */
export const sessionGone = ({ message }: McpSessionNotFound, id?: string): RpcFault =>
  faultOf(INVALID_REQUEST, NOT_FOUND)(
    `${message} Send initialize without an Mcp-Session-Id header to open another one.`,
    undefined,
    id
  )
