/**
 * Statuses, missing responses, broken connections.
 */
import { type Behavior, fine, quick, status, thenFine } from "./Behavior.ts"
import { json, result, rpcError, text } from "../../../../testing/mcp/ScriptedServer.ts"

const idempotent = { idempotent: true }

export const httpBehaviors: ReadonlyArray<Behavior> = [
  { name: "a result", onCall: fine, status: "success", attempts: 1 },
  {
    name: "a result with isError",
    onCall: (seen, response) => json(response, result(seen, { ...text("no such city"), isError: true })),
    status: "error",
    attempts: 1
  },
  {
    name: "a JSON-RPC error under 200",
    onCall: (seen, response) => json(response, rpcError(seen, -32602, "Unknown tool")),
    status: "error",
    kind: "json_rpc_error",
    attempts: 1
  },
  {
    name: "a JSON-RPC error under 400",
    onCall: (seen, response) => json(response, rpcError(seen, -32602, "Unknown tool"), 400),
    status: "error",
    kind: "json_rpc_error",
    attempts: 1,
    httpStatus: 400
  },
  ...[400, 404, 405].map((code): Behavior => ({
    name: `${code} for every call, from a server whose era is what it was`,
    onCall: status(code),
    eras: code === 404 ? ["modern", "stateless"] : ["modern", "stateful", "stateless"],
    status: "error",
    kind: "http_status",
    attempts: 1,
    httpStatus: code
  })),
  { name: "401", onCall: status(401), status: "error", kind: "http_status", attempts: 1, httpStatus: 401 },
  { name: "403", onCall: status(403), status: "error", kind: "http_status", attempts: 1, httpStatus: 403 },
  { name: "410", onCall: status(410), status: "error", kind: "http_status", attempts: 1, httpStatus: 410 },
  { name: "422", onCall: status(422), status: "error", kind: "http_status", attempts: 1, httpStatus: 422 },
  {
    name: "429 with Retry-After",
    onCall: status(429, { "retry-after": "17" }),
    status: "rate_limited",
    kind: "rate_limited",
    attempts: 1,
    httpStatus: 429,
    retryAfterSeconds: 17
  },
  {
    name: "429 with a JSON-RPC error",
    onCall: (seen, response) => json(response, rpcError(seen, -32000, "slow down"), 429),
    status: "rate_limited",
    kind: "rate_limited",
    attempts: 1,
    httpStatus: 429
  },
  { name: "500 twice", onCall: status(500), status: "error", kind: "http_status", attempts: 2, httpStatus: 500 },
  { name: "500, then a result", onCall: thenFine(status(500)), status: "success", attempts: 2 },
  { name: "503, then a result", onCall: thenFine(status(503)), status: "success", attempts: 2 },
  {
    name: "503 with a JSON-RPC error, then a result",
    onCall: thenFine((seen, response) => json(response, rpcError(seen, -32000, "later"), 503)),
    status: "success",
    attempts: 2
  },
  {
    name: "501, where no retry is allowed",
    onCall: status(501),
    call: { retriesMax: 0 },
    status: "error",
    kind: "http_status",
    attempts: 1,
    httpStatus: 501
  },
  {
    name: "503 with a Retry-After beyond the deadline",
    onCall: thenFine(status(503, { "retry-after": "3600" })),
    status: "error",
    kind: "http_status",
    attempts: 1,
    httpStatus: 503,
    retryAfterSeconds: 3600
  },
  ...[301, 302, 307, 308].map((code): Behavior => ({
    name: `${code} to a private address`,
    onCall: status(code, { location: "http://169.254.169.254/latest/meta-data/" }),
    status: "error",
    kind: "http_status",
    attempts: 1,
    httpStatus: code
  })),
  { name: "no response in time", onCall: () => {}, call: quick, status: "timeout", kind: "timeout", attempts: 1 },
  {
    name: "no response in time, from an idempotent tool",
    onCall: thenFine(() => {}),
    call: { ...quick, ...idempotent },
    status: "success",
    attempts: 2
  },
  {
    name: "a reset before the headers",
    onCall: (_seen, response) => response.socket?.resetAndDestroy(),
    status: "error",
    kind: "connection",
    attempts: 1
  },
  {
    name: "a reset before the headers, from an idempotent tool",
    onCall: thenFine((_seen, response) => response.socket?.resetAndDestroy()),
    call: idempotent,
    status: "success",
    attempts: 2
  },
  {
    name: "a reset after the headers",
    onCall: (_seen, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "500" }).write('{"jsonrpc":')
      setTimeout(() => response.socket?.resetAndDestroy(), 20)
    },
    status: "error",
    kind: "connection",
    attempts: 1
  }
]
