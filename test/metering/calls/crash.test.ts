/**
 * The service is killed between hold and settlement, and started again on the same data folder.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { dataFolder } from "../../support/servers/EmbeddedFolders.ts"
import { ask, type Process, type Reply, serve } from "../../support/metering/Process.ts"
import { forwarded, slowProvider } from "../../support/metering/Provider.ts"
import { eventually } from "../../support/mcp/McpClient.ts"

const PRICE = 12_345

const field = (reply: Reply, name: string): unknown => (reply.json as Readonly<Record<string, unknown>>)[name]

const posted = Effect.fnUntraced(function* (service: Process, path: string, json: unknown, key?: string) {
  const reply = yield* ask(service, { path, json, ...(key === undefined ? {} : { key }) })
  assert.isBelow(reply.status, 300, reply.text)
  return reply
})

const aMarket = Effect.fnUntraced(function* (service: Process, endpoint_url: string) {
  const tools = [{ tool_name: "echo", price_microcents: PRICE, free_tier_calls: 0 }]
  const profile = { name: "Weather Works", email: "owner@example.org" }
  const provider = yield* posted(service, "/api/market/register-provider", { ...profile, endpoint_url, tools })
  const consumer = yield* posted(service, "/api/market/register-consumer", profile)
  const key = String(field(consumer, "api_key"))
  yield* posted(service, "/api/market/balance/load", { amount_cents: 100 }, key)
  const [tool] = field(provider, "tools") as ReadonlyArray<{ readonly id: string }>
  return { key, call: { path: "/api/market/proxy", key, json: { tool_id: tool!.id, input: {} } } }
})

const wallet = (service: Process, key: string) =>
  Effect.map(ask(service, { path: "/api/v1/market/balance", key }), ({ json }) => {
    const { balance_microcents: balance, held_microcents: held } = json as Readonly<Record<string, number>>
    return { balance, held }
  })

const receipts = (service: Process, key: string) =>
  Effect.map(
    ask(service, { path: "/api/v1/market/receipts", key }),
    (reply) => field(reply, "receipts") as ReadonlyArray<Readonly<Record<string, unknown>>>
  )

describe("A service on a data folder", () => {
  it.live(
    "killed between hold and settlement restores the hold, and has charged nothing",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* dataFolder
        const slow = yield* slowProvider()
        const first = yield* serve(dataDir)
        const { call, key } = yield* aMarket(first, slow.server.url)
        const keyed = { ...call, headers: { "idempotency-key": "before the crash" } }
        const dying = yield* Effect.forkChild(Effect.exit(ask(first, keyed)))
        yield* eventually(() => forwarded(slow.server) === 1)
        assert.deepStrictEqual(yield* wallet(first, key), { balance: 1_000_000, held: PRICE })
        yield* first.kill
        assert.strictEqual((yield* Fiber.join(dying))._tag, "Failure", "its caller got no answer")

        const second = yield* serve(dataDir)
        assert.deepStrictEqual(yield* wallet(second, key), { balance: 1_000_000, held: PRICE })
        assert.deepStrictEqual(yield* receipts(second, key), [])
        // Until the sweeper's deadline the outcome is unknown: the key waits for it.
        const again = yield* ask(second, keyed)
        assert.strictEqual(again.status, 409)
        assert.strictEqual(again.headers.get("retry-after"), "1")
        assert.strictEqual(forwarded(slow.server), 1)

        yield* slow.answer
        const next = yield* ask(second, call)
        assert.strictEqual(next.status, 200, next.text)
        assert.deepStrictEqual(yield* wallet(second, key), { balance: 1_000_000 - PRICE, held: PRICE })
        const books = yield* ask(second, { path: "/api/v1/market/ledger/trial-balance" })
        assert.strictEqual(field(books, "balanced"), true)
        yield* second.stop
      }),
    180_000
  )

  it.live(
    "runs the call of a client that disconnects to its end, and charges it",
    () =>
      Effect.gen(function* () {
        const slow = yield* slowProvider()
        const service = yield* serve("unused", { profile: "memory" })
        const { call, key } = yield* aMarket(service, slow.server.url)
        const caller = yield* Effect.forkChild(ask(service, call))
        yield* eventually(() => forwarded(slow.server) === 1)
        yield* Fiber.interrupt(caller)
        yield* slow.answer
        const [receipt] = yield* Effect.repeat(receipts(service, key), {
          until: (all) => all.length === 1,
          schedule: Schedule.spaced(20)
        })
        assert.include(receipt, { status: "success", cost_microcents: PRICE })
        assert.deepStrictEqual(yield* wallet(service, key), { balance: 1_000_000 - PRICE, held: 0 })
        assert.strictEqual(slow.left(), 0)
      }),
    180_000
  )

  it.live(
    "that is stopped settles a call whose client disconnected before",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* dataFolder
        const slow = yield* slowProvider()
        const first = yield* serve(dataDir)
        const { call, key } = yield* aMarket(first, slow.server.url)
        const caller = yield* Effect.forkChild(ask(first, call))
        yield* eventually(() => forwarded(slow.server) === 1)
        yield* Fiber.interrupt(caller)
        const stopping = yield* Effect.forkChild(first.stop)
        yield* Effect.sleep(500)
        yield* slow.answer
        yield* Fiber.join(stopping)

        const second = yield* serve(dataDir)
        assert.deepStrictEqual(yield* wallet(second, key), { balance: 1_000_000 - PRICE, held: 0 })
        const [receipt] = yield* receipts(second, key)
        assert.include(receipt, { status: "success", cost_microcents: PRICE })
        yield* second.stop
      }),
    240_000
  )

  it.live(
    "that is stopped answers and settles the call in flight",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* dataFolder
        const slow = yield* slowProvider()
        const first = yield* serve(dataDir)
        const { call, key } = yield* aMarket(first, slow.server.url)
        const caller = yield* Effect.forkChild(ask(first, call))
        yield* eventually(() => forwarded(slow.server) === 1)
        const stopping = yield* Effect.forkChild(first.stop)
        yield* Effect.sleep(200)
        yield* slow.answer
        const answer = yield* Fiber.join(caller)
        assert.strictEqual(answer.status, 200, answer.text)
        yield* Fiber.join(stopping)

        const second = yield* serve(dataDir)
        assert.deepStrictEqual(yield* wallet(second, key), { balance: 1_000_000 - PRICE, held: 0 })
        const [receipt] = yield* receipts(second, key)
        assert.include(receipt, { receipt_id: answer.headers.get("x-market-receipt"), cost_microcents: PRICE })
        const verified = yield* posted(second, "/api/v1/verify", { receipt })
        assert.include(field(verified, "verification"), { reason: "ok" })
        yield* second.stop
      }),
    180_000
  )
})
