/**
 * Why a call ended in `error`, where metrics must tell it from a failure of the provider. Stored beside the receipt, whose
 * set of fields is fixed.
 */
import { INVALID_PARAMS, MISSING_CAPABILITY } from "../upstream/Protocol.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"

/**
 * `input_rejected`: the provider rejected the arguments (JSON-RPC error -32602), or the call of a client that cannot do what
 * the tool needs (-32021). `canceled`: the caller or the service ended the call, which counts against no provider.
 */
export type CallCause = "input_rejected" | "canceled"

const REJECTED: ReadonlySet<number | undefined> = new Set([INVALID_PARAMS, MISSING_CAPABILITY])

export const causeOf = (answer: UpstreamResponse): CallCause | undefined => {
  const { problem, status } = answer
  if (status !== "error") return undefined
  if (enderOf(answer) !== undefined) return "canceled"
  return problem?.kind === "json_rpc_error" && REJECTED.has(problem.rpcError?.code) ? "input_rejected" : undefined
}

/** Who ended the call, where it was not its provider. */
export const enderOf = ({ endedBy, problem }: UpstreamResponse): UpstreamResponse["endedBy"] => {
  if (endedBy !== undefined) return endedBy
  if (problem?.kind === "overloaded") return "service"
  return problem?.kind === "canceled" ? "caller" : undefined
}
