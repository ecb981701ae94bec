/**
 * The Promise client against the service on a socket.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Client, createClient } from "../../client/Client.ts"
import { ProblemError } from "../../client/Problem.ts"
import type { ProblemErrorOf } from "../../client/index.ts"
import type { Progress } from "../../client/Send.ts"
import { verifyReceipt } from "../../client/VerifyReceipt.ts"
import { type Answer, event, result, stream, text } from "../../testing/mcp/ScriptedServer.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"

const PRICE_MICROCENTS = 500

const market = Effect.fnUntraced(function* (onCall: Answer = fine) {
  const { port } = yield* RawHttp
  const { url } = yield* providing(onCall)
  const baseUrl = `http://127.0.0.1:${port}/`
  const anyone = createClient({ baseUrl })
  const { provider, consumer } = yield* Effect.promise(async () => ({
    provider: await anyone.accounts.registerProvider({
      payload: {
        name: "Tools",
        email: "tools@example.org",
        endpoint_url: url,
        tools: [{ tool_name: "search", price_microcents: PRICE_MICROCENTS, free_tier_calls: 0 }]
      }
    }),
    consumer: await anyone.accounts.registerConsumer({ payload: { name: "Agent", email: "agent@example.org" } })
  }))
  const agent = createClient({ baseUrl, key: consumer.api_key })
  return { anyone, agent, baseUrl, provider, toolId: provider.tools[0]!.id }
})

const call = (agent: Client, toolId: string, idempotencyKey?: string) =>
  agent.calls.proxy({
    payload: { tool_id: toolId, input: { q: "sea" } },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey })
  })

const problemOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => assert.fail("The request succeeded"),
    (reason: unknown) => reason
  )
  assert.instanceOf(error, ProblemError)
  return error.problem
}

const aStep: Answer = (seen, response) => {
  const { progressToken } = seen.params["_meta"] as { readonly progressToken: unknown }
  const params = { progressToken, progress: 1, total: 2 }
  stream(response).write(event({ jsonrpc: "2.0", method: "notifications/progress", params }))
  response.end(event(result(seen, text("fine"))))
}

it.layer(RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" }), LIVE)("The Promise client", (it) => {
  it.effect("loads, calls, reads and verifies", () =>
    Effect.gen(function* () {
      const { agent, toolId } = yield* market()
      yield* Effect.promise(async () => {
        await agent.money.load({ payload: { amount_cents: 100 } })
        const called = await call(agent, toolId)
        if (!("result" in called)) return assert.fail("A call answers with its result")
        assert.strictEqual(called.meta.cost_microcents, PRICE_MICROCENTS)
        const { receipt } = await agent.receipts.find({ params: { id: called.meta.receipt_id } })
        const { logs } = await agent.log.logs()
        const verdict = await verifyReceipt(agent, receipt, logs[0]!.vkey, { waitMs: 120_000 })
        assert.deepInclude(verdict, { valid: true, reason: "ok" })
        const forged = { ...receipt, cost_microcents: 1 }
        assert.strictEqual((await verifyReceipt(agent, forged, logs[0]!.vkey)).reason, "not_in_tree")
        const unknown = { ...receipt, receipt_id: `rcpt_${"0".repeat(32)}` }
        assert.strictEqual(
          (await problemOf(verifyReceipt(agent, unknown, logs[0]!.vkey, { waitMs: 0 }))).code,
          "NOT_FOUND"
        )
      })
    })
  )

  it.effect("charges once for a repeated idempotency key", () =>
    Effect.gen(function* () {
      const { agent, toolId } = yield* market()
      yield* Effect.promise(async () => {
        await agent.money.load({ payload: { amount_cents: 100 } })
        const [first, second] = [await call(agent, toolId, "once"), await call(agent, toolId, "once")]
        assert.deepStrictEqual(first, second)
        const { balance_microcents } = await agent.money.balance()
        assert.strictEqual(balance_microcents, 1_000_000 - PRICE_MICROCENTS)
      })
    })
  )

  it.effect("fails with the problem, whose code decides which fields it has", () =>
    Effect.gen(function* () {
      const { agent, anyone, toolId } = yield* market()
      yield* Effect.promise(async () => {
        const problem = await problemOf(call(agent, toolId))
        if (problem.code !== "INSUFFICIENT_FUNDS") return assert.fail(problem.code)
        assert.strictEqual(problem.cost_microcents, PRICE_MICROCENTS)
        assert.strictEqual(problem.balance_microcents, 0)
        assert.strictEqual((await problemOf(anyone.money.balance())).code, "UNAUTHORIZED")
      })
    })
  )

  it.effect("narrows the problem of an operation to the codes that its endpoint declares", () =>
    Effect.gen(function* () {
      const { agent, toolId } = yield* market()
      yield* Effect.promise(async () => {
        const error: unknown = await call(agent, toolId).catch((reason: unknown) => reason)
        const { balance, proxy } = { ...agent.money, ...agent.calls }
        if (!proxy.isProblem(error) || error.code !== "INSUFFICIENT_FUNDS") return assert.fail(String(error))
        const narrowed: ProblemErrorOf<"INSUFFICIENT_FUNDS"> = error
        assert.strictEqual(narrowed.problem.cost_microcents, PRICE_MICROCENTS)
        const other: unknown = error
        // @ts-expect-error A read of the balance costs nothing.
        assert.isTrue(balance.isProblem(other) && other.code === "INSUFFICIENT_FUNDS")
        assert.isFalse(proxy.isProblem(new Error("Another one")))
      })
    })
  )

  it.effect("pages through a list", () =>
    Effect.gen(function* () {
      const { agent, toolId } = yield* market()
      yield* Effect.promise(async () => {
        await agent.money.load({ payload: { amount_cents: 100 } })
        const made = await Promise.all(Array.from({ length: 5 }, () => call(agent, toolId)))
        const read: Array<string> = []
        for await (const page of agent.receipts.list.pages({ query: { limit: 2 } })) {
          assert.isAtMost(page.receipts.length, 2)
          read.push(...page.receipts.map(({ receipt_id }) => receipt_id))
        }
        assert.sameMembers(
          read,
          made.map((one) => ("meta" in one ? one.meta.receipt_id : ""))
        )
      })
    })
  )

  it.effect("sends a payload and a query only where they are given, and encodes ids in paths", () =>
    Effect.gen(function* () {
      const { agent, anyone } = yield* market()
      yield* Effect.promise(async () => {
        assert.strictEqual((await anyone.catalog.catalog({ query: { q: "search", limit: 1 } })).tools.length, 1)
        assert.strictEqual((await anyone.catalog.index()).name, (await agent.catalog.index()).name)
        assert.strictEqual(
          (await problemOf(agent.receipts.find({ params: { id: "../balance?x=1" } }))).code,
          "NOT_FOUND"
        )
      })
    })
  )

  it.effect("reports progress of a call, and returns its result", () =>
    Effect.gen(function* () {
      const { agent, toolId } = yield* market(aStep)
      yield* Effect.promise(async () => {
        await agent.money.load({ payload: { amount_cents: 100 } })
        const progress: Array<Progress> = []
        const called = await agent.calls.proxy({
          payload: { tool_id: toolId, input: {} },
          onProgress: (one) => progress.push(one)
        })
        assert.property(called, "result")
        assert.deepStrictEqual(progress, [{ progress: 1, total: 2 }])
      })
    })
  )
})
