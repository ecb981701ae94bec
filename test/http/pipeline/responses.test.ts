/**
 * Responses written in one turn of the event loop go out together, and each fails alone.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger } from "effect"
import { Dispatcher } from "../../../adapters/http/pipeline/Dispatcher.ts"
import { json } from "../../../adapters/http/pipeline/WebRequest.ts"
import { RawHttp, talk } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const TOGETHER = 5
const BROKEN = "/2"

/** Answers only when all requests have arrived, and then all of them in one turn. */
const service = Effect.gen(function* () {
  const all = yield* Deferred.make<void>()
  let asked = 0
  return Dispatcher.of({
    baseUrl: "https://market.example",
    idle: Effect.void,
    logRejected: () => Effect.void,
    beginDrain: Effect.void,
    endStreams: Effect.void,
    cutOff: Effect.void,
    dispatch: ({ path }) =>
      Effect.gen(function* () {
        if (++asked === TOGETHER) yield* Deferred.succeed(all, undefined)
        yield* Deferred.await(all)
        return json(200, JSON.stringify(path), path === BROKEN ? { "x-broken": "line\nline" } : {})
      })
  })
})

const lines: Array<string> = []
const server = RawHttp.over(Layer.effect(Dispatcher, service)).pipe(
  Layer.provide(Logger.layer([Logger.map(Logger.formatLogFmt, (line) => lines.push(line))]))
)

it.layer(server, LIVE)("responses of one turn", (it) => {
  it.effect("reach their clients; for one that cannot be sent, the connection is closed and the failure logged", () =>
    Effect.gen(function* () {
      const heard = yield* Effect.forEach(
        Array.from({ length: TOGETHER }, (_, n) => `/${n}`),
        (path) => talk([`GET ${path} HTTP/1.1\r\nhost: market.example\r\n\r\n`], { answers: 1 }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        heard.map(({ answers }) => answers.map(({ body }) => JSON.parse(body))),
        [["/0"], ["/1"], [], ["/3"], ["/4"]]
      )
      assert.isTrue(heard[2]!.isClosed)
      assert.strictEqual(heard[2]!.rest, "")
      assert.isTrue(
        lines.some((line) => line.includes("An answer could not be sent") && line.includes("ERR_INVALID_CHAR"))
      )
    })
  )
})
