/**
 * Messages of a modern client at a door.
 */
import { Effect } from "effect"
import { withMembers } from "../../../domain/mcp/PassedResults.ts"
import { SERVER_INFO_META } from "../../../domain/upstream/Protocol.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { AnyInput, EncodedReply } from "../pipeline/Route.ts"
import type { Consumer, Door, DoorProfile, DoorRequest } from "./Door.ts"
import type { Dispatch } from "./MethodDispatch.ts"
import { isRemoved, modernResult, notOneRequest, readModern, SUPPORTED_VERSIONS } from "./ModernEra.ts"
import { methodNotFound, RpcFault } from "./RpcFault.ts"
import type { RpcBatch, RpcMessage } from "./RpcMessage.ts"
import { ACCEPTED, faultReply, lastMessage, replyOf } from "./RpcReply.ts"

/** Capabilities change when the provider's server does. */
const DISCOVERY_TTL_MS = 60_000

export const modernRequests =
  (dispatch: Dispatch) =>
  (
    door: Door,
    caller: Consumer,
    input: AnyInput,
    message: RpcMessage | RpcBatch
  ): Effect.Effect<EncodedReply, HandlerError> => {
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
      era: "modern",
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

/** Progress may be lost while a client does not read; whatever else is lost ends its stream. */
const messageSender = (input: AnyInput, id: string): ((message: string) => void) => {
  const send = input.startEvents?.(lastMessage(id))
  if (send === undefined) return () => {}
  return (message) => send({ data: message, required: !isProgress(message) })
}

export const isProgress = (message: string): boolean => /"method"\s*:\s*"notifications\/progress"/u.test(message)

const discovered = (door: Door, request: DoorRequest): Effect.Effect<EncodedReply, HandlerError> => {
  const { id, method } = request.rpc
  return Effect.matchEffect(door.profile(request), {
    onFailure: (error) =>
      error instanceof RpcFault ? Effect.succeed(faultReply(error, id)) : Effect.fail<HandlerError>(error),
    onSuccess: (profile) =>
      Effect.succeed(replyOf(id, { _tag: "Result", result: modernResult(method, discovery(profile)) }))
  })
}

const discovery = ({ capabilities, instructions, serverInfo }: DoorProfile): string =>
  withMembers("{}", {
    supportedVersions: JSON.stringify(SUPPORTED_VERSIONS),
    capabilities,
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs: String(DISCOVERY_TTL_MS),
    ...(serverInfo === undefined ? {} : { _meta: `{${JSON.stringify(SERVER_INFO_META)}:${serverInfo}}` })
  })
