import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { NamePinStore } from "../../domain/metering/NamePinStore.ts"
import { LIVE } from "../support/PostgresTest.ts"
import { aConsumerId, aToolId } from "./ledgerSamples.ts"
import type { Ports } from "./ports.ts"
import { instant } from "./samples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")
const RACERS = 40

export const namePinsContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`NamePinStore over ${name}`, (it) => {
    it.effect("keeps the first tool of a name, for each consumer", () =>
      Effect.gen(function* () {
        const store = yield* NamePinStore
        const [consumerId, other] = [yield* aConsumerId, yield* aConsumerId]
        const [first, second] = [yield* aToolId, yield* aToolId]
        assert.deepStrictEqual(yield* store.find(consumerId, "echo", 10), { _tag: "Free" })
        assert.strictEqual(yield* store.pin({ consumerId, toolName: "echo", toolId: first }, AT), first)
        assert.strictEqual(yield* store.pin({ consumerId, toolName: "echo", toolId: second }, AT), first)
        assert.deepStrictEqual(yield* store.find(consumerId, "echo", 10), { _tag: "Pinned", toolId: first })
        assert.deepStrictEqual(yield* store.find(consumerId, "Echo", 10), { _tag: "Free" })
        assert.deepStrictEqual(yield* store.find(other, "echo", 10), { _tag: "Free" })
        assert.strictEqual(yield* store.pin({ consumerId: other, toolName: "echo", toolId: second }, AT), second)
      })
    )

    it.effect("returns one tool to all concurrent pins of a name", () =>
      Effect.gen(function* () {
        const store = yield* NamePinStore
        const consumerId = yield* aConsumerId
        const tools = yield* Effect.all(Array.from({ length: RACERS }, () => aToolId))
        const winners = yield* Effect.forEach(
          tools,
          (toolId) => store.pin({ consumerId, toolName: "echo", toolId }, AT),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(winners).size, 1)
        assert.deepStrictEqual(yield* store.find(consumerId, "echo", 10), { _tag: "Pinned", toolId: winners[0]! })
      })
    )

    it.effect("reports when a consumer has the maximum number of pins", () =>
      Effect.gen(function* () {
        const store = yield* NamePinStore
        const consumerId = yield* aConsumerId
        const toolId = yield* aToolId
        for (const toolName of ["a", "b"]) yield* store.pin({ consumerId, toolName, toolId }, AT)
        assert.deepStrictEqual(yield* store.find(consumerId, "c", 3), { _tag: "Free" })
        assert.deepStrictEqual(yield* store.find(consumerId, "c", 2), { _tag: "Full" })
        assert.deepStrictEqual(yield* store.find(consumerId, "b", 2), { _tag: "Pinned", toolId })
      })
    )

    it.effect("removes the pins of one consumer", () =>
      Effect.gen(function* () {
        const store = yield* NamePinStore
        const [erased, other] = [yield* aConsumerId, yield* aConsumerId]
        const toolId = yield* aToolId
        for (const consumerId of [erased, other]) yield* store.pin({ consumerId, toolName: "echo", toolId }, AT)
        yield* store.removeAll(erased)
        assert.deepStrictEqual(yield* store.find(erased, "echo", 10), { _tag: "Free" })
        assert.deepStrictEqual(yield* store.find(other, "echo", 10), { _tag: "Pinned", toolId })
      })
    )
  })
