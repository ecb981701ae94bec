/**
 * A server that is stopped closes its connections, also those of a client that is never idle.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { connect } from "node:net"
import { layer as nodeServer, ListeningAt } from "../../../adapters/http/server/NodeServer.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { memoryConfig, wholeService } from "../../support/market/ServiceConfig.ts"

const DRAIN_MS = 10_000
const [FIRST_HALF, SECOND_HALF] = ["GET /livez HTTP/1.1\r\n", "host: market.example\r\n\r\n"]

/** Sends its next request before the last one is answered: its connection is never idle. */
const neverIdle = (port: number) => {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true })
  let heard = ""
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  socket.on("error", () => {})
  socket.on("data", (chunk: Buffer) => {
    const answers = chunk.toString("latin1").split("HTTP/1.1 200").length - 1
    heard = (heard + chunk.toString("latin1")).slice(-2_000)
    if (answers > 0 && socket.writable) socket.write((SECOND_HALF + FIRST_HALF).repeat(answers))
  })
  socket.write(FIRST_HALF + SECOND_HALF + FIRST_HALF)
  return { heard: () => heard, closed }
}

it.live("a client that is never idle is told to close its connection, and the server stops immediately", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const layer = nodeServer({ host: "127.0.0.1", port: 0, drain: DRAIN_MS }).pipe(
      Layer.provide(wholeService(memoryConfig()))
    )
    const { port } = Context.get(yield* Layer.buildWithScope(layer, scope), ListeningAt)
    const client = neverIdle(port)
    yield* eventually(() => client.heard() !== "")
    assert.match(client.heard(), /\r\nconnection: keep-alive\r\n/iu)
    const startedAt = performance.now()
    yield* Scope.close(scope, Exit.void)
    yield* Effect.promise(() => client.closed)
    assert.isBelow(performance.now() - startedAt, DRAIN_MS / 2)
    assert.match(client.heard().slice(client.heard().lastIndexOf("HTTP/1.1 200")), /\r\nconnection: close\r\n/iu)
  })
)
