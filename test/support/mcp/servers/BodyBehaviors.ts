/**
 * Responses that are wrong, too large, or unfinished.
 */
import { gzipSync } from "node:zlib"
import { type Behavior, quick, status } from "./Behavior.ts"
import { json, result, stream, text } from "../../../../testing/mcp/ScriptedServer.ts"

const bomb = gzipSync(Buffer.alloc(50_000_000, 32))

export const bodyBehaviors: ReadonlyArray<Behavior> = [
  {
    name: "garbage for JSON",
    onCall: (_seen, response) => response.writeHead(200, { "content-type": "application/json" }).end("<html>oops"),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "an HTML page instead of MCP",
    onCall: (_seen, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>hello"),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "an empty body",
    onCall: (_seen, response) => response.writeHead(200, { "content-type": "application/json" }).end(),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "a response that is nested too deeply",
    onCall: (seen, response) => {
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
      const body = `{"jsonrpc":"2.0","id":${seen.id},"result":{"content":[],"structuredContent":${deep}}}`
      response.writeHead(200, { "content-type": "application/json" }).end(body)
    },
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "a response with many brackets, side by side and in strings",
    onCall: (seen, response) =>
      json(
        response,
        result(seen, {
          ...text("fine"),
          structuredContent: { list: Array.from({ length: 3_000 }, () => ['[{"['.repeat(3)]) }
        })
      ),
    status: "success",
    attempts: 1
  },
  {
    name: "202 without a body",
    onCall: status(202),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "a response to another id",
    onCall: (seen, response) => json(response, { ...result(seen, text("yours?")), id: (seen.id ?? 0) + 1 }),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "an id that is returned as a string",
    onCall: (seen, response) => json(response, { ...result(seen, text("yours?")), id: String(seen.id) }),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "a result that is not an object",
    onCall: (seen, response) => json(response, result(seen, "done")),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "a response with too large a content length",
    onCall: (_seen, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "6000000" }).write("{")
    },
    status: "error",
    kind: "too_large",
    attempts: 1
  },
  {
    name: "a response that grows too large",
    onCall: (_seen, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      const piece = `"${"x".repeat(1_000_000)}"`
      for (let n = 0; n < 7; n++) response.write(piece)
    },
    status: "error",
    kind: "too_large",
    attempts: 1
  },
  {
    name: "an event stream that grows too large",
    onCall: (_seen, response) => {
      stream(response)
      const piece = `: ${"x".repeat(1_000_000)}\n`
      for (let n = 0; n < 7; n++) response.write(piece)
    },
    status: "error",
    kind: "too_large",
    attempts: 1
  },
  {
    name: "headers that are too large",
    onCall: status(200, Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x-${n}`, "y".repeat(1_000)]))),
    status: "error",
    kind: "too_large",
    attempts: 1
  },
  {
    name: "a compressed bomb",
    onCall: (_seen, response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "a slow drip",
    onCall: (_seen, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      const drip = setInterval(() => response.write(" "), 20)
      response.on("close", () => clearInterval(drip))
    },
    call: quick,
    status: "timeout",
    kind: "timeout",
    attempts: 1
  },
  {
    name: "a stream that drips comments",
    onCall: (_seen, response) => {
      stream(response)
      const drip = setInterval(() => response.write(": still here\n\n"), 20)
      response.on("close", () => clearInterval(drip))
    },
    call: quick,
    status: "timeout",
    kind: "timeout",
    attempts: 1
  },
  {
    name: "a batch, as 2025-03-26 allowed it",
    onCall: (seen, response) =>
      json(response, [{ jsonrpc: "2.0", method: "notifications/message" }, result(seen, text("done"))]),
    status: "success",
    attempts: 1
  },
  {
    name: "input_required",
    onCall: (seen, response) => json(response, result(seen, { resultType: "input_required", inputRequests: {} })),
    status: "error",
    kind: "unfinished",
    attempts: 1
  },
  {
    name: "a task",
    onCall: (seen, response) => json(response, result(seen, { task: { taskId: "t", status: "working" } })),
    status: "error",
    kind: "unfinished",
    attempts: 1
  },
  {
    name: "an unknown resultType",
    onCall: (seen, response) => json(response, result(seen, { resultType: "partial", ...text("half") })),
    eras: ["modern"],
    status: "error",
    kind: "unfinished",
    attempts: 1
  }
]
