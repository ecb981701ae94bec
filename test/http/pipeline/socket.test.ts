/**
 * The service on a real socket: what HTTP permits a client, and what it does not.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, type RawAnswer, RawHttp, talk } from "../../support/servers/RawHttp.ts"
import { consumerBody, CONSUMERS, KEYS } from "../../support/market/Market.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const HOST = "host: market.example"
const JSON_TYPE = "content-type: application/json"
const BODY = JSON.stringify(consumerBody())
const MEGABYTE = 1_048_576

const request = (lines: ReadonlyArray<string>, body = ""): string => `${[...lines, HOST].join("\r\n")}\r\n\r\n${body}`
const get = (path: string, ...headers: ReadonlyArray<string>) => request([`GET ${path} HTTP/1.1`, ...headers])
const post = (path: string, headers: ReadonlyArray<string>, body = "") =>
  request([`POST ${path} HTTP/1.1`, JSON_TYPE, ...headers], body)
const chunked = (...chunks: ReadonlyArray<string>) =>
  `${chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`

const statuses = (heard: { readonly answers: ReadonlyArray<{ readonly status: number }> }) =>
  heard.answers.map(({ status }) => status)

/** In the form of every other error. */
const isProblem = ({ body, headers, status }: RawAnswer, says: string): void => {
  assert.isTrue(status >= 400 && status < 500, `${says}: ${status}`)
  assert.strictEqual(headers["content-type"], "application/problem+json", says)
  assert.strictEqual(headers["cache-control"], "no-store", says)
  assert.strictEqual(headers["x-content-type-options"], "nosniff", says)
  const problem = JSON.parse(body) as Readonly<Record<string, unknown>>
  assert.deepStrictEqual([problem["error"], problem["status"]], [true, status], says)
  assert.strictEqual(problem["detail"], problem["message"], says)
  assert.strictEqual(problem["request_id"], headers["x-request-id"], says)
}

const consumersBeside = Effect.map(ask(["GET /api/market/health HTTP/1.1"]), ({ status }) =>
  assert.strictEqual(status, 200)
)

it.layer(RawHttp.layer(), LIVE)("on a socket", (it) => {
  it.effect("a HEAD has the headers of its GET and no body", () =>
    Effect.gen(function* () {
      for (const path of ["/api/market", "/api/market/catalog", "/nothing", KEYS]) {
        const [head, got] = [yield* ask([`HEAD ${path} HTTP/1.1`]), yield* ask([`GET ${path} HTTP/1.1`])]
        assert.strictEqual(head.body, "")
        assert.strictEqual(head.status, got.status)
        assert.sameMembers(Object.keys(head.headers), Object.keys(got.headers))
        assert.approximately(Number(head.headers["content-length"]), Buffer.byteLength(got.body), 4)
      }
      // A body after a HEAD's headers would be taken for the next response.
      const both = yield* talk([request(["HEAD /api/market HTTP/1.1"]), 50, get("/nothing")], {
        method: "HEAD",
        answers: 2
      })
      assert.deepStrictEqual(statuses(both), [200, 404])
    })
  )

  it.effect("an OPTIONS has neither body nor length", () =>
    Effect.gen(function* () {
      const { body, headers, status } = yield* ask([`OPTIONS ${CONSUMERS} HTTP/1.1`, "origin: https://a.example"])
      assert.strictEqual(status, 204)
      assert.strictEqual(body, "")
      assert.isUndefined(headers["content-length"])
      assert.isUndefined(headers["transfer-encoding"])
    })
  )

  it.effect("pipelined requests are answered in order", () =>
    Effect.gen(function* () {
      const paths = ["/api/market", "/nothing", "/api/market/catalog", KEYS, "/api/market/health", "/api/market"]
      const heard = yield* talk([paths.map((path) => get(path)).join("")], { answers: 6 })
      assert.deepStrictEqual(statuses(heard), [200, 404, 200, 401, 200, 200])
    })
  )

  it.effect("consecutive bodies stay separate", () =>
    Effect.gen(function* () {
      const length = `content-length: ${BODY.length}`
      const heard = yield* talk(
        [
          post(CONSUMERS, [length], BODY) +
            post(CONSUMERS, ["transfer-encoding: chunked"], chunked(BODY.slice(0, 5), BODY.slice(5))) +
            post(CONSUMERS, [length], BODY) +
            get("/api/market")
        ],
        { answers: 4 }
      )
      assert.deepStrictEqual(statuses(heard), [201, 201, 201, 200])
    })
  )

  it.effect("a body may arrive slowly and in pieces, with a character cut in half", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from(JSON.stringify(consumerBody({ name: "Ünï 😀" })))
      const pieces = [...bytes].flatMap((byte) => [Uint8Array.of(byte), 1])
      const head = post(CONSUMERS, [`content-length: ${bytes.length}`])
      const heard = yield* talk([head, ...pieces], { answers: 1 })
      assert.deepStrictEqual(statuses(heard), [201])
      assert.include(heard.answers[0]!.body, "Ünï 😀")
    })
  )

  it.effect("a body whose stated length is too large is rejected before it arrives", () =>
    Effect.gen(function* () {
      const heard = yield* talk([post(CONSUMERS, [`content-length: ${MEGABYTE + 1}`])], { timeoutMs: 30_000 })
      assert.deepStrictEqual(statuses(heard), [413])
      assert.strictEqual(heard.answers[0]!.headers["content-type"], "application/problem+json")
      assert.isTrue(heard.isClosed, "what may still come is not read")
    })
  )

  it.effect("a body that turns out too large is rejected when it does", () =>
    Effect.gen(function* () {
      const chunk = chunked("x".repeat(65_536)).slice(0, -5)
      const heard = yield* talk(
        [post(CONSUMERS, ["transfer-encoding: chunked"]), ...Array.from({ length: 20 }, () => chunk)],
        {
          timeoutMs: 30_000
        }
      )
      assert.deepStrictEqual(statuses(heard), [413])
      assert.isTrue(heard.isClosed)
    })
  )

  it.effect("without a key the body is not awaited", () =>
    Effect.gen(function* () {
      for (const length of ["content-length: 900000", "transfer-encoding: chunked"]) {
        const heard = yield* talk([post(KEYS, [length]), "1"], { timeoutMs: 30_000 })
        assert.deepStrictEqual(statuses(heard), [401], length)
        assert.isTrue(heard.isClosed, "what may still come is not read as a request")
      }
    })
  )

  it.effect("a body that ends before its length registers no account", () =>
    Effect.gen(function* () {
      for (const end of ["end", "destroy"] as const) {
        const heard = yield* talk([post(CONSUMERS, [`content-length: ${BODY.length + 10}`], BODY), 50, end], {
          timeoutMs: 30_000
        })
        assert.notInclude(statuses(heard), 201)
        assert.isTrue(heard.isClosed)
      }
      yield* consumersBeside
    })
  )

  it.effect("a body that is longer than its length is another, malformed request", () =>
    Effect.gen(function* () {
      const heard = yield* talk([post(CONSUMERS, [`content-length: ${BODY.length}`], `${BODY}more\r\n\r\n`)])
      assert.deepStrictEqual(statuses(heard), [201, 400], "the whole one is answered first, with its own answer")
      assert.isTrue(heard.isClosed)
    })
  )

  it.effect("a malformed request is rejected, and the connection closed", () =>
    Effect.gen(function* () {
      const smuggled = ["transfer-encoding: chunked", "content-length: 5"]
      const broken: ReadonlyArray<readonly [says: string, bytes: string | Uint8Array]> = [
        ["garbage", "GARBAGE\r\n\r\n"],
        ["no version", "GET /\r\n\r\n"],
        ["zeros", new Uint8Array(64)],
        ["TLS", new Uint8Array([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00, 0xa1, 0x03, 0x03])],
        ["no host", "GET /api/market HTTP/1.1\r\n\r\n"],
        ["a space in a name", get("/api/market", "x y: 1")],
        ["no colon", get("/api/market", "nonsense")],
        ["a NUL in a value", get("/api/market", "x: a\0b")],
        ["two lengths", post(CONSUMERS, ["content-length: 5", "content-length: 6"], "12345")],
        ["a negative length", post(CONSUMERS, ["content-length: -1"])],
        ["a length that is not a number", post(CONSUMERS, ["content-length: 1e3"])],
        ["length and chunks", post(CONSUMERS, smuggled, chunked("{}"))],
        ["a chunk without a size", post(CONSUMERS, ["transfer-encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n")],
        ["an unknown method", request(["BREW /api/market HTTP/1.1"])]
      ]
      for (const [says, bytes] of broken) {
        const heard = yield* talk([bytes, 300, "end"], { timeoutMs: 30_000 })
        assert.lengthOf(heard.answers, 1, says)
        isProblem(heard.answers[0]!, says)
        assert.isTrue(heard.isClosed, says)
      }
      yield* consumersBeside
    })
  )

  it.effect("headers are limited: 431", () =>
    Effect.gen(function* () {
      for (const headers of [
        [`x: ${"y".repeat(40_000)}`],
        Array.from({ length: 3_000 }, (_, n) => `x-${n}: yyyyyyyyyyyyyyy`)
      ]) {
        const heard = yield* talk([get("/api/market", ...headers)], { timeoutMs: 30_000 })
        assert.deepStrictEqual(statuses(heard), [431])
        isProblem(heard.answers[0]!, "headers without end")
        assert.isTrue(heard.isClosed)
      }
      const path = `/${"x".repeat(40_000)}`
      assert.deepStrictEqual(statuses(yield* talk([get(path)], { timeoutMs: 30_000 })), [431])
    })
  )

  it.effect("HTTP/1.0, an absolute URL and `*` are accepted", () =>
    Effect.gen(function* () {
      const old = yield* talk(["GET /api/market HTTP/1.0\r\n\r\n"], { timeoutMs: 30_000 })
      assert.deepStrictEqual([statuses(old), old.isClosed], [[200], true])
      assert.strictEqual((yield* ask(["GET http://market.example/api/market HTTP/1.1"])).status, 200)
      assert.include([204, 404], (yield* ask(["OPTIONS * HTTP/1.1"])).status)
    })
  )

  it.effect("repeated headers and headers in other alphabets do no harm", () =>
    Effect.gen(function* () {
      const twice = yield* ask([
        `GET ${KEYS} HTTP/1.1`,
        "authorization: Bearer a",
        "authorization: Bearer b",
        "x-request-id: one",
        "x-request-id: two"
      ])
      assert.strictEqual(twice.status, 401)
      const foreign = yield* ask(["GET /api/market HTTP/1.1", "x-request-id: \u00e4\u00f6", "x-forwarded-for: \u00ff"])
      assert.strictEqual(foreign.status, 200)
      assert.notInclude(foreign.headers["x-request-id"], "\u00e4")
    })
  )

  it.effect("clients that disconnect do not affect others", () =>
    Effect.gen(function* () {
      const gone = [
        talk([post(CONSUMERS, ["content-length: 900000"], "{"), 20, "destroy"]),
        talk([post(CONSUMERS, ["transfer-encoding: chunked"], "5\r\n{"), 20, "destroy"]),
        talk([get("/api/market/catalog"), "destroy"]),
        talk(["GET /api/mar", 20, "destroy"]),
        talk([post(CONSUMERS, [`content-length: ${BODY.length}`], BODY), "destroy"])
      ]
      yield* Effect.all(
        Array.from({ length: 40 }, (_, n) => gone[n % gone.length]!),
        { concurrency: 20 }
      )
      yield* consumersBeside
    })
  )

  it.effect("a hundred concurrent clients are all answered", () =>
    Effect.gen(function* () {
      const calls = Array.from({ length: 100 }, (_, n) =>
        n % 2 === 0
          ? ask(["GET /api/market/catalog HTTP/1.1"])
          : ask([`POST ${CONSUMERS} HTTP/1.1`, JSON_TYPE, `content-length: ${BODY.length}`], BODY)
      )
      const answers = yield* Effect.all(calls, { concurrency: "unbounded" })
      for (const [n, { status }] of answers.entries()) assert.strictEqual(status, n % 2 === 0 ? 200 : 201)
    })
  )
})

it.layer(RawHttp.layer({ RATE_LIMIT_IP_RPM: "2" }), LIVE)("on a socket with rate limits", (it) => {
  it.effect("the peer's own address counts, whatever its headers say", () =>
    Effect.gen(function* () {
      const ip = (n: number) => ask(["GET /api/market HTTP/1.1", `x-forwarded-for: 203.0.113.${n}`])
      const answers = [yield* ip(1), yield* ip(2), yield* ip(3)]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 429]
      )
    })
  )
})
