/**
 * A client receives the messages that a server sends before its response within limits, and with the client's own
 * progress token and subscription id where the server got others.
 */
import { maySend } from "../../../domain/mcp/ServerRequests.ts"
import { isObject, replacedAt } from "../../../domain/shared/JsonText.ts"
import type { JsonObject, RpcId } from "./JsonRpc.ts"
import type { ProviderEndpoint } from "./ProviderEndpoint.ts"
import { SUBSCRIPTION_META } from "../../../domain/upstream/Protocol.ts"

interface Receiver {
  /** The client's own session: it answers requests of the server. */
  readonly own: boolean
  /** The capabilities of the client, as JSON. */
  readonly declared: string | undefined
  /** The progress token that the server got; undefined if the client wants no progress. */
  readonly sentAs: RpcId | undefined
  /** The client's, as JSON. */
  readonly token: string | undefined
  /** Called with the progress that the request reports; returns whether it is passed on. */
  readonly onProgress?: ((progress: unknown) => boolean) | undefined
  /** The client chose this id of `subscriptions/listen`; it is JSON. */
  readonly subscriptionId?: string | undefined
  readonly onMessage: (message: string) => void
}

/** Returns whether nothing else answers the message. */
type Handler = (message: JsonObject, text: string) => boolean

/** A request of the server that is not passed on is declined by the exchange. */
export const serverMessages = (endpoint: ProviderEndpoint, receiver: Receiver, countMax: number): Handler => {
  let count = 0
  return (message, text) => {
    const { id, method } = message
    if (typeof method !== "string") return false
    if (method === "notifications/tools/list_changed") endpoint.toolsChanged()
    const isRequest = id !== undefined
    if (isRequest && !(receiver.own && isOfRequest(id) && maySend(receiver.declared, message, text))) return false
    if (!isRequest && isOfAnother(message, receiver)) return true
    if (!isRequest && isDropped(message, receiver)) return true
    if (text.length > endpoint.options.messageBytesMax || ++count > countMax) return !isRequest
    receiver.onMessage(rewritten(method, isRequest, text, receiver))
    return true
  }
}

const isOfRequest = (id: unknown): boolean => typeof id === "string" || typeof id === "number"

/** A shared session may carry progress of other clients' requests. */
const isOfAnother = ({ method, params }: JsonObject, { own, sentAs }: Receiver): boolean =>
  method === "notifications/progress" &&
  !own &&
  (sentAs === undefined || !isObject(params) || params["progressToken"] !== sentAs)

/** Progress of the call that its client does not want. */
const isDropped = ({ method, params }: JsonObject, { onProgress, sentAs, token }: Receiver): boolean =>
  method === "notifications/progress" &&
  onProgress !== undefined &&
  isObject(params) &&
  params["progressToken"] === sentAs &&
  (!onProgress(params["progress"]) || token === undefined)

const rewritten = (
  method: string,
  isRequest: boolean,
  text: string,
  { own, subscriptionId, token }: Receiver
): string => {
  if (subscriptionId !== undefined && !isRequest)
    return replacedAt(text, ["params", "_meta", SUBSCRIPTION_META], subscriptionId)
  return !own && method === "notifications/progress" && token !== undefined
    ? replacedAt(text, ["params", "progressToken"], token)
    : text
}
