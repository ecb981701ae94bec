/**
 * Why a call ended in `error`, where metrics must tell it from a failure of the provider. Stored beside the receipt, whose
 * set of fields is fixed.
 */
import type { UpstreamResponse } from "./ToolUpstream.ts"

/**
 * `input_rejected`: the provider returned JSON-RPC error -32602. `canceled`: a cancellation was passed to the provider, or
 * the caller did not bring the input that the tool asked for.
 */
export type CallCause = "input_rejected" | "canceled"

/** JSON-RPC 2.0: "Invalid params". */
const INVALID_PARAMS = -32_602

export const causeOf = ({ problem, status }: UpstreamResponse): CallCause | undefined => {
  if (status !== "error") return undefined
  if (problem?.kind === "canceled") return "canceled"
  return problem?.kind === "json_rpc_error" && problem.rpcError?.code === INVALID_PARAMS ? "input_rejected" : undefined
}
