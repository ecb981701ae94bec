/**
 * How a task ended, as it is stored before the call is settled by it. Nothing else decides what is billed and delivered, so
 * any node can settle the call, and gets the same.
 */
import { memberOf } from "../shared/JsonText.ts"
import type { ToolResult, UpstreamProblem, UpstreamResponse } from "../upstream/ToolUpstream.ts"

export interface TaskOutcome {
  readonly status: "success" | "error" | "timeout"
  readonly problem: UpstreamProblem | undefined
  /** The result's JSON text, verbatim. */
  readonly resultText: string | undefined
  /** By its caller: billed by what the tool publishes for that. */
  readonly canceled: boolean
  /** As of any call. */
  readonly endedBy?: UpstreamResponse["endedBy"]
}

/** As it is stored. `waitedMs`: how long its task has waited for its caller. */
export interface StoredOutcome extends TaskOutcome {
  readonly waitedMs: number
}

export const outcomeText = ({ resultText, ...rest }: StoredOutcome): string => {
  const text = JSON.stringify(rest)
  return resultText === undefined ? text : `${text.slice(0, -1)},"result":${resultText}}`
}

export const outcomeIn = (text: string): StoredOutcome => {
  const { canceled, endedBy, problem, status, waitedMs } = JSON.parse(text) as Omit<StoredOutcome, "resultText">
  return { status, canceled, endedBy, problem, waitedMs, resultText: memberOf(text, 0, "result") }
}

/** What the call is settled by. */
export const answerOf = (
  outcome: TaskOutcome,
  took: Pick<UpstreamResponse, "attempts" | "latencyMs" | "requestBytes" | "responseBytes">
): UpstreamResponse => ({
  status: outcome.status,
  result: outcome.resultText === undefined ? undefined : (JSON.parse(outcome.resultText) as ToolResult),
  resultText: outcome.resultText,
  problem: outcome.problem,
  endedBy: outcome.endedBy,
  ...took,
  responseBytes: took.responseBytes + new TextEncoder().encode(outcome.resultText).length
})

const failed = (problem: UpstreamProblem): TaskOutcome => ({
  status: "error",
  problem,
  resultText: undefined,
  canceled: false
})

export const completedBy = (resultText: string): TaskOutcome => ({
  status: (JSON.parse(resultText) as ToolResult)["isError"] === true ? "error" : "success",
  problem: undefined,
  resultText,
  canceled: false
})

/** Serialized again, the numbers in an error can take four times the space. */
const ERROR_CHARS_MAX = 1024 * 1024

type RpcError = NonNullable<UpstreamProblem["rpcError"]>

export const failedBy = (rpcError: RpcError): TaskOutcome =>
  failed({ kind: "json_rpc_error", message: "The provider's task failed", rpcError: bounded(rpcError) })

/** Without its data if it is too large. */
const bounded = (error: RpcError): RpcError =>
  JSON.stringify(error).length <= ERROR_CHARS_MAX
    ? error
    : { code: error.code, message: error.message.slice(0, ERROR_CHARS_MAX), data: undefined }

export const canceledByCaller: TaskOutcome = {
  ...failed({ kind: "canceled", message: "The task was canceled by its caller, and the provider was told." }),
  canceled: true
}

export const canceledByProvider = failed({ kind: "unfinished", message: "The provider canceled the task" })

export const leftUnanswered: TaskOutcome = {
  ...failed({ kind: "canceled", message: "The task asked its caller for input, which did not come in time" }),
  endedBy: "caller"
}

export const forgotten = failed({ kind: "unfinished", message: "The provider does not know its task any more" })

export const sessionLost = failed({
  kind: "session_lost",
  message: "The provider does not know the session of its task any more, for example after a restart"
})

/** Of the legacy era. */
export const asksForInput: TaskOutcome = {
  ...failed({
    kind: "unfinished",
    message:
      "The provider's task asked for input, which tasks of this protocol version do not pass on. Call the tool without a task"
  }),
  endedBy: "service"
}

export const malformed = failed({
  kind: "malformed_answer",
  message: "The provider's response about its task was not valid"
})

export const timedOut: TaskOutcome = {
  ...failed({ kind: "timeout", message: "The provider's task did not end in time" }),
  status: "timeout"
}
