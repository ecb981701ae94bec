/**
 * A client's request as the provider's server gets it: params verbatim, always with an id of the service, and with the
 * progress token of the client in its own session only.
 */
import type { PassedRequest } from "../../domain/upstream/ProviderServers.ts"
import { metaFor, paramsWith } from "./CallerParams.ts"
import { idOf, type JsonObject, messagesOf, requestBody, type RpcId, tokenOf } from "./JsonRpc.ts"
import { ownId } from "./OwnId.ts"
import { type Link, postHeaders } from "./ProtocolEra.ts"
import type { Message, ProviderEndpoint } from "./ProviderEndpoint.ts"
import type { SignedFor } from "./ProviderSignature.ts"
import { serverMessages } from "./ServerMessages.ts"

export const LISTEN = "subscriptions/listen"

export const passedMessage = (
  endpoint: ProviderEndpoint,
  link: Link,
  request: PassedRequest,
  onMessage: (message: string) => void,
  timeoutMs: number
): Message => {
  const own = request.session !== undefined
  const listening = request.method === LISTEN
  const id: RpcId = own ? ownId("passed") : endpoint.nextId()
  const idText = JSON.stringify(id)
  const token = tokenOf(request.progressToken)
  const sent = token === undefined ? undefined : own ? token : idText
  const params = paramsWith(request.params, (meta) =>
    metaFor(link, request, meta, { meta: endpoint.metaMembers, progressToken: sent })
  )
  return {
    headers: postHeaders(link, request.method, link.era === "modern" ? nameOf(request) : undefined),
    body: requestBody(idText, request.method, params),
    id,
    link,
    timeoutMs,
    subject: subjectOf(request),
    listening,
    onMessage: serverMessages(
      endpoint,
      {
        own,
        declared: request.capabilities,
        sentAs: sent === undefined ? undefined : idOf(sent),
        token,
        subscriptionId: listening ? request.requestId : undefined,
        onMessage
      },
      listening ? Number.POSITIVE_INFINITY : endpoint.options.messagesMax
    )
  }
}

/** Belongs to a consumer, but to no call. */
export const subjectOf = ({ consumerId }: Pick<PassedRequest, "consumerId">): SignedFor => ({
  consumerId,
  toolName: "-",
  invocationId: "-"
})

/** What the header `Mcp-Name` repeats. */
const namedBy: Readonly<Record<string, string>> = {
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/cancel": "taskId",
  "tasks/get": "taskId",
  "tasks/update": "taskId"
}

const nameOf = ({ method, params }: PassedRequest): string | undefined => {
  const name = Object.hasOwn(namedBy, method) ? namedBy[method] : undefined
  if (name === undefined || params === undefined) return undefined
  const [parsed]: ReadonlyArray<JsonObject> = messagesOf(params) ?? []
  const value = parsed?.[name]
  return typeof value === "string" ? value : undefined
}
