/**
 * The market of the testing kit: each one is separate, and a seed repeats it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { aCall } from "../../testing/ACall.ts"
import { aConsumer } from "../../testing/AConsumer.ts"
import { aTool } from "../../testing/ATool.ts"
import { assertBalanced, assertSolvent } from "../../testing/Books.ts"
import { market } from "../../testing/Market.ts"
import { GatewayScript } from "../../testing/ScriptedGateway.ts"
import { answers, answersWithError, fails, type ToolBehavior, ToolScript } from "../../testing/ScriptedUpstream.ts"

/** Ten times what a busy machine needs. */
const BUILD_MS_MAX = 500

const story = Effect.gen(function* () {
  const consumer = yield* aConsumer()
  const tool = yield* aTool()
  const { receipt } = yield* aCall(consumer, tool)
  return { consumer: consumer.id, key: consumer.key, tool: tool.id, provider: tool.provider.id, receipt }
})

const outcomeOf = (behavior: ToolBehavior) =>
  Effect.gen(function* () {
    const consumer = yield* aConsumer()
    const tool = yield* aTool({ behavior })
    const { answer, receipt } = yield* aCall(consumer, tool, { arguments: { text: "hello" } })
    yield* assertBalanced
    yield* assertSolvent
    return {
      result: answer.result,
      problem: answer.problem?.kind,
      status: receipt.status,
      cost: BigInt(receipt.cost_microcents)
    }
  }).pipe(Effect.provide(market()))

describe("a market", () => {
  it.effect("has the same ids, keys and receipts for the same seed, and others for another one", () =>
    Effect.gen(function* () {
      const first = yield* Effect.provide(story, market({ seed: 7 }))
      assert.deepStrictEqual(yield* Effect.provide(story, market({ seed: 7 })), first)
      const other = yield* Effect.provide(story, market({ seed: 8 }))
      assert.notStrictEqual(other.consumer, first.consumer)
      assert.notStrictEqual(other.key, first.key)
    })
  )

  it.effect("shares nothing with another one, also in one runtime", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* Layer.build(market()), yield* Layer.build(market())]
      const { id } = yield* Effect.provide(aConsumer({ cents: 500 }), one)
      assert.strictEqual((yield* Context.get(one, Ledger).wallet(id)).available, 5_000_000n)
      assert.strictEqual((yield* Context.get(other, Ledger).wallet(id)).available, 0n)
    })
  )

  it.live("is built quickly", () =>
    Effect.gen(function* () {
      yield* Effect.provide(Effect.void, market())
      const startedMs = performance.now()
      yield* Effect.provide(Effect.void, market())
      assert.isBelow(performance.now() - startedMs, BUILD_MS_MAX)
    })
  )

  it.effect("bills by what a tool does", () =>
    Effect.gen(function* () {
      const shouted = answers(({ text }) => ({ content: [{ type: "text", text: String(text).toUpperCase() }] }))
      assert.deepStrictEqual(yield* outcomeOf(shouted), {
        result: { content: [{ type: "text", text: "HELLO" }] },
        problem: undefined,
        status: "success",
        cost: 500n
      })
      assert.deepInclude(yield* outcomeOf(answersWithError("no such city")), { status: "error", cost: 0n })
      assert.deepInclude(yield* outcomeOf(fails()), { problem: "connection", status: "error", cost: 0n })
    })
  )

  it.effect("shows the calls that reached a tool, and the orders that reached the processor", () =>
    Effect.gen(function* () {
      const consumer = yield* aConsumer()
      const tool = yield* aTool({ name: "shout" })
      yield* aCall(consumer, tool, { arguments: { text: "hello" } })
      const { calls } = yield* ToolScript
      assert.deepStrictEqual(
        calls.map((call) => [call.toolName, call.arguments]),
        [["shout", { text: "hello" }]]
      )
      assert.strictEqual((yield* GatewayScript).orders.checkout, 1)
    }).pipe(Effect.provide(market()))
  )

  it.effect("has several tools of one provider, with terms of their own", () =>
    Effect.gen(function* () {
      const consumer = yield* aConsumer()
      const first = yield* aTool({ name: "search", price: 700n })
      const second = yield* aTool({ name: "shout", price: 300n, freeTierCalls: 1, provider: first.provider })
      yield* aCall(consumer, first)
      yield* aCall(consumer, second)
      yield* aCall(consumer, second)
      assert.strictEqual(yield* consumer.available, 5_000_000n - 1_000n)
      assert.strictEqual(yield* first.provider.balance, 900n)
    }).pipe(Effect.provide(market()))
  )
})
