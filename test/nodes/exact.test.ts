/**
 * What is exact on one node is exact on three, and on three workers of one: money, budgets, idempotency keys, limits; and a
 * change on one soon reaches the others. Requests go to every node directly and concurrently.
 */
import { assert, it, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { echoProvider, type EchoProvider } from "../support/load/EchoProvider.ts"
import { Fleet, OPERATOR_OF_FLEET } from "../support/load/Fleet.ts"
import { aFundedConsumer, loadMarket, posted, PRICE, walletOf } from "../support/load/LoadMarket.ts"
import { ask, type Reply } from "../support/metering/Process.ts"
import type { PostgresTest } from "../support/servers/PostgresTest.ts"
import { NO_REDIS } from "../support/servers/RedisServer.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const CENTS = 100
/** Calls that a dollar pays for. */
const AFFORDED = Math.floor((CENTS * 10_000) / PRICE)
/** Of 12,345 microcents, rounded half up. */
const FEE = 1_235
const MANY_CALLS_CENTS = 50_000
/** Generous for a busy machine; a quiet one takes less than a second. */
const WITHIN_MS = 10_000

interface Call {
  readonly key: string
  readonly toolId: string
  readonly call?: string
  readonly idempotencyKey?: string
  readonly dryRun?: boolean
}

const callAt = (url: string, { call = "", dryRun = false, idempotencyKey, key, toolId }: Call) =>
  ask(
    { url },
    {
      path: "/api/market/proxy",
      key,
      json: { tool_id: toolId, input: { call }, ...(dryRun ? { dry_run: true } : {}) },
      headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
    }
  )

/** This many concurrent requests, each node in turn. */
const onEveryNode = <A, E>(times: number, one: (url: string, n: number) => Effect.Effect<A, E>) =>
  Effect.flatMap(Fleet, ({ nodes }) =>
    Effect.all(
      Array.from({ length: times }, (_, n) => one(nodes[n % nodes.length]!.url, n)),
      { concurrency: "unbounded" }
    )
  )

const aMarket = Effect.fnUntraced(function* (
  setup: (provider: EchoProvider) => void = () => {},
  tool = {},
  cents = CENTS
) {
  const { url } = yield* Fleet
  const provider = yield* echoProvider
  setup(provider)
  // Not the usual 10 s: a call that waits for a busy machine is no time-out.
  const market = yield* loadMarket(url, provider, { buyers: 1, cents, tool: { timeout_ms: 60_000, ...tool } })
  return { ...market, url, provider, key: market.buyers[0]! }
})

const count = (replies: ReadonlyArray<Reply>): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const at = (reply: Reply, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Readonly<Record<string, unknown>> | undefined)?.[step], reply.json)

const exactOn = (it: Vitest.MethodsNonLive<Fleet | PostgresTest>): void => {
  it.effect("spend a wallet's balance, and no more", () =>
    Effect.gen(function* () {
      const { key, provider, toolId, url } = yield* aMarket((one) => one.answerAfter(300))
      const replies = yield* onEveryNode(AFFORDED + 60, (node, n) => callAt(node, { key, toolId, call: `plain-${n}` }))
      assert.deepStrictEqual(count(replies), { 200: AFFORDED, 402: 60 })
      assert.strictEqual(provider.invocations.size, AFFORDED, "what is not held is not forwarded")
      assert.deepStrictEqual(yield* walletOf(url, key), { balance: CENTS * 10_000 - AFFORDED * PRICE, held: 0 })
    })
  )

  it.effect("spend a budget, and no more", () =>
    Effect.gen(function* () {
      const { key, provider, toolId, url } = yield* aMarket((one) => one.answerAfter(300))
      yield* posted(`${url}/api/v1/market/budgets`, { cap_microcents: 20 * PRICE + 1, period: "day" }, key)
      const replies = yield* onEveryNode(60, (node, n) => callAt(node, { key, toolId, call: `plain-${n}` }))
      assert.deepStrictEqual(count(replies), { 200: 20, 402: 40 })
      assert.strictEqual(provider.invocations.size, 20)
      for (const reply of replies) if (reply.status === 402) assert.strictEqual(at(reply, "code"), "BUDGET_EXCEEDED")
    })
  )

  it.effect("make a call once, on whichever node its key arrives", () =>
    Effect.gen(function* () {
      const { key, provider, toolId, url } = yield* aMarket((one) => one.answerAfter(300))
      const call = { key, toolId, call: "keyed-once", idempotencyKey: "once" }
      const replies = yield* onEveryNode(60, (node) => callAt(node, call))
      const told = replies.filter(({ status }) => status === 200)
      assert.isAtLeast(told.length, 1)
      assert.strictEqual(told.length + (count(replies)[409] ?? 0), 60)
      const later = yield* onEveryNode(3, (node) => callAt(node, call))
      assert.deepStrictEqual(count(later), { 200: 3 })
      const receipts = [...told, ...later].map((reply) => at(reply, "meta", "receipt_id"))
      assert.strictEqual(new Set(receipts).size, 1)
      assert.strictEqual(new Set([...told, ...later].map(({ text }) => text)).size, 1, "the same to the byte")
      assert.lengthOf(provider.invocations.get("keyed-once")!, 1)
      assert.deepStrictEqual(yield* walletOf(url, key), { balance: CENTS * 10_000 - PRICE, held: 0 })
    })
  )

  it.effect("load a balance once, on whichever node the load's key arrives", () =>
    Effect.gen(function* () {
      const { url } = yield* Fleet
      const key = yield* aFundedConsumer(url, 0)
      const load = { path: "/api/market/balance/load", key, json: { amount_cents: CENTS } }
      const replies = yield* onEveryNode(30, (node) =>
        ask({ url: node }, { ...load, headers: { "idempotency-key": "one load" } })
      )
      const counts = count(replies)
      assert.isAtLeast(counts[200] ?? 0, 1)
      assert.strictEqual((counts[200] ?? 0) + (counts[409] ?? 0), 30, JSON.stringify(counts))
      assert.deepStrictEqual(yield* walletOf(url, key), { balance: CENTS * 10_000, held: 0 })
    })
  )

  it.effect("share a consumer's rate limit", (ctx) =>
    Effect.gen(function* () {
      const { sharesLimits, url } = yield* Fleet
      if (!sharesLimits) return ctx.skip(NO_REDIS)
      const registered = yield* posted(`${url}/api/market/register-consumer`, {
        name: "Eager",
        email: "eager@example.org",
        rate_limit_rpm: 6
      })
      const key = String(registered["api_key"])
      const startedAt = performance.now()
      const replies = yield* onEveryNode(30, (node) => ask({ url: node }, { path: "/api/v1/market/balance", key }))
      // One request is restored every ten seconds.
      const returned = Math.floor((performance.now() - startedAt) / 10_000)
      const { 200: passed = 0, 429: refused = 0 } = count(replies)
      assert.strictEqual(passed + refused, 30)
      assert.isAtLeast(passed, 6)
      assert.isAtMost(passed, 6 + returned)
    })
  )

  it.effect("soon reject a key that was revoked on another node", () =>
    Effect.gen(function* () {
      const { nodes, url } = yield* Fleet
      const key = yield* aFundedConsumer(url, 0)
      const made = yield* posted(`${url}/api/v1/market/keys`, { label: "second" }, key)
      const second = String(made["api_key"])
      const { key_id: id } = made["key"] as { readonly key_id: string }
      const whoami = (node: string) => ask({ url: node }, { path: "/api/v1/market/whoami", key: second })
      assert.deepStrictEqual(count(yield* onEveryNode(6, whoami)), { 200: 6 })
      const revoked = yield* Effect.promise(() =>
        fetch(`${nodes[0]!.url}/api/v1/market/keys/${id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${key}` }
        })
      )
      assert.strictEqual(revoked.status, 200)
      const startedAt = performance.now()
      yield* until(
        "every node rejects the key",
        Effect.map(Effect.orDie(onEveryNode(3, whoami)), (replies) => count(replies)[401] === 3)
      )
      assert.isBelow(performance.now() - startedAt, WITHIN_MS)
    })
  )

  it.effect("soon sell at a price that was changed on another node", () =>
    Effect.gen(function* () {
      const { key, providerKey, toolId } = yield* aMarket()
      const { nodes } = yield* Fleet
      const costs = Effect.map(
        Effect.orDie(onEveryNode(3, (node) => callAt(node, { key, toolId, dryRun: true }))),
        (replies) => replies.map((reply) => at(reply, "quote", "cost_microcents"))
      )
      assert.deepStrictEqual(yield* costs, [PRICE, PRICE, PRICE])
      const tools = [{ tool_name: "echo", price_microcents: 2 * PRICE, free_tier_calls: 0 }]
      yield* posted(`${nodes.at(-1)!.url}/api/market/tools`, { tools }, providerKey)
      const startedAt = performance.now()
      yield* until(
        "every node has the price",
        Effect.map(costs, (known) => known.every((cost) => cost === 2 * PRICE))
      )
      assert.isBelow(performance.now() - startedAt, WITHIN_MS)
      const replies = yield* onEveryNode(3, (node, n) => callAt(node, { key, toolId, call: `plain-${n}` }))
      for (const reply of replies) assert.strictEqual(at(reply, "meta", "cost_microcents"), 2 * PRICE, reply.text)
    })
  )

  it.effect("soon take the fee that was set on another node", () =>
    Effect.gen(function* () {
      const { key, providerId, providerKey, toolId, url } = yield* aMarket(undefined, {}, MANY_CALLS_CENTS)
      const { nodes } = yield* Fleet
      const feesTaken = Effect.map(
        posted(`${url}/api/v1/market/billing/provider-summary`, { period: "7d" }, providerKey),
        (summary) => (summary["earnings"] as { readonly platform_fee_microcents: number }).platform_fee_microcents
      )
      let calls = 0
      const callEveryNode = onEveryNode(3, (node) => callAt(node, { key, toolId, call: `plain-${calls++}` }))
      yield* callEveryNode
      assert.strictEqual(yield* feesTaken, 3 * FEE)
      const set = `${nodes.at(-1)!.url}/api/v1/operator/providers/${providerId}/platform-fee`
      yield* posted(set, { platform_fee_bps: 0 }, OPERATOR_OF_FLEET)
      const startedAt = performance.now()
      yield* until(
        "every node takes no fee",
        Effect.gen(function* () {
          const before = yield* feesTaken
          yield* Effect.orDie(callEveryNode)
          return (yield* feesTaken) === before
        })
      )
      assert.isBelow(performance.now() - startedAt, WITHIN_MS)
    })
  )
}

it.layer(Fleet.layer, { ...LIVE, timeout: "90 seconds" })("three nodes on one database", exactOn)
it.layer(Fleet.layerWorkers, { ...LIVE, timeout: "90 seconds" })("three workers of one node", exactOn)
