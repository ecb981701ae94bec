/**
 * An account whose waiting calls are at the limit: a call that wants a task is rejected, every other call is forwarded as one
 * of a client that takes neither questions nor tasks. Whatever comes of it counts against no provider.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { McpCallRequest } from "../../../domain/metering/Call.ts"
import { causeOf, ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import type { UpstreamResponse } from "../../../domain/upstream/ToolUpstream.ts"
import {
  aConsumer,
  asked,
  asking,
  callMcp,
  checkWallet,
  completed,
  MCP_PRICE,
  receiptsOf,
  rejectedFor,
  requestOf,
  settledBy,
  tools
} from "../../support/metering/McpMarket.ts"
import {
  everyTaskMarket,
  memoryTaskMarket,
  started,
  taking,
  TaskProvider,
  working
} from "../../support/metering/TaskMarket.ts"

const PRICE = BigInt(MCP_PRICE)
const AT_ONE_PROVIDER = 16
const AT_ALL = 32

const BOTH = `{"roots":{},"elicitation":{"form":{}},"x":{"n":1.50},"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{},"other":{}}}`
const NEITHER = `{"x":{"n":1.50},"extensions":{"other":{}}}`

const asTask = (consumerId: ConsumerId, toolId: string, more: Partial<McpCallRequest> = {}) =>
  taking(consumerId, toolId, {
    exchange: { ...requestOf(consumerId, toolId).exchange, inSession: true, asTask: true },
    ...more
  })

const provider = new TaskProvider()
const startsTasks = provider.calls.respond
const responds = (response: UpstreamResponse) => {
  provider.calls.respond = () => Effect.succeed(response)
}

/** As many calls at one tool of two wait for input as may. */
const atTheLimit = Effect.fnUntraced(function* (change = {}) {
  const { provider: seller, tools: made } = yield* tools([{}, change])
  const consumerId = yield* aConsumer()
  responds(asking())
  for (let n = 0; n < AT_ONE_PROVIDER; n++) yield* asked(requestOf(consumerId, made[0]!.id))
  provider.calls.calls.length = 0
  return { consumerId, sellerId: seller.id, toolId: made[1]!.id }
})

const endingOf = Effect.fnUntraced(function* (consumerId: ConsumerId) {
  const [receipt] = yield* receiptsOf(consumerId)
  const { cause } = Option.getOrThrow(yield* (yield* ReceiptStore).settledOf(receipt!.receipt_id))
  return [receipt!.status, cause, receipt!.cost_microcents as bigint]
})

it.layer(memoryTaskMarket(provider), { timeout: "120 seconds", excludeTestServices: true })(
  "Calls beside waiting ones",
  (it) => {
    it.effect("are not forwarded if they want a task, and hold nothing; at another provider they run", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* atTheLimit()
        const held = PRICE * BigInt(AT_ONE_PROVIDER)
        provider.calls.respond = startsTasks
        assert.strictEqual(yield* rejectedFor(yield* asTask(consumerId, toolId)), "TooManyCallsWaiting")
        assert.lengthOf(provider.calls.calls, 0)
        yield* checkWallet(consumerId, 0n, held)
        const { tools: others } = yield* tools()
        const elsewhere = yield* asTask(consumerId, others[0]!.id)
        assert.strictEqual((yield* callMcp(elsewhere))._tag, "TaskStarted")
        for (let n = 1; n < AT_ALL - AT_ONE_PROVIDER; n++) yield* callMcp(elsewhere)
        const { tools: third } = yield* tools()
        assert.strictEqual(yield* rejectedFor(yield* asTask(consumerId, third[0]!.id)), "TooManyCallsWaiting")
        yield* checkWallet(consumerId, 0n, 2n * held)
      })
    )

    it.effect("get their replay, though they want a task", () =>
      Effect.gen(function* () {
        const { tools: made } = yield* tools()
        const consumerId = yield* aConsumer()
        const keyed = { idempotency: { keyHash: "ab".repeat(32), requestHash: "cd".repeat(32) } }
        responds(completed())
        const { answer } = yield* settledBy(yield* asTask(consumerId, made[0]!.id, keyed))
        responds(asking())
        for (let n = 0; n < AT_ONE_PROVIDER; n++) yield* asked(requestOf(consumerId, made[0]!.id))
        assert.deepStrictEqual(yield* callMcp(yield* asTask(consumerId, made[0]!.id, keyed)), {
          _tag: "Replayed",
          answer
        })
      })
    )

    it.effect("run as those of a client without questions and tasks, and are billed", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* atTheLimit()
        responds(completed())
        yield* settledBy(requestOf(consumerId, toolId, { capabilities: BOTH }))
        const plain = `{ "extensions": {} }`
        yield* settledBy(requestOf(consumerId, toolId, { capabilities: plain }))
        const { tools: others } = yield* tools()
        yield* settledBy(requestOf(consumerId, others[0]!.id, { capabilities: BOTH }))
        const told = provider.calls.calls.map(({ exchange }) => exchange!.capabilities)
        assert.deepStrictEqual(told, [NEITHER, plain, BOTH])
        assert.deepStrictEqual(yield* endingOf(consumerId), ["success", undefined, PRICE])
      })
    )

    it.effect("end at no charge if they are asked or become tasks all the same, and the task is canceled", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* atTheLimit({ billingPolicy: "attempt" })
        yield* settledBy(requestOf(consumerId, toolId))
        assert.deepStrictEqual(yield* endingOf(consumerId), ["error", "canceled", 0n])
        const told = provider.timesAsked("tasks/cancel")
        provider.calls.respond = startsTasks
        yield* settledBy(yield* taking(consumerId, toolId))
        assert.deepStrictEqual(yield* endingOf(consumerId), ["error", "canceled", 0n])
        while (provider.timesAsked("tasks/cancel") === told) yield* Effect.sleep("5 millis")
      })
    )

    it.effect("leave a free call and a key as any call does", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* atTheLimit({ freeTierCalls: 1 })
        const { report } = yield* settledBy(requestOf(consumerId, toolId))
        assert.strictEqual(report.freeCallsLeft, 1)
        provider.saysOfAll(working)
        provider.calls.respond = startsTasks
        const { tools: others } = yield* tools()
        yield* started({}, {}, { consumerId, toolId: others[0]!.id })
      })
    )
  }
)

for (const [name, market] of everyTaskMarket()) {
  it.layer(market(provider), { timeout: "120 seconds", excludeTestServices: true })(
    `Calls beside waiting ones, over ${name}`,
    (it) => {
      it.effect("are limited exactly, 40 at once: what is beyond ends at no charge, and counts against no one", () =>
        Effect.gen(function* () {
          for (const ask of [requestOf, taking]) {
            const toolId = (yield* tools([{ billingPolicy: "attempt" }])).tools[0]!.id
            const consumerId = yield* aConsumer()
            if (ask === requestOf) responds(asking())
            else provider.calls.respond = startsTasks
            const request = ask === taking ? yield* taking(consumerId, toolId) : requestOf(consumerId, toolId)
            const outcomes = yield* Effect.forEach(Array.from({ length: 40 }), () => callMcp(request), {
              concurrency: "unbounded"
            })
            const ended = outcomes.flatMap((one) => (one._tag === "Settled" ? [one.report] : []))
            assert.lengthOf(ended, 40 - AT_ONE_PROVIDER)
            for (const { answer, receipt } of ended) {
              assert.deepStrictEqual([causeOf(answer), receipt.cost_microcents as bigint], ["canceled", 0n])
            }
            yield* checkWallet(consumerId, 0n, PRICE * BigInt(AT_ONE_PROVIDER))
          }
        })
      )
    }
  )
}
