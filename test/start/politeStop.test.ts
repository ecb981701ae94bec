/**
 * A stop under load, as clients with connections that they keep see it: no request fails, and open streams end as streams
 * whose client may reconnect.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Agent, get, type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { Client } from "undici"
import { aDeveloper } from "../support/market/HttpMarket.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { aSession } from "../support/mcp/LegacyWire.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { modernCall } from "../support/mcp/ModernClient.ts"
import { ready } from "../support/servers/ServiceProcess.ts"

const CLIENTS = 24
/** Far longer than any client of the load pauses. */
const NOTICE_MS = 30_000
const PAUSES_MS = [0, 0, 3, 11, 20]

interface Seen {
  answered: number
  readonly failures: Array<string>
  /** Clients that were told to close their connection. */
  told: number
}

/** Sends one request after the other on one connection, until a response announces the end of that connection. */
const keptAlive = async (
  seen: Seen,
  pauseMs: number,
  send: () => Promise<{ readonly status: number; readonly connection: unknown }>
) => {
  for (;;) {
    try {
      const { connection, status } = await send()
      if (status !== 200) seen.failures.push(`status ${status}`)
      seen.answered++
      if (connection === "close") return void seen.told++
    } catch (cause) {
      return void seen.failures.push(String(cause))
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

const callOf = (key: string, toolId: string) => ({
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  body: JSON.stringify({ tool_id: toolId, input: { call: "one" } })
})

const byNode = (url: string, { body, headers }: ReturnType<typeof callOf>) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return () =>
    new Promise<{ status: number; connection: unknown }>((resolve, reject) => {
      const sent = request(`${url}/api/market/proxy`, { agent, method: "POST", headers }, (response) => {
        response
          .resume()
          .once("end", () => resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }))
        response.once("error", reject)
      })
      sent.once("error", reject)
      sent.end(body)
    })
}

const byUndici = (url: string, { body, headers }: ReturnType<typeof callOf>) => {
  const client = new Client(url, { pipelining: 1, keepAliveTimeout: 60_000 })
  return async () => {
    const response = await client.request({ method: "POST", path: "/api/market/proxy", headers, body })
    await response.body.text()
    return { status: response.statusCode, connection: response.headers["connection"] }
  }
}

/** Over a connection of its own. */
const readiness = (url: string) =>
  Effect.promise(
    () =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        get(`${url}/readyz`, { agent: false }, (response: IncomingMessage) => {
          let body = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
          response.once("end", () => resolve({ status: response.statusCode, body }))
        }).once("error", reject)
      })
  )

/** A connection without a request. */
const silent = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly ends: ReadonlyArray<string>; close(): void }>((resume) => {
      const socket = connect({ host: "127.0.0.1", port })
      const ends: Array<string> = []
      for (const event of ["error", "end"] as const) socket.on(event, () => ends.push(event))
      socket.once("connect", () => resume(Effect.succeed({ ends, close: () => socket.destroy() })))
    }),
    (socket) => Effect.sync(() => socket.close())
  )

it.live(
  "no request of a client that keeps its connection fails when the service stops under load",
  () =>
    Effect.gen(function* () {
      const service = yield* ready({
        ...OPEN_TO_LOAD,
        PROFILE: "memory",
        LOG_LEVEL: "Warn",
        SHUTDOWN_NOTICE_MS: String(NOTICE_MS)
      })
      const provider = yield* echoProvider
      provider.answerAfter(5)
      const { buyers, toolId } = yield* loadMarket(service.url, provider)
      const seen: Seen = { answered: 0, failures: [], told: 0 }
      const clients = Array.from({ length: CLIENTS }, (_, n) => {
        const call = callOf(buyers[n % buyers.length]!, toolId)
        const send = n % 2 === 0 ? byNode(service.url, call) : byUndici(service.url, call)
        return keptAlive(seen, PAUSES_MS[n % PAUSES_MS.length]!, send)
      })
      yield* eventually(() => seen.answered > 10 * CLIENTS, 60_000)
      assert.deepStrictEqual(yield* readiness(service.url), { status: 200, body: '{"status":"ok"}' })

      service.child.kill("SIGTERM")
      yield* Effect.promise(() => Promise.all(clients))
      assert.deepStrictEqual(seen.failures, [])
      assert.strictEqual(seen.told, CLIENTS)
      assert.deepStrictEqual(yield* readiness(service.url), { status: 503, body: '{"status":"draining"}' })
    }),
  180_000
)

it.live(
  "the notice ends when no connection is open",
  () =>
    Effect.gen(function* () {
      const service = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Warn", SHUTDOWN_NOTICE_MS: "600000" })
      const kept = yield* silent(service.port)
      service.child.kill("SIGTERM")
      yield* until(
        "the service drains",
        Effect.map(readiness(service.url), ({ status }) => status === 503)
      )
      kept.close()
      yield* service.exit
    }),
  180_000
)

it.live(
  "a connection without a request is closed after the notice, not reset",
  () =>
    Effect.gen(function* () {
      const service = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Warn", SHUTDOWN_NOTICE_MS: "100" })
      const kept = yield* silent(service.port)
      service.child.kill("SIGTERM")
      yield* service.exit
      yield* eventually(() => kept.ends.length > 0)
      assert.deepStrictEqual(kept.ends, ["end"])
    }),
  180_000
)

it.live(
  "the streams of MCP clients of both eras end with the time after which to reconnect",
  () =>
    Effect.gen(function* () {
      const service = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Warn", SHUTDOWN_NOTICE_MS: "100" })
      const door = { url: service.url, door: `${service.url}/mcp`, key: yield* aDeveloper(service.url) }
      const authorization = `Bearer ${door.key}`
      const session = yield* aSession(door)
      const legacy = yield* Effect.promise(() =>
        fetch(door.door, { headers: { authorization, accept: "text/event-stream", ...session } })
      )
      const params = { notifications: { toolsListChanged: true } }
      const { headers, json } = modernCall({ key: door.key, method: "subscriptions/listen", params })
      const modern = yield* Effect.promise(() =>
        fetch(door.door, {
          method: "POST",
          headers: { authorization, "content-type": "application/json", ...headers },
          body: JSON.stringify(json)
        })
      )
      service.child.kill("SIGTERM")
      const [ofLegacy, ofModern] = yield* Effect.promise(() => Promise.all([legacy.text(), modern.text()]))
      assert.isTrue(ofLegacy.endsWith("retry: 1000\n\n"), ofLegacy)
      assert.include(ofModern, "retry: 1000\n\n")
      assert.include(ofModern.slice(ofModern.indexOf("retry: ")), '"resultType":"complete"')
    }),
  180_000
)
