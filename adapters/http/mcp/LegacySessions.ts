/**
 * The session of a request of the legacy era: opened by `initialize`, then named by a header.
 */
import { Effect } from "effect"
import { withoutFeatures } from "../../../domain/accounts/Account.ts"
import {
  type LiveSession,
  type McpSessionNotFound,
  McpSessions,
  withCapabilities
} from "../../../domain/mcp/McpSessions.ts"
import { PassThrough } from "../../../domain/mcp/PassThrough.ts"
import { INVALID_REQUEST, LEGACY_VERSIONS } from "../../../domain/upstream/Protocol.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { AnyInput, EncodedReply } from "../pipeline/Route.ts"
import { header } from "../pipeline/WebRequest.ts"
import type { Consumer, Door } from "./Door.ts"
import { announcingTools } from "./OfferedCapabilities.ts"
import { invalidRequest, limited, malformedParams, RpcFault, serverFailed, unsupportedVersion } from "./RpcFault.ts"
import { type RpcRequest, textAt } from "./RpcMessage.ts"
import { responseText, resultMember } from "./RpcReply.ts"

/** What all messages of one HTTP request share. */
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

export const makeLegacySessions = Effect.gen(function* () {
  const sessions = yield* McpSessions
  const passThrough = yield* PassThrough

  const find = (
    door: Door,
    caller: Consumer,
    input: AnyInput
  ): Effect.Effect<LegacyContext, HandlerError | RpcFault> => {
    const version = header(input.request, "mcp-protocol-version")
    if (version !== undefined && !LEGACY_VERSIONS.some((known) => known === version)) {
      const requested = version.slice(0, SHOWN_CHARS_MAX)
      return Effect.fail(
        unsupportedVersion(`Unsupported protocol version \`${requested}\`. Supported: ${LEGACY_VERSIONS.join(", ")}.`, {
          supported: LEGACY_VERSIONS,
          requested
        })
      )
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
        era: "legacy",
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
        PassThroughLimited: (exceeded) => Effect.fail(limited(exceeded.message, exceeded.retryAfterSeconds)),
        ServerFailed: ({ message, problem }) => Effect.fail(serverFailed(message, { problem: problem.kind }, id)),
        McpInitializeRejected: ({ message }) => Effect.fail(malformedParams(message, undefined, id))
      })
    )
    const offered = resultMember(
      withCapabilities(result, (declared) => announcingTools(withoutFeatures(declared, door.featuresOff)))
    )
    return { status: 200, headers: { "mcp-session-id": session.id }, body: responseText(id, offered) }
  })

  return { find, open }
})

const SHOWN_CHARS_MAX = 40

/** A client that gets 404 opens another session. */
export const sessionGone = ({ message }: McpSessionNotFound, id?: string): RpcFault =>
  new RpcFault({
    status: NOT_FOUND,
    code: INVALID_REQUEST,
    reason: `${message} Send initialize without an Mcp-Session-Id header.`,
    data: undefined,
    id
  })
