/**
 * Messages of a client of the legacy era at a door, and the requests that only that era has. Not served yet: such a client
 * learns which versions are.
 */
import { Effect } from "effect"
import { INVALID_REQUEST } from "../../../domain/mcp/Protocol.ts"
import { MethodNotAllowed } from "../pipeline/Failures.ts"
import type { HandlerError } from "../pipeline/HandlerErrors.ts"
import type { AnyInput, EncodedReply } from "../pipeline/Route.ts"
import type { Consumer, Door } from "./Door.ts"
import type { Dispatch } from "./MethodDispatch.ts"
import { SUPPORTED_VERSIONS } from "./ModernEra.ts"
import type { RpcBatch, RpcMessage } from "./RpcMessage.ts"
import { errorMember, errorText, responseText } from "./RpcReply.ts"

type Handled = Effect.Effect<EncodedReply, HandlerError>

export interface LegacyRequests {
  post(door: Door, caller: Consumer, input: AnyInput, message: RpcMessage | RpcBatch): Handled
  /** The stream of messages that belong to no request. */
  get(door: Door, caller: Consumer, input: AnyInput): Handled
  /** Ends a session. */
  delete(door: Door, caller: Consumer, input: AnyInput): Handled
}

export const makeLegacyRequests = (_dispatch: Dispatch): Effect.Effect<LegacyRequests> =>
  Effect.succeed({
    post: (_door, _caller, _input, message) => Effect.succeed(unsupported(message)),
    get: (_door, _caller, { request }) => notAllowed(request.method, request.path),
    delete: (_door, _caller, { request }) => notAllowed(request.method, request.path)
  })

const unsupported = (message: RpcMessage | RpcBatch): EncodedReply => {
  const id = message._tag === "Request" ? message.id : undefined
  const reason = `This server speaks ${SUPPORTED_VERSIONS.join(", ")}: send the protocol version in \`_meta\` and in the header MCP-Protocol-Version.`
  const error = errorText(INVALID_REQUEST, reason, { supported: SUPPORTED_VERSIONS })
  return { status: 400, headers: {}, body: responseText(id, errorMember(error)) }
}

const notAllowed = (method: string, path: string) =>
  Effect.fail(new MethodNotAllowed({ method, path, allow: ["POST", "OPTIONS"] }))
