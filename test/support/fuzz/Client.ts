/**
 * One request over a keep-alive connection, and its whole response; a missing response is named.
 */
import { type Agent, request as httpRequest } from "node:http"
import type { FuzzRequest } from "./Requests.ts"

export interface FuzzAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
}

/** Longer than any limit of the service in the run. */
export const ANSWER_MS_MAX = 60_000

/** `refused`: the service closed the connection on a body that it had rejected. */
export const exchange = (
  port: number,
  agent: Agent,
  sent: FuzzRequest
): Promise<FuzzAnswer | "refused" | "no answer"> =>
  new Promise((resolve) => {
    const outgoing = httpRequest(
      {
        host: "127.0.0.1",
        port,
        agent,
        method: sent.method,
        path: sent.path,
        headers: {
          ...sent.headers,
          ...(sent.body === undefined ? {} : { "content-length": Buffer.byteLength(sent.body) })
        }
      },
      (incoming) => {
        const chunks: Array<Buffer> = []
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
        incoming.on("error", () => finish("refused"))
        incoming.on("end", () =>
          finish({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
            bytes: Buffer.concat(chunks)
          })
        )
      }
    )
    const timer = setTimeout(() => {
      finish("no answer")
      outgoing.destroy()
    }, ANSWER_MS_MAX)
    const finish = (outcome: FuzzAnswer | "refused" | "no answer") => {
      clearTimeout(timer)
      resolve(outcome)
    }
    outgoing.on("error", () => finish("refused"))
    outgoing.end(sent.body)
  })
