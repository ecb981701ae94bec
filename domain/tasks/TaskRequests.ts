/**
 * The requests about a task to the provider that runs it, in the era of its server. In the legacy era they go over the session
 * in which the task was started, from any node.
 */
import { Effect } from "effect"
import { INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY } from "../upstream/Protocol.ts"
import { type PassedReply, ProviderServers, type ServerFailed } from "../upstream/ProviderServers.ts"
import { TASKS_EXTENSION } from "../upstream/TaskSupport.ts"
import type { CallTask } from "./CallTask.ts"
import { legacyTaskResult, legacyTaskState } from "./LegacyTaskReply.ts"
import { forgotten, sessionLost, type TaskOutcome } from "./TaskOutcome.ts"
import { type RunningTask, taskState } from "./TaskReply.ts"

/** Less than a client waits for a response. */
const ASK_MS_MAX = 10_000

/** The client of a request, as it declared; the service itself if it asks on its own. */
export interface TaskClient {
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
}

const SERVICE: TaskClient = { capabilities: `{"extensions":{"${TASKS_EXTENSION}":{}}}`, clientInfo: undefined }

/** Undefined: the provider could not be asked, or failed for now. */
type State = RunningTask | TaskOutcome | undefined

export const makeTaskRequests = Effect.gen(function* () {
  const servers = yield* ProviderServers

  const send = (
    { consumerId, endpointUrl, providerId, session, upstreamId }: Asked,
    method: "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel",
    { capabilities, clientInfo }: TaskClient = SERVICE,
    more = ""
  ): Effect.Effect<PassedReply, ServerFailed> =>
    servers.ask(
      { providerId, endpointUrl },
      {
        method,
        params: `{"taskId":${JSON.stringify(upstreamId)}${more}}`,
        era: session === undefined ? "modern" : "legacy",
        capabilities,
        clientInfo,
        session,
        requestId: "0",
        progressToken: undefined,
        consumerId,
        timeoutMs: ASK_MS_MAX,
        onMessage: () => {}
      }
    )

  const legacyState = Effect.fnUntraced(function* (
    task: CallTask,
    text: string
  ): Effect.fn.Return<State, ServerFailed> {
    const said = legacyTaskState(text)
    if (!("ended" in said)) return said
    const reply = yield* send(task, "tasks/result")
    const outcome = legacyTaskResult(task, said, reply)
    released(reply)
    return outcome
  })

  const state = (task: CallTask): Effect.Effect<State> =>
    send(task, "tasks/get").pipe(
      Effect.flatMap((reply): Effect.Effect<State, ServerFailed> => {
        if (reply._tag === "RpcError") return Effect.succeed(isForgotten(reply.error) ? forgotten : undefined)
        if (task.session !== undefined) return legacyState(task, reply.result)
        const said = taskState(reply.result)
        released(reply)
        return Effect.succeed(said)
      }),
      Effect.catch((failure) => Effect.succeed(failure.sessionLost ? sessionLost : undefined))
    )

  /** The provider may ignore it, or be away. */
  const cancel = (task: Asked): Effect.Effect<void> => Effect.ignore(send(task, "tasks/cancel"))

  /** Of a task that has ended. A server that is away ends the session by its own idle time-out. */
  const close = ({ endpointUrl, providerId, session }: Asked): Effect.Effect<void> =>
    session === undefined ? Effect.void : servers.end({ providerId, endpointUrl }, session)

  /** Of a task that may still run, and that nothing is expected of. */
  const abandon = (task: Asked): Effect.Effect<void> => Effect.andThen(cancel(task), close(task))

  const update = (task: CallTask, inputResponses: string, client: TaskClient) =>
    send(task, "tasks/update", client, `,"inputResponses":${inputResponses}`)

  return { state, cancel, close, abandon, update }
})

type Asked = Pick<CallTask, "consumerId" | "endpointUrl" | "providerId" | "session" | "upstreamId">

const released = (reply: PassedReply): void => {
  if (reply._tag === "Result") reply.release?.()
}

/** The server does not know the task, or no tasks at all. Other errors may be temporary. */
const isForgotten = (error: string): boolean => {
  const { code } = JSON.parse(error) as { readonly code?: unknown }
  return code === INVALID_PARAMS || code === METHOD_NOT_FOUND || code === MISSING_CAPABILITY
}
