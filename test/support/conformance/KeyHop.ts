/**
 * A hop in front of a door that adds a key to every request, since the conformance suite cannot send one. It changes
 * nothing else: bodies and streams are piped.
 */
import { request, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect } from "effect"
import { loopback } from "../servers/Loopback.ts"

const forward = (target: URL, key: string, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  const upstream = request(
    {
      host: target.hostname,
      port: target.port,
      path: target.pathname,
      method: incoming.method,
      headers: { ...incoming.headers, authorization: `Bearer ${key}` }
    },
    (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      outgoing.flushHeaders()
      response.on("error", () => outgoing.destroy())
      response.pipe(outgoing)
    }
  )
  upstream.on("error", () => outgoing.destroy())
  outgoing.on("close", () => upstream.destroy())
  incoming.pipe(upstream)
}

/** The URL at which the door needs no key, while the scope is open. */
export const keyHop = (door: string, key: string) => {
  const target = new URL(door)
  return Effect.map(
    loopback((incoming, outgoing) => forward(target, key, incoming, outgoing)),
    (origin) => `${origin}/mcp`
  )
}
