/**
 * Behavior of a scripted provider, and the expected result of the call.
 */
import type { CallStatus, UpstreamCall, UpstreamProblem } from "../../../../domain/upstream/ToolUpstream.ts"
import { type Answer, json, result, type Script, text } from "../../../../testing/mcp/ScriptedServer.ts"

export interface Behavior {
  readonly name: string
  readonly onCall: Answer
  readonly call?: Partial<UpstreamCall>
  readonly eras?: ReadonlyArray<Script["era"]>
  readonly status: CallStatus
  readonly kind?: UpstreamProblem["kind"]
  readonly attempts: number
  readonly httpStatus?: number
  readonly retryAfterSeconds?: number
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_seen, response) => {
    response.writeHead(code, headers).end()
  }

export const fine: Answer = (seen, response) => json(response, result(seen, text("fine")))

export const thenFine =
  (first: Answer): Answer =>
  (seen, response, n) =>
    (n === 1 ? first : fine)(seen, response, n)

/** Enough for the steps before its provider stops responding, on a busy machine too. */
export const quick = { timeoutMs: 600 }
