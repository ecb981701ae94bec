/**
 * The service inside an app's own router: what the app does not answer is answered as on the service's own socket.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { pageUrl } from "../../../adapters/http/contract/BaseUrl.ts"
import { BODY_BYTES_MAX } from "../../../adapters/http/pipeline/Decoding.ts"
import * as RouterMount from "../../../adapters/http/server/RouterMount.ts"
import { Fatal } from "../../../src/layers/Process.ts"
import { service, serviceOf } from "../../../src/layers/Service.ts"
import { memoryConfig, wholeService } from "../../support/market/ServiceConfig.ts"

const own = HttpRouter.add("GET", "/hello", HttpServerResponse.text("hello from the app"))
const REGISTER = "/api/market/register-consumer"
const LIMITED = memoryConfig({ RATE_LIMIT_REGISTER_RPM: "1" })
const BELOW = wholeService(memoryConfig({ BASE_URL: "https://app.example/billing" }))

/** The app as one function, and its shutdown. */
const appOn = (mount: ReturnType<typeof RouterMount.layer>, market = wholeService(memoryConfig())) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(Layer.merge(own, mount).pipe(Layer.provide(market)), {
          disableLogger: true
        })
      ),
      ({ dispose }) => Effect.promise(dispose)
    ),
    ({ handler }) =>
      (path: string, init?: RequestInit & { readonly duplex?: "half" }) =>
        Effect.promise(() => handler(new Request(`https://app.example${path}`, init)))
  )

const textOf = (response: Response) => Effect.promise(() => response.text())
const jsonOf = (response: Response) => Effect.promise(() => response.json() as Promise<Record<string, unknown>>)
const posted = (body: BodyInit): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body
})

/** The statuses of more registrations than one address may make in a minute. */
const registrations = (
  ask: (path: string, init?: RequestInit) => Effect.Effect<Response>,
  headers: Readonly<Record<string, string>>
) =>
  Effect.forEach(["a", "b"], (name) => {
    const body = JSON.stringify({ name: "An agent", email: `${name}@example.org` })
    return Effect.map(
      ask(REGISTER, { ...posted(body), headers: { "content-type": "application/json", ...headers } }),
      ({ status }) => status
    )
  })

describe("a mounted service", () => {
  it.live("answers what the app's own routes do not", () =>
    Effect.gen(function* () {
      const ask = yield* appOn(RouterMount.layer())
      assert.strictEqual(yield* textOf(yield* ask("/hello")), "hello from the app")

      const home = yield* ask("/", { headers: { accept: "text/html" } })
      assert.strictEqual(home.status, 200)
      assert.match(home.headers.get("content-type") ?? "", /^text\/html/u)

      const registered = yield* ask(REGISTER, posted(JSON.stringify({ name: "An agent", email: "a@example.org" })))
      assert.strictEqual(registered.status, 201)
      const key = String((yield* jsonOf(registered))["api_key"])
      const authorization = { headers: { authorization: `Bearer ${key}` } }
      const usage = yield* ask("/api/v1/market/usage?period=7d", authorization)
      assert.strictEqual((yield* jsonOf(usage))["period"], "7d")
    })
  )

  it.live("keeps its conventions for requests that it rejects", () =>
    Effect.gen(function* () {
      const ask = yield* appOn(RouterMount.layer())
      const missing = yield* ask("/api/nothing")
      assert.strictEqual(missing.status, 404)
      assert.match(missing.headers.get("content-type") ?? "", /^application\/problem\+json/u)
      assert.isNotNull(missing.headers.get("x-request-id"))

      assert.strictEqual((yield* ask("/api/v1/market/balance")).status, 401)
      assert.strictEqual((yield* ask(REGISTER, { method: "POST" })).status, 422)
      const preflight = yield* ask(REGISTER, { method: "OPTIONS" })
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(yield* textOf(preflight), "")
    })
  )

  it.live("reads no more of a body than its limit", () =>
    Effect.gen(function* () {
      const ask = yield* appOn(RouterMount.layer())
      const announced = yield* ask(REGISTER, posted("x".repeat(BODY_BYTES_MAX + 1)))
      assert.strictEqual(announced.status, 413)

      let sent = 0
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          sent += 65_536
          controller.enqueue(new Uint8Array(65_536).fill(0x20))
        }
      })
      assert.strictEqual((yield* ask(REGISTER, { ...posted(endless), duplex: "half" })).status, 413)
      assert.isBelow(sent, 2 * BODY_BYTES_MAX)
    })
  )

  it.live("is available below its prefix only", () =>
    Effect.gen(function* () {
      const ask = yield* appOn(RouterMount.layer({ prefix: "/billing" }), BELOW)
      assert.strictEqual((yield* ask("/billing/livez")).status, 200)
      assert.strictEqual((yield* ask("/billing/api/market/catalog?limit=1")).status, 200)
      const outside = yield* ask("/livez")
      assert.strictEqual(outside.status, 404)
      assert.isNull(outside.headers.get("x-request-id"))
    })
  )

  it.live("is mounted at the path of its base URL, which problems and links carry", () =>
    Effect.gen(function* () {
      const ask = yield* appOn(RouterMount.layer(), BELOW)
      const missing = yield* jsonOf(yield* ask("/billing/api/nothing", { headers: { accept: "application/json" } }))
      assert.strictEqual(missing["type"], "https://app.example/billing/docs/errors#error-NOT_FOUND")
      assert.strictEqual(missing["instance"], "/billing/api/nothing")
      assert.strictEqual(
        missing["message"],
        "There is nothing at /billing/api/nothing. GET /billing/api/market lists every endpoint."
      )
      const rejected = yield* jsonOf(yield* ask(`/billing${REGISTER}`, { method: "PUT" }))
      assert.strictEqual(
        rejected["message"],
        `/billing${REGISTER} does not take PUT. It takes GET, HEAD, POST, OPTIONS.`
      )
      const index = yield* jsonOf(yield* ask("/billing/api/market"))
      assert.strictEqual(index["base_url"], "https://app.example/billing")
      const links = Object.values(index["links"] as Record<string, string>)
      assert.isAbove(links.length, 3)
      for (const link of links) {
        assert.isTrue(link.startsWith("https://app.example/billing/"), link)
        assert.strictEqual((yield* ask(link.slice("https://app.example".length))).status, 200, link)
      }
    })
  )

  it.live("has no pages below a prefix but its documentation, because their links start at the root", () =>
    Effect.gen(function* () {
      const ask = yield* appOn(RouterMount.layer(), BELOW)
      const html = { headers: { accept: "text/html" } }
      assert.strictEqual((yield* ask("/billing/docs", html)).status, 200)
      assert.strictEqual(pageUrl("https://app.example/billing", "/developers/dashboard"), "https://app.example/")
      assert.strictEqual(pageUrl("https://app.example", "/docs"), "https://app.example/docs")
      for (const path of ["/billing/catalog", "/billing/nothing"]) {
        const missing = yield* ask(path, html)
        assert.strictEqual(missing.status, 404)
        assert.match(missing.headers.get("content-type") ?? "", /^application\/problem\+json/u)
      }
    })
  )

  it.live("is mounted below what a proxy leaves of the base URL's path", () =>
    Effect.gen(function* () {
      const ask = yield* appOn(RouterMount.layer({ prefix: "/" }), BELOW)
      const missing = yield* jsonOf(yield* ask("/api/nothing", { headers: { accept: "application/json" } }))
      assert.strictEqual(missing["instance"], "/billing/api/nothing")
    })
  )

  it.effect("rejects a prefix that its base URL does not end with", () =>
    Effect.gen(function* () {
      const mount = RouterMount.layer({ prefix: "/billing" }).pipe(
        Layer.provide([wholeService(memoryConfig()), HttpRouter.layer])
      )
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(mount)))
      assert.strictEqual(
        failure.message,
        "The API is mounted at /billing, but BASE_URL is https://market.example: links would not lead to the API. End " +
          "BASE_URL with /billing."
      )
    })
  )

  it.effect("rejects a service without a base URL", () =>
    Effect.gen(function* () {
      // @ts-expect-error Links, the log and checkouts name it.
      const unnamed = service({ profile: "memory" }).pipe(Layer.provide(Fatal.layer))
      assert.match(String(yield* Effect.flip(Effect.scoped(Layer.build(unnamed)))), /baseUrl: required/u)
    })
  )

  it.live("limits each address that addressOf tells", () =>
    Effect.gen(function* () {
      const mount = RouterMount.layer({ addressOf: (request) => request.headers["x-platform-client"] })
      const ask = yield* appOn(mount, wholeService(LIMITED))
      const from = (address: string) => registrations(ask, { "x-platform-client": address })
      assert.deepStrictEqual(yield* from("192.0.2.1"), [201, 429])
      assert.deepStrictEqual(yield* from("192.0.2.2"), [201, 429])
    })
  )

  it.live("has no limits by address where nothing tells the addresses, and says so at the start", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const record = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
      const ask = yield* appOn(RouterMount.layer().pipe(Layer.provide(record)), wholeService(LIMITED))
      assert.deepStrictEqual(yield* registrations(ask, {}), [201, 201])
      assert.strictEqual(lines.filter((line) => line.includes("limits by address are off")).length, 1)
    })
  )

  it.live("keeps its metrics closed without a token", () =>
    Effect.gen(function* () {
      const mounted = serviceOf(memoryConfig()).pipe(Layer.provide([Fatal.layer, Logger.layer([])]), Layer.orDie)
      const ask = yield* appOn(RouterMount.layer(), mounted)
      assert.strictEqual((yield* ask("/metrics")).status, 401)
    })
  )
})
