/**
 * Clients that disconnect, on the service's own server and in an app that mounts it: the tool's work is paid for.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { connect } from "node:net"
import { loadMarket, PRICE, walletOf } from "../../support/load/LoadMarket.ts"
import { forwarded, slowProvider } from "../../support/metering/Provider.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const SETTINGS = { PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback", RATE_LIMIT_RPM: "1000" }
const LOADED = 1_000_000

const aMarket = Effect.gen(function* () {
  const { port } = yield* RawHttp
  const url = `http://127.0.0.1:${port}`
  const slow = yield* slowProvider()
  const { buyers, toolId } = yield* loadMarket(url, slow.server, { buyers: 1, cents: LOADED / 10_000 })
  const body = JSON.stringify({ tool_id: toolId, input: {} })
  const headers = { "content-type": "application/json", authorization: `Bearer ${buyers[0]!}` }
  const paid = Effect.repeat(walletOf(url, buyers[0]!), {
    until: ({ balance, held }) => held === 0 && balance < LOADED,
    schedule: Schedule.spaced(20)
  })
  return { body, headers, paid, port, slow, url }
})

/** Sends the request and closes the connection once the provider has the call. */
const closedTcp = (port: number, request: string, isForwarded: () => boolean) =>
  Effect.acquireUseRelease(
    Effect.sync(() => connect({ host: "127.0.0.1", port })),
    (socket) =>
      Effect.andThen(
        Effect.sync(() => socket.write(request)),
        eventually(isForwarded)
      ),
    (socket) => Effect.sync(() => socket.resetAndDestroy())
  )

for (const [server, layer] of [
  ["the service's own server", RawHttp.layer(SETTINGS)],
  ["an app that has the service mounted", RawHttp.mounted(SETTINGS)]
] as const) {
  it.layer(layer, LIVE)(`a caller of ${server} that disconnects`, (it) => {
    it.effect.each([
      { what: "by a closed connection", accept: "application/json" },
      { what: "by a closed event stream", accept: "application/json, text/event-stream" }
    ])("$what pays for the call", ({ accept }) =>
      Effect.gen(function* () {
        const { body, headers, paid, port, slow } = yield* aMarket
        const head = Object.entries({ ...headers, accept, "content-length": body.length, host: "market.example" })
        const lines = head.map(([name, value]) => `${name}: ${value}`).join("\r\n")
        const request = `POST /api/market/proxy HTTP/1.1\r\n${lines}\r\n\r\n${body}`
        yield* closedTcp(port, request, () => forwarded(slow.server) === 1)
        yield* Effect.sleep(100)
        assert.strictEqual(slow.left(), 0, "the provider's work goes on")
        yield* slow.answer
        assert.deepStrictEqual(yield* paid, { balance: LOADED - PRICE, held: 0 })
      })
    )

    it.effect("by a short client timeout pays for the call", () =>
      Effect.gen(function* () {
        const { body, headers, paid, slow, url } = yield* aMarket
        const timeout = new AbortController()
        const ending = fetch(`${url}/api/market/proxy`, {
          method: "POST",
          headers,
          body,
          signal: timeout.signal
        }).then(
          () => "answered",
          () => "gave up"
        )
        yield* eventually(() => forwarded(slow.server) === 1)
        timeout.abort()
        assert.strictEqual(yield* Effect.promise(() => ending), "gave up")
        yield* Effect.sleep(100)
        assert.strictEqual(slow.left(), 0, "the provider's work goes on")
        yield* slow.answer
        assert.deepStrictEqual(yield* paid, { balance: LOADED - PRICE, held: 0 })
      })
    )
  })
}
