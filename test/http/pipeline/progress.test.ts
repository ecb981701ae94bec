/**
 * Progress of a call: the response may be an event stream, with the same result.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import type { WebRequest, WebResponse } from "../../../adapters/http/pipeline/WebRequest.ts"
import { endStream, isStreaming, UnreadResponses, writeEvent } from "../../../adapters/http/server/HttpMessages.ts"
import { answering } from "../../../adapters/http/server/RouterMount.ts"
import {
  type Answer,
  event,
  json,
  result,
  rpcError,
  scriptedServer,
  stream,
  text
} from "../../../testing/mcp/ScriptedServer.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import { loadMarket, PRICE, walletOf } from "../../support/load/LoadMarket.ts"

const SETTINGS = { PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback", RATE_LIMIT_RPM: "1000" }
const LOADED = 1_000_000
/** Long enough to be compressed. */
const LONG = "a\nb".repeat(10_000)

interface Told {
  readonly event: string
  readonly data: unknown
}

/** As a client of server-sent events reads them. */
const read = async (response: Response, onEvent: (told: Told) => void = () => {}): Promise<ReadonlyArray<Told>> => {
  const told: Array<Told> = []
  let pending = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (pending + chunk).split("\n\n")
    pending = blocks.pop()!
    for (const block of blocks) {
      const lines = block.split("\n")
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length))
      const one = {
        event: lines.find((line) => line.startsWith("event: "))!.slice("event: ".length),
        data: JSON.parse(data.join("\n")) as unknown
      }
      told.push(one)
      onEvent(one)
    }
  }
  assert.strictEqual(pending, "", "it ends with a whole event")
  return told
}

const aMarket = Effect.fnUntraced(function* (onCall: Answer) {
  const { port } = yield* RawHttp
  const url = `http://127.0.0.1:${port}`
  const provider = yield* scriptedServer({ era: "modern", onCall })
  const { buyers, toolId } = yield* loadMarket(url, provider, { buyers: 1, cents: LOADED / 10_000 })
  const key = buyers[0]!
  const call = (headers: Readonly<Record<string, string>>, signal?: AbortSignal) =>
    Effect.promise(() =>
      fetch(`${url}/api/market/proxy`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify({ tool_id: toolId, input: {} }),
        ...(signal === undefined ? {} : { signal })
      })
    )
  return { url, key, provider, call }
})

const EVENTS = { accept: "application/json, text/event-stream" }

const step = (seen: Parameters<Answer>[0], progress: number) => {
  const { progressToken } = seen.params["_meta"] as { readonly progressToken: unknown }
  return event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress, total: 2 } })
}

/** Two steps, and the result once the caller has received the second one. */
const inSteps = (last: (seen: Parameters<Answer>[0]) => unknown) => {
  let finish = () => {}
  const onCall: Answer = (seen, response) => {
    stream(response).write(step(seen, 1))
    response.write(step(seen, 2))
    finish = () => response.end(event(last(seen)))
  }
  const goOn = (told: Told) => {
    if (told.event === "progress" && at(told.data, "progress") === 2) finish()
  }
  return { onCall, goOn }
}

const done = () => inSteps((seen) => result(seen, text("done")))

const STEPS = [1, 2].map((progress) => ({ progress, total: 2 }))

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>>)[name], value)

for (const [server, layer] of [
  ["the service's own server", RawHttp.layer(SETTINGS)],
  ["an app that has the service mounted", RawHttp.mounted(SETTINGS)]
] as const) {
  it.layer(layer, LIVE)(`a caller that accepts events, of ${server},`, (it) => {
    it.effect("receives each step as it happens, and then the result with its receipt", () =>
      Effect.gen(function* () {
        const { goOn, onCall } = done()
        const { call, key, url } = yield* aMarket(onCall)
        const response = yield* call({ ...EVENTS, "x-request-id": "the-request", origin: "https://agent.example" })
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
        assert.strictEqual(response.headers.get("cache-control"), "no-store")
        assert.strictEqual(response.headers.get("x-request-id"), "the-request")
        assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
        assert.isNotNull(response.headers.get("x-ratelimit-limit"))
        // The provider answers only after the caller has received the steps.
        const told = yield* Effect.promise(() => read(response, goOn))
        assert.deepStrictEqual(
          told.map((one) => one.event),
          ["progress", "progress", "result"]
        )
        assert.deepStrictEqual(
          told.slice(0, 2).map(({ data }) => data),
          STEPS
        )
        assert.deepStrictEqual(at(told[2]!.data, "result", "content"), text("done").content)
        assert.strictEqual(at(told[2]!.data, "meta", "cost_microcents"), PRICE)
        const receipt = yield* Effect.promise(() =>
          fetch(`${url}/api/v1/market/receipts/${String(at(told[2]!.data, "meta", "receipt_id"))}`, {
            headers: { authorization: `Bearer ${key}` }
          })
        )
        assert.strictEqual(receipt.status, 200)
        assert.deepStrictEqual(yield* walletOf(url, key), { balance: LOADED - PRICE, held: 0 })
      })
    )

    it.effect("receives a failure as an event, and pays nothing", () =>
      Effect.gen(function* () {
        const { goOn, onCall } = inSteps((seen) => rpcError(seen, -32_000, "it broke"))
        const { call, key, url } = yield* aMarket(onCall)
        const response = yield* call(EVENTS)
        const told = yield* Effect.promise(() => read(response, goOn))
        assert.deepStrictEqual(
          told.map((one) => one.event),
          ["progress", "progress", "problem"]
        )
        assert.deepStrictEqual([at(told[2]!.data, "status"), at(told[2]!.data, "code")], [502, "PROVIDER_ERROR"])
        assert.deepStrictEqual(yield* walletOf(url, key), { balance: LOADED, held: 0 })
      })
    )

    it.effect("receives a tool's own error as the result", () =>
      Effect.gen(function* () {
        const { goOn, onCall } = inSteps((seen) => result(seen, { ...text("no such city"), isError: true }))
        const { call, key, url } = yield* aMarket(onCall)
        const told = yield* call(EVENTS).pipe(Effect.flatMap((response) => Effect.promise(() => read(response, goOn))))
        assert.deepStrictEqual(
          told.map((one) => one.event),
          ["progress", "progress", "result"]
        )
        const last = told[2]!.data
        assert.deepStrictEqual([at(last, "result", "isError"), at(last, "meta", "outcome")], [true, "error"])
        assert.deepStrictEqual(yield* walletOf(url, key), { balance: LOADED, held: 0 })
      })
    )

    it.effect("receives an ordinary response where the provider reports no progress", () =>
      Effect.gen(function* () {
        const { call } = yield* aMarket((seen, response) => json(response, result(seen, text("at once"))))
        const response = yield* call(EVENTS)
        assert.include(response.headers.get("content-type"), "application/json")
        assert.isNotNull(response.headers.get("x-market-receipt"))
        const refused = yield* call({ ...EVENTS, authorization: "Bearer nonsense" })
        assert.strictEqual(refused.status, 401)
        assert.include(refused.headers.get("content-type"), "application/problem+json")
      })
    )

    for (const accept of ["application/json", "*/*", "application/json, text/event-stream;q=0", "text/event-streams"]) {
      it.effect(`is recognized by its Accept header: for "${accept}" the response is JSON without progress`, () =>
        Effect.gen(function* () {
          const { call } = yield* aMarket((seen, response) => {
            stream(response).write(step(seen, 1))
            response.end(event(result(seen, text("done"))))
          })
          const response = yield* call({ accept })
          assert.include(response.headers.get("content-type"), "application/json")
          assert.strictEqual(at(yield* Effect.promise(() => response.json()), "meta", "outcome"), "success")
        })
      )
    }

    it.effect("receives at most a thousand steps", () =>
      Effect.gen(function* () {
        const { call } = yield* aMarket((seen, response) => {
          stream(response).write(step(seen, 1).repeat(2_500))
          response.end(event(result(seen, text("done"))))
        })
        const response = yield* call(EVENTS)
        const told = yield* Effect.promise(() => read(response))
        assert.isAtMost(told.length, 1_001)
        assert.strictEqual(told.at(-1)!.event, "result")
      })
    )

    it.effect("receives the result without steps for a repeated key", () =>
      Effect.gen(function* () {
        const { goOn, onCall } = done()
        const { call, key, provider, url } = yield* aMarket(onCall)
        const headers = { ...EVENTS, "idempotency-key": "once" }
        const first = yield* call(headers)
        const told = yield* Effect.promise(() => read(first, goOn))
        const again = yield* call(headers)
        assert.strictEqual(again.headers.get("idempotent-replay"), "true")
        assert.deepStrictEqual(yield* Effect.promise(() => again.json()), told[2]!.data)
        assert.strictEqual(provider.of("tools/call").length, 1)
        assert.deepStrictEqual(yield* walletOf(url, key), { balance: LOADED - PRICE, held: 0 })
      })
    )

    it.effect("may disconnect: the call runs to its end, and is charged", () =>
      Effect.gen(function* () {
        let finish: (() => void) | undefined
        let cutOff = false
        const { call, key, url } = yield* aMarket((seen, response) => {
          response.on("close", () => (cutOff ||= !response.writableFinished))
          stream(response).write(step(seen, 1))
          finish = () => {
            response.write(step(seen, 2))
            response.end(event(result(seen, text("done"))))
          }
        })
        const hangUp = new AbortController()
        const response = yield* call(EVENTS, hangUp.signal)
        yield* Effect.promise(() => read(response, () => hangUp.abort()).catch(() => []))
        yield* Effect.sleep(100)
        assert.deepStrictEqual(yield* walletOf(url, key), { balance: LOADED, held: PRICE })
        finish!()
        const wallet = yield* Effect.repeat(walletOf(url, key), {
          until: ({ held }) => held === 0,
          schedule: Schedule.spaced(20)
        })
        assert.deepStrictEqual(wallet, { balance: LOADED - PRICE, held: 0 })
        assert.isFalse(cutOff)
      })
    )

    it.effect("receives a result that its provider wrote over several lines, of any length, uncompressed", () =>
      Effect.gen(function* () {
        const { call } = yield* aMarket((seen, response) => {
          stream(response).write(step(seen, 1))
          const lines = JSON.stringify(result(seen, text(LONG)), undefined, 2).split("\n")
          response.end(`${lines.map((line) => `data: ${line}`).join("\n")}\n\n`)
        })
        const response = yield* call(EVENTS)
        const told = yield* Effect.promise(() => read(response))
        assert.deepStrictEqual(at(told.at(-1)!.data, "result", "content"), text(LONG).content)
      })
    )
  })
}

const STEP = { event: "progress", data: JSON.stringify({ progress: 1, message: "x".repeat(1_000) }) }

it("a client that does not read costs bounded memory, and still receives the result", () => {
  const outgoing = new ServerResponse(new IncomingMessage(new Socket()))
  for (let n = 0; n < 1_000; n++) writeEvent(outgoing, { "content-type": "text/event-stream" }, STEP)
  assert.isTrue(isStreaming(outgoing))
  const unread = outgoing.writableLength
  assert.isAbove(unread, 50_000)
  assert.isAtMost(unread, 66_000)
  writeEvent(outgoing, {}, { event: "progress", data: JSON.stringify("x".repeat(5_000_000)) })
  assert.strictEqual(outgoing.writableLength, unread)
  endStream(new UnreadResponses(), outgoing, { status: 200, headers: {}, body: '{"result":{}}' })
  assert.isAbove(outgoing.writableLength, unread)
})

const CALL: WebRequest = {
  method: "POST",
  path: "/api/market/proxy",
  query: "",
  headers: {},
  remoteAddress: "127.0.0.1",
  body: () => Effect.succeed(new Uint8Array())
}

/** Bytes sent to a caller that gets a thousand steps. */
const sentAfter = Effect.fnUntraced(function* (between: Effect.Effect<void>) {
  const talkative = Effect.fnUntraced(function* ({ sendEvent: tell }: WebRequest) {
    for (let n = 0; n < 1_000; n++) {
      tell!({ "content-type": "text/event-stream" }, STEP)
      yield* between
    }
    const answer: WebResponse = { status: 200, headers: {}, body: '{"result":{}}' }
    return answer
  })
  const { body } = yield* answering(talkative, CALL, () => HttpServerResponse.empty())
  const sent = body._tag === "Stream" ? yield* Stream.mkString(Stream.decodeText(body.stream)) : ""
  assert.isTrue(sent.endsWith('event: result\ndata: {"result":{}}\n\n'))
  return sent
})

it.live(
  "a client of a mounted service that does not read costs bounded memory too; one that reads receives everything",
  () =>
    Effect.gen(function* () {
      const unread = yield* sentAfter(Effect.void)
      assert.isAbove(unread.length, 50_000)
      assert.isAtMost(unread.length, 67_000)
      const read = yield* sentAfter(Effect.sleep(0))
      assert.strictEqual(read.split(STEP.data).length, 1_001)
    })
)
