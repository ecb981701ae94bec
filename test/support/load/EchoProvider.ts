/**
 * A minimal MCP server of a provider that records everything: which call of the load arrived under which invocations.
 * The load's own name for a call is its argument `call`.
 */
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface EchoProvider {
  readonly url: string
  /** Of each call of the load: the invocations that were forwarded for it, in order. */
  readonly invocations: ReadonlyMap<string, ReadonlyArray<string>>
  /** 0 at first; Infinity: never. */
  answerAfter(ms: number): void
  /** Those that it would never answer. */
  answerAll(): void
  /** Calls that arrived and are not answered yet. */
  waiting(): number
}

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly arguments?: { readonly call?: string } }
}

export const echoProvider: Effect.Effect<EchoProvider, never, Scope.Scope> = Effect.acquireRelease(
  Effect.callback<EchoProvider & { close(): void }>((resume) => {
    const invocations = new Map<string, Array<string>>()
    let delayMs = 0
    let waiting = 0
    let unanswered: Array<() => void> = []

    const onCall = (message: Message, headers: IncomingMessage["headers"], response: ServerResponse) => {
      const call = message.params?.arguments?.call ?? ""
      const known = invocations.get(call)
      const invocation = String(headers["x-market-invocation"])
      if (known === undefined) invocations.set(call, [invocation])
      else known.push(invocation)
      const answer = () => {
        waiting--
        reply(response, message.id, { content: [{ type: "text", text: call }] })
      }
      waiting++
      if (delayMs === 0) answer()
      else if (delayMs === Number.POSITIVE_INFINITY) unanswered.push(answer)
      else setTimeout(answer, delayMs)
    }

    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      let text = ""
      request.setEncoding("utf8")
      request.on("data", (chunk: string) => (text += chunk))
      request.on("end", () => {
        const message = JSON.parse(text) as Message
        if (message.id === undefined) return response.writeHead(202).end()
        if (message.method === "tools/call") return onCall(message, request.headers, response)
        return reply(response, message.id, { supportedVersions: ["2026-07-28"], capabilities: {}, tools: [] })
      })
    })
    server.listen(0, "127.0.0.1", () =>
      resume(
        Effect.succeed({
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
          invocations,
          answerAfter: (ms) => (delayMs = ms),
          answerAll: () => {
            for (const answer of unanswered) answer()
            unanswered = []
          },
          waiting: () => waiting,
          close: () => {
            server.close()
            server.closeAllConnections()
          }
        })
      )
    )
  }),
  (provider) => Effect.sync(() => provider.close())
)

const reply = (response: ServerResponse, id: number | undefined, result: object): void => {
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } })
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
}
