/**
 * Event streams of every shape.
 */
import type { Behavior } from "./Behavior.ts"
import { event, result, stream, text } from "../../../../testing/mcp/ScriptedServer.ts"

export const streamBehaviors: ReadonlyArray<Behavior> = [
  {
    name: "a response in a stream, after notifications",
    onCall: (seen, response) => {
      stream(response)
      response.write(
        event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } })
      )
      response.write(
        event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "busy" } })
      )
      response.end(event(result(seen, text("done"))))
    },
    status: "success",
    attempts: 1
  },
  {
    name: "a response in a stream that is kept open",
    onCall: (seen, response) => {
      stream(response).write(event(result(seen, text("done"))))
    },
    status: "success",
    attempts: 1
  },
  {
    name: "a stream that ends before its response",
    onCall: (_seen, response) => stream(response).end(": nothing to say\n\n"),
    status: "error",
    kind: "connection",
    attempts: 1
  },
  {
    name: "a stream of garbage",
    onCall: (_seen, response) => stream(response).end("data: {oops\n\n"),
    status: "error",
    kind: "malformed_answer",
    attempts: 1
  },
  {
    name: "a stream with CRLF",
    onCall: (seen, response) => stream(response).end(event(result(seen, text("done"))).replaceAll("\n", "\r\n")),
    status: "success",
    attempts: 1
  },
  {
    name: "a stream with CR",
    onCall: (seen, response) => stream(response).end(event(result(seen, text("done"))).replaceAll("\n", "\r")),
    status: "success",
    attempts: 1
  },
  {
    name: "a stream whose data takes several lines",
    onCall: (seen, response) => {
      const lines = JSON.stringify(result(seen, text("done")), null, 2)
        .split("\n")
        .map((line) => `data: ${line}`)
      stream(response).end(`${lines.join("\n")}\n\n`)
    },
    status: "success",
    attempts: 1
  },
  {
    name: "a stream with a byte order mark, comments and other events",
    onCall: (seen, response) => {
      stream(response)
      response.write("\uFEFF: hello\n\nevent: endpoint\ndata: /elsewhere\n\n")
      response.end(`:\n${event(result(seen, text("done")))}`)
    },
    status: "success",
    attempts: 1
  },
  {
    name: "a stream cut into single bytes",
    onCall: (seen, response) => {
      stream(response)
      const bytes = Buffer.from(event(result(seen, text("Grüße, 世界"))))
      let at = 0
      const next = () => {
        if (at === bytes.length) return response.end()
        response.write(bytes.subarray(at, ++at))
        return setImmediate(next)
      }
      next()
    },
    status: "success",
    attempts: 1
  },
  {
    name: "another call's response in the stream before ours",
    onCall: (seen, response) => {
      stream(response)
      response.write(event({ jsonrpc: "2.0", id: 999_999, result: text("not yours") }))
      response.end(event(result(seen, text("done"))))
    },
    status: "success",
    attempts: 1
  }
]
