/**
 * A call that its caller's balance does not cover: the user of a modern client is asked to add funds, and the repeated call
 * runs once.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeFundsRequests } from "../../../domain/mcp/McpCalls.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import {
  aConsumer,
  addFunds,
  asked,
  callMcp,
  completed,
  everyMcpMarket,
  MCP_PRICE,
  memoryMcpMarket,
  Provider,
  rejectedFor,
  requestOf,
  settledBy,
  tools,
  walletOf
} from "../../support/metering/McpMarket.ts"
import { later } from "../../support/metering/TestTime.ts"

const addFundsUrl = "https://market.example.org/account/funds"

/** The client's answer: the user has opened the address, or has not. */
const after = (state: string, action = "accept") => ({
  otherParams: `"inputResponses":{"add_funds":{"action":"${action}"}},"requestState":${JSON.stringify(state)},"x":1`
})

const provider = new Provider()
const aPoorShop = Effect.gen(function* () {
  provider.calls.length = 0
  provider.respond = () => Effect.succeed(completed())
  const { tools: made } = yield* tools([{}, {}])
  return { consumerId: yield* aConsumer(0), toolId: made[0]!.id, otherTool: made[1]!.id }
})

it.layer(memoryMcpMarket(provider), { timeout: "120 seconds", excludeTestServices: true })(
  "A call without funds",
  (it) => {
    it.effect("is asked again while funds are missing, at most five times, for ten minutes", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* aPoorShop
        let { state } = yield* asked(requestOf(consumerId, toolId, {}, { addFundsUrl }))
        for (let n = 2; n <= 5; n++) {
          state = (yield* asked(requestOf(consumerId, toolId, after(state), { addFundsUrl }))).state
        }
        const last = requestOf(consumerId, toolId, after(state), { addFundsUrl })
        assert.strictEqual(yield* rejectedFor(last), "InsufficientFunds")
        assert.strictEqual(yield* later("10 minutes")(rejectedFor(last)), "RequestStateRejected expired")
      })
    )

    it.effect("is not made if the user declines, even if the balance would cover it by now", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* aPoorShop
        const { state } = yield* asked(requestOf(consumerId, toolId, {}, { addFundsUrl }))
        yield* addFunds(consumerId, 100)
        for (const action of ["decline", "cancel", "something else"]) {
          assert.strictEqual(
            yield* rejectedFor(requestOf(consumerId, toolId, after(state, action), { addFundsUrl })),
            "InsufficientFunds"
          )
        }
        assert.lengthOf(provider.calls, 0)
      })
    )

    it.effect("does not run for another account, tool or arguments", () =>
      Effect.gen(function* () {
        const { consumerId, otherTool, toolId } = yield* aPoorShop
        const stranger = yield* aConsumer()
        const { state } = yield* asked(requestOf(consumerId, toolId, {}, { addFundsUrl }))
        yield* addFunds(consumerId, 100)
        assert.deepStrictEqual(
          [
            yield* rejectedFor(requestOf(stranger, toolId, after(state))),
            yield* rejectedFor(requestOf(consumerId, otherTool, after(state))),
            yield* rejectedFor(requestOf(consumerId, toolId, { ...after(state), arguments: `{"n":1}` }))
          ],
          ["RequestStateRejected invalid", "RequestStateRejected invalid", "RequestStateRejected arguments"]
        )
      })
    )

    it.effect("never costs more than the user was told, or than the caller's own cap", () =>
      Effect.gen(function* () {
        const { repeated } = yield* makeFundsRequests
        const cost = Microcents.make(7n)
        const state = { _tag: "Funds", argumentsHash: "", expiresMs: 0, nonce: "", asked: 1, cost } as const
        const { consumerId, toolId } = yield* aPoorShop
        const cappedAt = (maxCost: Microcents | undefined) =>
          Effect.map(
            repeated(requestOf(consumerId, toolId, after("state"), { maxCost }), toolId, state),
            (call) => call.maxCost
          )
        const caps = [undefined, Microcents.make(8n), Microcents.make(6n)]
        assert.deepStrictEqual((yield* Effect.forEach(caps, cappedAt)).map(String), ["7", "7", "6"])
      })
    )

    it.effect("keeps the idempotency key of the caller", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* aPoorShop
        const keyed = { addFundsUrl, idempotency: { keyHash: "ef".repeat(32), requestHash: "01".repeat(32) } }
        const { state } = yield* asked(requestOf(consumerId, toolId, {}, keyed))
        yield* addFunds(consumerId, 100)
        const { answer } = yield* settledBy(requestOf(consumerId, toolId, after(state), keyed))
        assert.deepStrictEqual(yield* callMcp(requestOf(consumerId, toolId, {}, keyed)), { _tag: "Replayed", answer })
      })
    )

    it.effect("is rejected where the client cannot open addresses, or is of the legacy era", () =>
      Effect.gen(function* () {
        const { consumerId, toolId } = yield* aPoorShop
        const clients = [
          { capabilities: undefined },
          { capabilities: "{}" },
          { capabilities: `{"elicitation":{}}` },
          { capabilities: `{"elicitation":{"form":{}}}` },
          { inSession: true }
        ] as const
        for (const client of clients) {
          assert.strictEqual(
            yield* rejectedFor(requestOf(consumerId, toolId, client, { addFundsUrl })),
            "InsufficientFunds"
          )
        }
        assert.strictEqual(yield* rejectedFor(requestOf(consumerId, toolId)), "InsufficientFunds")
      })
    )
  }
)

for (const [name, market] of everyMcpMarket()) {
  it.layer(market(provider), { timeout: "120 seconds", excludeTestServices: true })(
    `A call without funds, over ${name}`,
    (it) => {
      it.effect("asks for funds with an address, holds nothing, and runs once when it is repeated", () =>
        Effect.gen(function* () {
          const { consumerId, toolId } = yield* aPoorShop
          const { receiptId, resultText, state } = yield* asked(requestOf(consumerId, toolId, {}, { addFundsUrl }))
          assert.isUndefined(receiptId)
          const { inputRequests, resultType } = JSON.parse(resultText)
          assert.strictEqual(resultType, "input_required")
          assert.deepStrictEqual(inputRequests.add_funds.method, "elicitation/create")
          assert.deepInclude(inputRequests.add_funds.params, { mode: "url", url: addFundsUrl })
          assert.include(inputRequests.add_funds.params.message, "$0.001 and $0.00")
          assert.lengthOf(provider.calls, 0)

          yield* addFunds(consumerId, 100)
          const request = requestOf(consumerId, toolId, after(state), { addFundsUrl })
          const outcomes = yield* Effect.forEach(Array.from({ length: 10 }), () => callMcp(request), {
            concurrency: "unbounded"
          })
          assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Settled").length, 1)
          assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Replayed").length, 9)
          assert.strictEqual((yield* callMcp(request))._tag, "Replayed")
          assert.lengthOf(provider.calls, 1)
          assert.strictEqual(provider.calls[0]!.exchange!.otherParams, `"x":1`)
          assert.strictEqual((yield* walletOf(consumerId)).debits, BigInt(MCP_PRICE))
        })
      )
    }
  )
}
