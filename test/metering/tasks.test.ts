/**
 * Tasks are not offered to callers that speak MCP, because the result of a task would not be billed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isTaskMethod, withoutTasks } from "../../domain/mcp/Tasks.ts"
import {
  aConsumer,
  checkWallet,
  completed,
  everyMcpMarket,
  MCP_PRICE,
  Provider,
  rejectedFor,
  requestOf,
  settledBy,
  tools
} from "../support/metering/McpMarket.ts"

describe("Capabilities without tasks", () => {
  it.each([
    [`{}`, `{}`],
    [`{"tools":{"n":12345678901234567890}}`, `{"tools":{"n":12345678901234567890}}`],
    [`{"tools":{},"tasks":{"list":{}}}`, `{"tools":{}}`],
    [`{"\\u0074asks":{},"sampling":{}}`, `{"sampling":{}}`],
    [`{"extensions":{"io.modelcontextprotocol/tasks":{},"x":{"y":1.50}}}`, `{"extensions":{"x":{"y":1.50}}}`],
    [`{"extensions":{"io.modelcontextprotocol\\/tasks":{}}}`, `{"extensions":{}}`],
    [`{"extensions":"tasks"}`, `{"extensions":"tasks"}`]
  ])("of %s are %s", (given, expected) => {
    assert.strictEqual(withoutTasks(given), expected)
  })

  it("are those that no method of tasks belongs to", () => {
    assert.deepStrictEqual(["tasks/get", "Tasks/get", "tasks/result", "tools/call", "tasks"].map(isTaskMethod), [
      true,
      true,
      true,
      false,
      false
    ])
  })
})

for (const [name, market] of everyMcpMarket()) {
  const provider = new Provider()
  it.layer(market(provider), { timeout: "120 seconds", excludeTestServices: true })(`A task over ${name}`, (it) => {
    it.effect("is rejected before the provider is called, in both eras", () =>
      Effect.gen(function* () {
        const { tools: made } = yield* tools()
        const consumerId = yield* aConsumer()
        for (const era of ["legacy", "modern"] as const) {
          for (const otherParams of [`"task":{"ttl":60000}`, `"a":1,"task":null`]) {
            const request = requestOf(consumerId, made[0]!.id, { era, otherParams })
            assert.strictEqual(yield* rejectedFor(request), "TasksNotOffered")
          }
        }
        assert.lengthOf(provider.calls, 0)
        yield* checkWallet(consumerId, 0n, 0n)
      })
    )

    it.effect("that a provider starts all the same costs nothing, and is not delivered", () =>
      Effect.gen(function* () {
        const { tools: made } = yield* tools()
        const consumerId = yield* aConsumer()
        provider.respond = () =>
          Effect.succeed({
            ...completed(),
            status: "error",
            result: undefined,
            problem: { kind: "unfinished", message: "The tool started a task" },
            pending: { kind: "task", resultText: `{"resultType":"task","taskId":"1"}` }
          } as const)
        const capabilities = `{"extensions":{"io.modelcontextprotocol/tasks":{}},"roots":{}}`
        const { answer, report } = yield* settledBy(requestOf(consumerId, made[0]!.id, { capabilities }))
        assert.strictEqual(report.receipt.cost_microcents, 0n)
        assert.notInclude(answer.body, "taskId")
        assert.strictEqual(provider.calls[0]!.exchange!.capabilities, `{"roots":{},"extensions":{}}`)
        yield* checkWallet(consumerId, 0n, 0n)
        provider.respond = () => Effect.succeed(completed())
        yield* settledBy(requestOf(consumerId, made[0]!.id, { capabilities }))
        yield* checkWallet(consumerId, BigInt(MCP_PRICE), 0n)
      })
    )
  })
}
