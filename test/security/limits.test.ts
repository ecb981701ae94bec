/**
 * What an account can make grow by repeated changes has a daily limit, and its lists have a limit.
 * docs/threat-model.md lists every limit; most are tested with their subject.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { RateLimiter } from "effect/persistence"
import { connect, type Socket } from "node:net"
import * as BoundedRateLimiterStore from "../../adapters/memory/accounts/BoundedRateLimiterStore.ts"
import { BUCKETS_MAX } from "../../adapters/memory/accounts/BoundedRateLimiterStore.ts"
import { KEYS_MADE_PER_DAY_MAX } from "../../domain/accounts/Keys.ts"
import { PRICE_CHANGES_PER_DAY_MAX } from "../../domain/catalog/ToolUpserts.ts"
import { BUDGETS_PER_CONSUMER_MAX } from "../../domain/ledger/Budgets.ts"
import { GRANTS_PER_DAY_MAX } from "../../domain/metering/Grants.ts"
import {
  aConsumer,
  aProvider,
  expecting,
  KEYS,
  listAt,
  type Member,
  putTools,
  textAt,
  TOOLS,
  valueAt
} from "../support/market/Market.ts"
import { ask, RawHttp } from "../support/servers/RawHttp.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../support/metering/Core.ts"
import { GRANTS } from "../support/metering/Shop.ts"
import { later } from "../support/metering/TestTime.ts"
import { BUDGETS } from "../support/security/Paths.ts"

const priced = (provider: Member, price: number) =>
  send({ path: TOOLS, key: provider.key, json: { tools: [{ tool_name: "echo", price_microcents: price }] } })

it.layer(memoryCore, LIVE)("A day", (it) => {
  it.effect("has a limit of new keys, and the next day has others", () =>
    Effect.gen(function* () {
      const owner = yield* aConsumer()
      const make = (key: string) => send({ path: KEYS, key, json: {} })
      // The key of the registration is one of them.
      for (let n = 1; n < KEYS_MADE_PER_DAY_MAX; n++) {
        const made = yield* expecting(201, { path: KEYS, key: owner.key, json: {} })
        yield* expecting(200, {
          method: "DELETE",
          path: `${KEYS}/${textAt(made, "key", "key_id")}`,
          key: owner.key
        })
      }
      const refused = yield* make(owner.key)
      assert.strictEqual(refused.status, 422)
      assert.include(textAt(refused, "message"), "24 hours")
      const rotated = yield* send({ path: `${KEYS}/rotate`, key: owner.key, json: {} })
      assert.strictEqual(rotated.status, 422)
      assert.strictEqual((yield* make((yield* aConsumer()).key)).status, 201)
      assert.strictEqual((yield* make(owner.key).pipe(later("25 hours"))).status, 201)
    })
  )

  it.effect("has a limit of prices of a tool; a declaration without change is not rejected", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      for (let n = 1; n <= PRICE_CHANGES_PER_DAY_MAX; n++) {
        assert.strictEqual((yield* priced(provider, n)).status, 201)
      }
      const refused = yield* priced(provider, 7_777)
      assert.strictEqual(refused.status, 422)
      assert.include(textAt(refused, "message"), "24 hours")
      assert.strictEqual((yield* priced(provider, PRICE_CHANGES_PER_DAY_MAX)).status, 201)
      assert.strictEqual((yield* priced(provider, 7_777).pipe(later("25 hours"))).status, 201)
    })
  )

  it.effect("has a limit of grants, and few expired ones are listed", () =>
    Effect.gen(function* () {
      const { key } = yield* aConsumer()
      const json = { provider_id: (yield* aProvider()).id, cap_microcents: 1 }
      for (let n = 0; n < GRANTS_PER_DAY_MAX; n++) {
        const given = yield* expecting(201, { path: GRANTS, key, json })
        yield* expecting(200, { method: "DELETE", path: `${GRANTS}/${textAt(given, "grant", "grant_id")}`, key })
      }
      const refused = yield* send({ path: GRANTS, key, json })
      assert.strictEqual(refused.status, 422)
      assert.include(textAt(refused, "message"), "24 hours")
      assert.strictEqual((yield* send({ path: GRANTS, key, json }).pipe(later("25 hours"))).status, 201)
      const shown = yield* expecting(200, { path: GRANTS, key })
      assert.lengthOf(listAt(shown, "grants"), GRANTS_PER_DAY_MAX + 1)
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("an account", (it) => {
  it.effect("has a limit of budgets", () =>
    Effect.gen(function* () {
      const [{ key }, provider] = [yield* aConsumer(), yield* aProvider()]
      const tools = Array.from({ length: BUDGETS_PER_CONSUMER_MAX }, (_, n) => ({ tool_name: `tool-${n}` }))
      const put = yield* putTools(provider, ...tools)
      for (const tool of listAt(put, "tools")) {
        yield* expecting(201, { path: BUDGETS, key, json: { tool_id: valueAt(tool, "id"), cap_microcents: 1 } })
      }
      const refused = yield* expecting(422, { path: BUDGETS, key, json: { cap_microcents: 1 } })
      assert.include(textAt(refused, "message"), String(BUDGETS_PER_CONSUMER_MAX))
    })
  )
})

it.layer(RateLimiter.layer.pipe(Layer.provide(BoundedRateLimiterStore.layer)))("the memory of addresses", (it) => {
  it.effect("is limited: the address of the oldest request is forgotten", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const ask = (key: string) =>
        Effect.result(limiter.consume({ key, limit: 1, window: "1 minute", algorithm: "token-bucket" }))
      assert.isTrue(Result.isSuccess(yield* ask("first")))
      assert.isTrue(Result.isFailure(yield* ask("first")))
      for (let n = 0; n < BUCKETS_MAX; n++) yield* ask(`address ${n}`)
      assert.isTrue(Result.isFailure(yield* ask(`address ${BUCKETS_MAX - 1}`)))
      assert.isTrue(Result.isSuccess(yield* ask("first")))
    })
  )
})

it.layer(RawHttp.layer({}, { connectionsMax: 3 }), LIVE)("connections", (it) => {
  it.effect("beyond their limit replace the one that was idle longest", () =>
    Effect.gen(function* () {
      const { port } = yield* RawHttp
      const open = Effect.promise(
        () =>
          new Promise<Socket>((resolve) => {
            const socket = connect({ host: "127.0.0.1", port }, () => resolve(socket))
            socket.on("error", () => {})
          })
      )
      const [oldest, ...others] = [yield* open, yield* open, yield* open]
      const isClosed = Effect.promise(() => new Promise((resolve) => oldest!.once("close", resolve)))
      const beyond = yield* open
      yield* isClosed
      assert.isFalse([...others, beyond].some(({ closed }) => closed))
      assert.strictEqual((yield* ask(["GET /livez HTTP/1.1", "connection: close"])).status, 200)
      for (const socket of [...others, beyond]) socket.destroy()
    })
  )
})
