/**
 * The requests about a task to the provider that runs it.
 */
import { Effect } from "effect"
import { INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY } from "../mcp/Protocol.ts"
import { type PassedReply, ProviderServers, type ServerFailed } from "../mcp/ProviderServers.ts"
import { TASKS_EXTENSION } from "../mcp/TaskSupport.ts"
import type { CallTask } from "./CallTask.ts"
import { forgotten, type TaskOutcome } from "./TaskOutcome.ts"
import { type RunningTask, taskState } from "./TaskReply.ts"

/** Less than a client waits for a response. */
const ASK_MS_MAX = 10_000

/** The client of a request, as it declared; the service itself if it asks on its own. */
export interface TaskClient {
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
}

const SERVICE: TaskClient = { capabilities: `{"extensions":{"${TASKS_EXTENSION}":{}}}`, clientInfo: undefined }

export const makeTaskRequests = Effect.gen(function* () {
  const servers = yield* ProviderServers

  const send = (
    { consumerId, endpointUrl, providerId, upstreamId }: CallTask,
    method: "tasks/get" | "tasks/update" | "tasks/cancel",
    { capabilities, clientInfo }: TaskClient,
    more = ""
  ): Effect.Effect<PassedReply, ServerFailed> =>
    servers.ask(
      { providerId, endpointUrl },
      {
        method,
        params: `{"taskId":${JSON.stringify(upstreamId)}${more}}`,
        era: "modern",
        capabilities,
        clientInfo,
        session: undefined,
        requestId: "0",
        progressToken: undefined,
        consumerId,
        timeoutMs: ASK_MS_MAX,
        onMessage: () => {}
      }
    )

  /** Undefined: the provider could not be asked, or failed for now. */
  const state = (task: CallTask): Effect.Effect<RunningTask | TaskOutcome | undefined> =>
    send(task, "tasks/get", SERVICE).pipe(
      Effect.map((reply) => {
        if (reply._tag === "RpcError") return isForgotten(reply.error) ? forgotten : undefined
        const said = taskState(reply.result)
        reply.release?.()
        return said
      }),
      Effect.orElseSucceed(() => undefined)
    )

  /** The provider may ignore it, or be away. */
  const cancel = (task: CallTask): Effect.Effect<void> => Effect.ignore(send(task, "tasks/cancel", SERVICE))

  const update = (task: CallTask, inputResponses: string, client: TaskClient) =>
    send(task, "tasks/update", client, `,"inputResponses":${inputResponses}`)

  return { state, cancel, update }
})

/** The server does not know the task, or no tasks at all. Other errors may be temporary. */
const isForgotten = (error: string): boolean => {
  const { code } = JSON.parse(error) as { readonly code?: unknown }
  return code === INVALID_PARAMS || code === METHOD_NOT_FOUND || code === MISSING_CAPABILITY
}
