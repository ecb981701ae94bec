/**
 * Cancellation of requests of MCP clients, on the node that runs them and on another one.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { McpCancellations } from "../../../domain/mcp/McpCancellations.ts"
import { everyStore } from "../../contracts/ports.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const aNode = Effect.map(
  Layer.build(Layer.fresh(McpCancellations.layer)),
  (context) => context.mapUnsafe.get(McpCancellations.key) as McpCancellations["Service"]
)

for (const [name, ports] of everyStore) {
  it.layer(ports, LIVE)(`McpCancellations over ${name}`, (it) => {
    it.effect("cancels a running request of the session at any node, and no other one", () =>
      Effect.gen(function* () {
        const [owner, other] = [yield* aNode, yield* aNode]
        const canceled: Array<string> = []
        const ended = owner.register("s1", `"a"`, () => void canceled.push("s1 a"))
        owner.register("s1", "1", () => void canceled.push("s1 1"))
        owner.register("s2", `"a"`, () => void canceled.push("s2 a"))
        yield* owner.cancel("s1", `"\\u0061"`)
        assert.deepStrictEqual(canceled, ["s1 a"])
        ended()
        yield* owner.cancel("s1", `"a"`)
        yield* other.cancel("s3", "1")
        yield* other.cancel("s2", `"a"`)
        while (canceled.length < 2) yield* Effect.sleep("5 millis")
        assert.deepStrictEqual(canceled, ["s1 a", "s2 a"])
      })
    )

    it.effect("cancels a request with a long id at another node", () =>
      Effect.gen(function* () {
        const [owner, other] = [yield* aNode, yield* aNode]
        const id = JSON.stringify("é".repeat(1_000))
        const canceled: Array<string> = []
        owner.register("s1", id, () => void canceled.push(id))
        yield* other.cancel("s1", id)
        while (canceled.length === 0) yield* Effect.sleep("5 millis")
      })
    )
  })
}
