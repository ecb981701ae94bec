/**
 * The `tools/call` of a caller that speaks MCP: its arguments and other params verbatim, and the server's messages passed on
 * to it.
 */
import type { McpExchange, UpstreamCall } from "../../domain/upstream/ToolUpstream.ts"
import { TASK_MS_MAX } from "../../domain/tasks/CallTask.ts"
import { membersOf } from "../../domain/shared/JsonText.ts"
import { metaFor } from "./CallerParams.ts"
import { idOf, requestBody, type RpcId, tokenOf } from "./JsonRpc.ts"
import { ownId } from "./OwnId.ts"
import type { Link } from "./ProtocolEra.ts"
import type { Message, ProviderEndpoint } from "./ProviderEndpoint.ts"
import { serverMessages } from "./ServerMessages.ts"

export const exchangeMessage = (
  endpoint: ProviderEndpoint,
  link: Link,
  call: UpstreamCall,
  exchange: McpExchange,
  headers: Array<string>,
  timeoutMs: number,
  onProgress: (progress: unknown) => boolean
): Message => {
  const own = exchange.session !== undefined
  const id: RpcId = own ? ownId(call.invocationId) : endpoint.nextId()
  const idText = JSON.stringify(id)
  const token = tokenOf(exchange.progressToken)
  // Progress reaches the client verbatim in its own session: it must not tell the id. It is asked for in any case, because it
  // gives the tool more time.
  const sent = own ? (token ?? JSON.stringify(ownId("progress"))) : idText
  const meta = metaFor(link, exchange, exchange.meta, {
    meta: endpoint.metaMembers,
    progressToken: sent,
    maxCost: call.maxCost
  })
  const others = othersFor(link, exchange)
  const named = `"name":${JSON.stringify(call.toolName)},"arguments":${exchange.arguments}`
  const task = exchange.asTask === true && link.era === "legacy" ? TASK : ""
  const params = `{${others}${task}${named}${meta === undefined ? "" : `,"_meta":${meta}`}}`
  return {
    headers,
    body: requestBody(idText, "tools/call", params),
    id,
    link,
    timeoutMs,
    subject: call,
    onMessage: serverMessages(
      endpoint,
      {
        own,
        declared: exchange.capabilities,
        sentAs: idOf(sent),
        token,
        onProgress,
        onMessage: exchange.onMessage
      },
      endpoint.options.messagesMax
    )
  }
}

/** The longest time: the service itself decides how long a task may take, and the result must not be gone before it is paid. */
const TASK = `"task":{"ttl":${TASK_MS_MAX}},`

/** Some servers do not distinguish upper and lower case. */
const ofTheCall = new Set(["name", "arguments", "task", "_meta"])

/** Each with a comma behind it. Members of one era mean nothing in the other. */
const othersFor = (link: Link, { era, otherParams }: McpExchange): string =>
  otherParams === undefined || era !== link.era
    ? ""
    : membersOf(`{${otherParams}}`)
        .filter(({ name }) => !ofTheCall.has(name.toLowerCase()))
        .map(({ name, text }) => `${JSON.stringify(name)}:${text},`)
        .join("")
