/**
 * Streams of the legacy era: resumed after a broken connection, canceled only by the client's notification, and settled
 * exactly once in any case. Servers that are restarted meanwhile.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { eventsOf, gatedServer } from "../../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, connected, type LegacyDoor, rpc } from "../../support/mcp/LegacyClients.ts"
import { aSession, aStream, call, canceled, resume, settled } from "../../support/mcp/LegacyWire.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

type Gated = Effect.Success<typeof gatedServer>
type Door = LegacyDoor & { readonly gated: Gated }

const PRICE = 1_000

class Running extends Context.Service<Running, { readonly url: string }>()("agent-tool-billing/test/mcp/Running") {
  static readonly layer = Layer.effect(Running, ready({ PROFILE: "memory", LOG_LEVEL: "Warn" }))
}

/** Each test has a provider, a server and an account of its own. */
const aDoor = Effect.gen(function* () {
  const { url } = yield* Running
  const gated = yield* gatedServer
  const drop = aPricedTool("drop", { on_cancel: "pass", canceled_call_costs: "nothing" })
  const door: Door = { ...(yield* aLegacyDoor(url, gated.server.url, [aPricedTool("wait"), drop])), gated }
  return door
})

const cancellationsAt = ({ gated }: Door) => gated.server.of("notifications/cancelled").length

it.layer(Running.layer, { timeout: "60 seconds", excludeTestServices: true })("A stream of the legacy era", (it) => {
  it.effect("is resumed after its connection broke: nothing is lost, nothing twice, and the call is billed once", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door)
      const { drop, stream } = yield* aStream(door, headers)
      const [first, progress] = stream.events
      assert.deepStrictEqual([first!.data, JSON.parse(progress!.data).params.progressToken], ["", "p"])
      drop()
      yield* eventually(() => stream.failed)

      const resumed = yield* resume(door, headers, first!.id!)
      assert.strictEqual(resumed.status, 200)
      const rest = eventsOf(resumed)
      yield* eventually(() => rest.events.length === 1)
      assert.deepStrictEqual(rest.events[0], progress)
      door.gated.finish(0)
      yield* eventually(() => rest.ended)
      assert.lengthOf(rest.events, 2)
      const response = JSON.parse(rest.events[1]!.data)
      assert.strictEqual(response.id, 1)
      assert.strictEqual(response.result.content[0].text, "done")
      const [receipt] = yield* settled(door, 1)
      assert.strictEqual(receipt!["cost_microcents"], PRICE)
      assert.strictEqual(cancellationsAt(door), 0)

      // Again, as long as it is kept; and nothing after its last event.
      const again = eventsOf(yield* resume(door, headers, progress!.id!))
      yield* eventually(() => again.ended)
      assert.deepStrictEqual(again.events, rest.events.slice(1))
      assert.strictEqual((yield* resume(door, headers, rest.events[1]!.id!)).status, 405)
      const thief = yield* aSession(door)
      const stolen = eventsOf(yield* resume(door, thief, first!.id!))
      yield* eventually(() => stolen.ended)
      assert.isFalse(JSON.stringify(stolen.events).includes("done"))
    })
  )

  it.effect("bills a call in a batch whose connection broke, without a cancellation, whatever follows it there", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = { ...(yield* aSession(door, "2025-03-26")), accept: "application/json" }
      const read = { jsonrpc: "2.0", id: 2, method: "resources/read", params: { uri: "file:///a" } }
      const connection = new AbortController()
      const broken = rpc(door, [call("drop"), read], headers, connection.signal).then(
        () => false,
        () => true
      )
      yield* eventually(() => door.gated.open.length > 0)
      // The call waits until nothing else of its batch is open.
      assert.strictEqual(door.gated.open[0]!.seen.method, "resources/read")
      yield* Effect.sleep("100 millis")
      assert.lengthOf(door.gated.open, 1)
      door.gated.finish(0)
      yield* eventually(() => door.gated.open.length === 2)
      connection.abort()
      assert.isTrue(yield* Effect.promise(() => broken))
      yield* Effect.sleep("200 millis")
      door.gated.finish(1)
      const [receipt] = yield* settled(door, 1)
      assert.strictEqual(receipt!["cost_microcents"], PRICE)
      assert.strictEqual(cancellationsAt(door), 0)
    })
  )

  it.effect("ends with a batch whose only request was canceled", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door, "2025-03-26")
      const stream = eventsOf(yield* Effect.promise(() => rpc(door, [call("wait")], headers)))
      yield* eventually(() => stream.events.length >= 2)
      yield* Effect.promise(() => rpc(door, canceled(1), headers))
      yield* eventually(() => stream.ended)
      const again = eventsOf(yield* resume(door, headers, stream.events[0]!.id!))
      yield* eventually(() => again.ended)
      assert.deepStrictEqual(again.events, stream.events.slice(1))
      door.gated.finish(0)
      yield* settled(door, 1)
    })
  )

  it.effect("ends one request of a batch when the client cancels it, and answers the others", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = { ...(yield* aSession(door, "2025-03-26")), accept: "application/json" }
      const read = (id: number) => ({ jsonrpc: "2.0", id, method: "resources/read", params: { uri: `a:${id}` } })
      const answered = rpc(door, [read(1), read(2)], headers)
      yield* eventually(() => door.gated.open.length === 2)
      yield* Effect.promise(() => rpc(door, canceled(1), headers))
      yield* eventually(() => cancellationsAt(door) === 1)
      door.gated.finish(0)
      door.gated.finish(1)
      const responses = JSON.parse(yield* Effect.promise(async () => (await answered).text()))
      assert.deepStrictEqual(
        responses.map(({ id }: { readonly id: number }) => id),
        [2]
      )
      assert.strictEqual(cancellationsAt(door), 1)
    })
  )

  it.effect("settles a call whose connection broke by its outcome, without a cancellation at the server", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door)
      for (const [n, name] of ["wait", "drop"].entries()) {
        const { drop, stream } = yield* aStream(door, headers, name, name)
        drop()
        yield* eventually(() => stream.failed)
        door.gated.finish(n)
        const [receipt] = yield* settled(door, n + 1)
        assert.deepStrictEqual([receipt!["status"], receipt!["cost_microcents"]], ["success", PRICE])
      }
      assert.strictEqual(cancellationsAt(door), 0)
    })
  )

  it.effect("ends without a response when the client cancels, and bills the call by its outcome", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door)
      const { stream } = yield* aStream(door, headers)
      const told = yield* Effect.promise(() => rpc(door, canceled(1), headers))
      assert.strictEqual(told.status, 202)
      yield* eventually(() => stream.ended)
      assert.lengthOf(stream.events, 2)
      assert.strictEqual(cancellationsAt(door), 0)
      door.gated.finish(0)
      const [receipt] = yield* settled(door, 1)
      assert.deepStrictEqual([receipt!["status"], receipt!["cost_microcents"]], ["success", PRICE])
    })
  )

  it.effect("passes the cancellation of a tool that wants it, and of a request that is not billed", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door)
      const { stream } = yield* aStream(door, headers, "drop", "c-1")
      yield* Effect.promise(() => rpc(door, canceled("other"), headers))
      yield* Effect.promise(() => rpc(door, canceled("c-1"), headers))
      yield* eventually(() => stream.ended && cancellationsAt(door) === 1)
      const [receipt] = yield* settled(door, 1)
      assert.strictEqual(receipt!["cost_microcents"], 0)

      const read = { jsonrpc: "2.0", id: 9, method: "resources/read", params: { uri: "a:b" } }
      const reading = rpc(door, read, headers)
      yield* eventually(() => door.gated.open.length === 2)
      yield* Effect.promise(() => rpc(door, canceled(9), headers))
      const response = yield* Effect.promise(() => reading)
      assert.strictEqual(yield* Effect.promise(() => response.text()), "")
      yield* eventually(() => cancellationsAt(door) === 2)
      const { server } = door.gated
      const sentAs = server.of("resources/read")[0]!.id
      assert.notStrictEqual(sentAs, 9)
      assert.strictEqual(server.of("notifications/cancelled")[1]!.params["requestId"], sentAs)

      for (const method of ["Tools/Call", "tools//call", "Notifications/cancelled", "Tasks/get"]) {
        const refused = yield* Effect.promise(() => rpc(door, { jsonrpc: "2.0", id: 10, method, params: {} }, headers))
        const { error } = JSON.parse(yield* Effect.promise(() => refused.text()))
        assert.strictEqual(error.code, -32601, method)
        assert.lengthOf(server.of(method), 0)
      }
    })
  )

  it.effect("is opened for a call that takes long, with nothing but its first event", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door)
      const silent = { ...call("wait"), params: { name: "wait", arguments: {} } }
      const response = yield* Effect.promise(() => rpc(door, silent, headers))
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      const stream = eventsOf(response)
      yield* eventually(() => stream.events.length > 0)
      assert.strictEqual(stream.events[0]!.data, "")
      door.gated.finish(0)
      yield* eventually(() => stream.ended)
      assert.strictEqual(JSON.parse(stream.events.at(-1)!.data).result.content[0].text, "done")
    })
  )

  it.effect("survives a restart of the server between two calls, with one receipt for each", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door)
      door.gated.restart()
      const passed = yield* Effect.promise(async () =>
        (await rpc(door, { jsonrpc: "2.0", id: 5, method: "prompts/list" }, headers)).json()
      )
      assert.deepStrictEqual(passed, { jsonrpc: "2.0", id: 5, result: { answered: "prompts/list" } })
      door.gated.restart()
      const { stream } = yield* aStream(door, headers)
      door.gated.finish(0)
      yield* eventually(() => stream.ended)
      assert.strictEqual(JSON.parse(stream.events.at(-1)!.data).result.content[0].text, "done")
      const [receipt] = yield* settled(door, 1)
      assert.strictEqual(receipt!["cost_microcents"], PRICE)
      const own = door.gated.server.of("initialize").filter(({ text }) => text.includes('"wire"'))
      assert.lengthOf(own, 3)
    })
  )

  it.effect(
    "says what happened when the server crashes in the middle of a call, free of charge, and goes on after it",
    () =>
      Effect.gen(function* () {
        const door = yield* aDoor
        const headers = yield* aSession(door)
        const { stream: broken } = yield* aStream(door, headers)
        door.gated.crash()
        yield* eventually(() => broken.ended)
        const { id, result } = JSON.parse(broken.events.at(-1)!.data)
        assert.deepStrictEqual([id, result.isError], [1, true])
        assert.match(result.content[0].text, /response was interrupted\. Nothing was charged\./u)
        assert.deepInclude(result._meta["agent-tool-billing/billing"], { code: "PROVIDER_ERROR", cost_microcents: 0 })
        const { stream: next } = yield* aStream(door, headers, "wait", 2)
        door.gated.finish(0)
        yield* eventually(() => next.ended)
        const costs = (yield* settled(door, 2)).map((receipt) => receipt["cost_microcents"])
        assert.sameMembers(costs, [0, PRICE])
        assert.lengthOf(door.gated.open, 1)
      })
  )

  it.effect("makes the client initialize again where the server's state of the session is lost", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      const headers = yield* aSession(door)
      const level = { jsonrpc: "2.0", id: 3, method: "logging/setLevel", params: { level: "debug" } }
      assert.strictEqual((yield* Effect.promise(() => rpc(door, level, headers))).status, 200)
      door.gated.restart()
      const lost = yield* Effect.promise(() => rpc(door, call("wait"), headers))
      assert.strictEqual(lost.status, 404)
      assert.include(yield* Effect.promise(() => lost.text()), "Send initialize")
      assert.strictEqual((yield* Effect.promise(() => rpc(door, call("wait"), headers))).status, 404)
      const [receipt] = yield* settled(door, 1)
      assert.strictEqual(receipt!["cost_microcents"], 0)
      const next = yield* aSession(door)
      const { stream } = yield* aStream(door, next)
      door.gated.finish(0)
      yield* eventually(() => stream.ended)
    })
  )

  it.effect("is resumed by the official SDK when its connection breaks in the middle of a call", () =>
    Effect.gen(function* () {
      const door = yield* aDoor
      let broken = 0
      const breaking: typeof fetch = async (input, init) => {
        const response = await fetch(input, init)
        const isStream = response.headers.get("content-type") === "text/event-stream"
        if (init?.method !== "POST" || !isStream || broken++ > 0) return response
        const reader = response.body!.getReader()
        let chunks = 0
        const body = new ReadableStream({
          pull: async (controller) => {
            const { done, value } = await reader.read()
            if (done || chunks++ > 0) {
              await reader.cancel()
              controller.error(new Error("The connection broke"))
            } else controller.enqueue(value)
          }
        })
        return new Response(body, { status: response.status, headers: response.headers })
      }
      const { client } = yield* connected(door, { fetch: breaking })
      const result = client.callTool({ name: "wait", arguments: {} }, undefined, { onprogress: () => {} })
      yield* eventually(() => broken > 0)
      door.gated.finish(0, "after the break")
      const { content } = (yield* Effect.promise(() => result)) as { readonly content: ReadonlyArray<{ text: string }> }
      assert.strictEqual(content[0]!.text, "after the break")
      assert.isAbove(broken, 0)
      yield* settled(door, 1)
    })
  )
})
