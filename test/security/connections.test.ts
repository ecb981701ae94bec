/**
 * Clients that open connections and keep them: others can still connect.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { EventEmitter } from "node:events"
import { connect, type Socket } from "node:net"
import { Dispatcher } from "../../adapters/http/pipeline/Dispatcher.ts"
import { parseTrustedProxies } from "../../adapters/http/pipeline/WebRequest.ts"
import { Connections } from "../../adapters/http/server/Connections.ts"
import { CONSUMERS } from "../support/market/Market.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { eventually } from "../support/mcp/McpClient.ts"

const LIVEZ = "GET /livez HTTP/1.1\r\nhost: a\r\n\r\n"
const UPLOAD = "POST /slow HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"

interface Client {
  readonly socket: Socket
  heard: string
  isClosed: boolean
}

const client = (localAddress: string) =>
  Effect.flatMap(RawHttp, ({ port }) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const socket = connect({ host: "127.0.0.1", port, localAddress })
        const made: Client = { socket, heard: "", isClosed: false }
        socket.on("data", (chunk: Buffer) => (made.heard += chunk.toString("latin1")))
        socket.on("error", () => {})
        socket.on("close", () => (made.isClosed = true))
        return made
      }),
      ({ socket }) => Effect.sync(() => socket.destroy())
    )
  )

const answersOf = ({ heard }: Client) => heard.split("HTTP/1.1 ").length - 1

/** A client that received a response and stays connected. */
const idling = Effect.fnUntraced(function* (localAddress: string) {
  const one = yield* client(localAddress)
  one.socket.write(LIVEZ)
  yield* eventually(() => one.heard.includes("200 OK"))
  return one
})

const served = Effect.fnUntraced(function* (one: Client) {
  const before = answersOf(one)
  one.socket.write(LIVEZ)
  yield* eventually(() => answersOf(one) > before || one.isClosed)
  return answersOf(one) > before
})

const CROWD = 20

it.layer(RawHttp.layer({}, { connectionsPerAddressMax: CROWD, connectionsMax: 2 * CROWD }), LIVE)(
  "idle connections",
  (it) => {
    it.effect("of one address are limited: a new one replaces the one that was idle longest", () =>
      Effect.gen(function* () {
        const crowd: Array<Client> = []
        for (let n = 0; n < CROWD; n++) crowd.push(yield* idling("127.0.0.1"))
        // No longer the one that was idle longest.
        assert.isTrue(yield* served(crowd[0]!))
        const next = yield* idling("127.0.0.1")
        yield* eventually(() => crowd[1]!.isClosed)
        assert.lengthOf(
          crowd.filter(({ isClosed }) => isClosed),
          1
        )
        assert.isTrue(yield* served(crowd[0]!))
        assert.isTrue(yield* served(next))
      })
    )

    it.effect("of one address, ten times its limit, do not lock others out", () =>
      Effect.gen(function* () {
        const neighbor = yield* idling("127.0.0.2")
        const flood: Array<Client> = []
        for (let n = 0; n < 10 * CROWD; n++) flood.push(yield* client("127.0.0.1"))
        for (const { socket } of flood) socket.write(LIVEZ)
        yield* eventually(() => flood.filter(({ isClosed }) => !isClosed).length <= CROWD)
        assert.isFalse(neighbor.isClosed)
        assert.isTrue(yield* served(neighbor))
        yield* idling("127.0.0.3")
      })
    )

    it.effect("of many addresses leave room for one more", () =>
      Effect.gen(function* () {
        const crowd: Array<Client> = []
        for (let n = 0; n < 3 * CROWD; n++) crowd.push(yield* idling(`127.0.1.${1 + (n % 200)}`))
        const newcomer = yield* idling("127.0.0.9")
        assert.isTrue(yield* served(newcomer))
        assert.isAtMost(crowd.filter(({ isClosed }) => !isClosed).length, 2 * CROWD)
      })
    )

    it.effect("with unfinished requests leave room for one more", () =>
      Effect.gen(function* () {
        const crowd: Array<Client> = []
        for (let n = 0; n < 3 * CROWD; n++) {
          const one = yield* client(`127.0.2.${1 + (n % 200)}`)
          one.socket.write(UPLOAD)
          crowd.push(one)
        }
        const newcomer = yield* idling("127.0.0.9")
        assert.isTrue(yield* served(newcomer))
      })
    )
  }
)

let begun = 0

/** Never answers, except for `/livez`. */
const busy = Layer.succeed(Dispatcher, {
  baseUrl: "https://market.example",
  dispatch: (request) => {
    if (request.path === "/livez") return Effect.succeed({ status: 200, headers: {}, body: "{}" })
    begun++
    return Effect.never
  },
  idle: Effect.void,
  logRejected: () => Effect.void,
  beginDrain: Effect.void,
  endStreams: Effect.void,
  cutOff: Effect.void
})

it.layer(RawHttp.over(busy, { connectionsPerAddressMax: 2, connectionsMax: 4 }), LIVE)(
  "connections with requests in progress",
  (it) => {
    it.effect("are not closed for others, who are told that there is no room", () =>
      Effect.gen(function* () {
        const working: Array<Client> = []
        for (const address of ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.2"]) {
          const one = yield* idling(address)
          one.socket.write("GET /work HTTP/1.1\r\nhost: a\r\n\r\n")
          working.push(one)
        }
        yield* eventually(() => begun === 4)
        const third = yield* client("127.0.0.1")
        yield* eventually(() => third.isClosed)
        assert.match(third.heard, /^HTTP\/1\.1 429 /u)
        assert.include(third.heard, "Too many open connections from your address")
        const stranger = yield* client("127.0.0.3")
        yield* eventually(() => stranger.isClosed)
        assert.match(stranger.heard, /^HTTP\/1\.1 503 /u)
        assert.include(stranger.heard, '"code":"UNAVAILABLE"')
        for (const { isClosed } of working) assert.isFalse(isClosed)
      })
    )
  }
)

it.layer(
  RawHttp.layer({}, { connectionsPerAddressMax: 2, trustedProxies: parseTrustedProxies(["127.0.0.0/24"]) }),
  LIVE
)("connections of a trusted proxy", (it) => {
  it.effect("carry the requests of many clients, and count toward no address", () =>
    Effect.gen(function* () {
      const kept: Array<Client> = []
      for (let n = 0; n < 10; n++) kept.push(yield* idling("127.0.0.1"))
      for (const one of kept) assert.isTrue(yield* served(one))
    })
  )
})

it.layer(RawHttp.layer({}, { requestMs: 1_000 }), LIVE)("a request", (it) => {
  it.effect("has a total time, however steadily its body arrives", () =>
    Effect.gen(function* () {
      const slow = yield* client("127.0.0.1")
      slow.socket.write(UPLOAD.replace("/slow", CONSUMERS))
      const drip = setInterval(() => slow.socket.write(" "), 50)
      yield* eventually(() => slow.isClosed).pipe(Effect.ensuring(Effect.sync(() => clearInterval(drip))))
      assert.match(slow.heard, /^HTTP\/1\.1 408 /u)
      assert.include(slow.heard, "REQUEST_TIMEOUT")
    })
  )
})

describe("an address", () => {
  const socketFrom = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroy: () => void socket.emit("close") })
    return socket as unknown as Socket
  }

  it("of IPv6 is its whole /64", () => {
    const connections = new Connections({ max: 100, perAddressMax: 2, trusted: [] })
    const sockets = [1, 2, 3].map((n) => socketFrom(`2001:db8:0:1::${n}`))
    let closed = 0
    for (const socket of sockets) socket.once("close", () => closed++)
    for (const socket of sockets) assert.strictEqual(connections.open(socket), "admitted")
    assert.strictEqual(closed, 1)
    assert.isUndefined(connections.of(sockets[0]!)?.latest)
    assert.strictEqual(connections.open(socketFrom("2001:db8:0:2::1")), "admitted")
    assert.strictEqual(closed, 1, "the next /64 is another address")
  })

  it("without connections is forgotten", () => {
    const connections = new Connections({ max: 2, perAddressMax: 1, trusted: [] })
    for (let n = 0; n < 1_000; n++) {
      const socket = socketFrom(`203.0.113.${n % 250}`)
      assert.strictEqual(connections.open(socket), "admitted")
      socket.destroy()
    }
    assert.strictEqual(connections.takeClosed(), 0)
  })
})
