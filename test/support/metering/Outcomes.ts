/**
 * Every behavior of a provider, and the expected response, receipt, attempts, and the billing policies that charge
 * for it.
 */
import type { BillingPolicy } from "../../../domain/catalog/Tool.ts"
import { type Answer, event, json, result, rpcError, stream, text } from "../../../testing/mcp/ScriptedServer.ts"

export interface Outcome {
  readonly name: string
  readonly onCall: Answer
  /** In place of the scripted server's own. */
  readonly endpoint?: string
  readonly tool?: Readonly<Record<string, unknown>>
  /** Calls that are made, and fail, before the one that is checked. */
  readonly failuresBefore?: number
  readonly status: number
  readonly code?: string
  readonly receipt: "success" | "error" | "timeout" | "rate_limited"
  readonly attempts: number
  readonly pays: ReadonlyArray<BillingPolicy>
  readonly headers?: Readonly<Record<string, string>>
}

const ALL: Outcome["pays"] = ["success", "valid_output", "attempt"]
const ATTEMPT: Outcome["pays"] = ["attempt"]

const success = { status: 200, receipt: "success", attempts: 1, pays: ALL } as const
const failure = { status: 502, code: "PROVIDER_ERROR", receipt: "error", attempts: 1, pays: ATTEMPT } as const
/** The tool's own error: a response, with the result. */
const toolError = { status: 200, receipt: "error", attempts: 1, pays: ATTEMPT } as const
const timeout = { status: 504, code: "PROXY_TIMEOUT", receipt: "timeout", attempts: 1, pays: ATTEMPT } as const
const quick = { timeout_ms: 500 }

const fitting = { ...text("21.5"), structuredContent: { temperature: 21.5 } }
const answering =
  (value: unknown): Answer =>
  (seen, response) =>
    json(response, result(seen, value))
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_seen, response) => {
    response.writeHead(code, headers).end()
  }
const raw =
  (type: string, body: string): Answer =>
  (_seen, response) => {
    response.writeHead(200, { "content-type": type }).end(body)
  }
const first =
  (one: Answer, then: Answer): Answer =>
  (seen, response, n) =>
    (n === 1 ? one : then)(seen, response, n)
const reset: Answer = (_seen, response) => void response.socket?.resetAndDestroy()
const silence: Answer = () => {}

export const outcomes: ReadonlyArray<Outcome> = [
  { name: "result that fits the output schema", onCall: answering(fitting), ...success },
  {
    name: "result without structuredContent",
    onCall: answering(text("21.5")),
    ...success,
    pays: ["success", "attempt"]
  },
  {
    name: "structuredContent that does not fit the output schema",
    onCall: answering({ ...text("warm"), structuredContent: { temperature: "warm" } }),
    ...success,
    pays: ["success", "attempt"]
  },
  { name: "result with isError", onCall: answering({ ...text("no such city"), isError: true }), ...toolError },
  {
    name: "result with isError whose structuredContent fits",
    onCall: answering({ ...fitting, isError: true }),
    ...toolError
  },
  {
    name: "JSON-RPC error under 200",
    onCall: (seen, response) => json(response, rpcError(seen, -32602, "Unknown tool")),
    ...failure
  },
  {
    name: "JSON-RPC error under 400",
    onCall: (seen, response) => json(response, rpcError(seen, -32602, "Unknown tool"), 400),
    ...failure
  },
  ...[400, 401, 403, 404, 405, 410, 422].map((code) => ({ name: `status ${code}`, onCall: status(code), ...failure })),
  {
    name: "redirect to the metadata address",
    onCall: status(307, { location: "http://169.254.169.254/latest/meta-data/" }),
    ...failure
  },
  {
    name: "status 429",
    onCall: status(429, { "retry-after": "17" }),
    ...failure,
    receipt: "rate_limited",
    headers: { "retry-after": "17" }
  },
  { name: "status 500, twice", onCall: status(500), ...failure, attempts: 2 },
  { name: "status 503, then a result", onCall: first(status(503), answering(fitting)), ...success, attempts: 2 },
  {
    name: "status 502, then a result with isError",
    onCall: first(status(502), answering({ ...text("no"), isError: true })),
    ...toolError,
    attempts: 2
  },
  {
    name: "status 503 with a Retry-After beyond the deadline",
    onCall: status(503, { "retry-after": "3600" }),
    ...failure,
    headers: { "retry-after": "3600" }
  },
  { name: "silence", onCall: silence, tool: quick, ...timeout },
  {
    name: "no response, then a result, of an idempotent tool",
    onCall: first(silence, answering(fitting)),
    // Long enough for the second attempt, on a busy machine.
    tool: { timeout_ms: 2_000, idempotent: true },
    ...success,
    attempts: 2
  },
  { name: "reset before the headers", onCall: reset, ...failure },
  {
    name: "reset, then a result, of an idempotent tool",
    onCall: first(reset, answering(fitting)),
    tool: { idempotent: true },
    ...success,
    attempts: 2
  },
  {
    name: "reset after the headers",
    onCall: (_seen, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "500" }).write('{"jsonrpc":')
      setTimeout(() => response.socket?.resetAndDestroy(), 10)
    },
    ...failure
  },
  { name: "garbage for JSON", onCall: raw("application/json", "{oops"), ...failure },
  { name: "HTML page", onCall: raw("text/html", "<html>hello"), ...failure },
  { name: "empty answer", onCall: raw("application/json", ""), ...failure },
  { name: "202 without content", onCall: status(202), ...failure },
  {
    name: "response larger than 5 MiB",
    onCall: (_seen, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "6000000" }).write("{")
    },
    ...failure
  },
  {
    name: "result in an event stream, after progress",
    onCall: (seen, response) => {
      stream(response).write(event({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } }))
      response.end(event(result(seen, fitting)))
    },
    ...success
  },
  {
    name: "event stream that ends before its result",
    onCall: (_seen, response) => void stream(response).end(": nothing\n\n"),
    ...failure
  },
  {
    name: "event stream of garbage",
    onCall: (_seen, response) => void stream(response).end("data: {oops\n\n"),
    ...failure
  },
  { name: "question back", onCall: answering({ resultType: "input_required", inputRequests: {} }), ...failure },
  { name: "task that is only started", onCall: answering({ task: { taskId: "t", status: "working" } }), ...failure },
  { name: "address where no server listens", endpoint: "http://127.0.0.1:9/mcp", onCall: silence, ...failure },
  {
    name: "response after eight consecutive failures",
    onCall: reset,
    failuresBefore: 8,
    ...failure,
    status: 503,
    code: "UNAVAILABLE",
    attempts: 0,
    pays: []
  }
]
