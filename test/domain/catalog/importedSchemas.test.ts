/**
 * Output schemas that decide what is billed, in imports and syncs over the stores.
 */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { ToolImport, ToolSync } from "../../../domain/catalog/ToolImport.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { memoryPorts, withServices } from "../../contracts/ports.ts"
import { aProvider } from "../../contracts/samples.ts"
import { FakeServers, fakeServers, tool } from "../../support/servers/FakeServers.ts"

const STRICT = { type: "object", required: ["answer"] }

const services = ToolSync.layer.pipe(
  Layer.provideMerge(ToolImport.layer),
  Layer.provideMerge(withServices(memoryPorts, Duration.hours(24))),
  Layer.provideMerge(fakeServers)
)

it.layer(services, { timeout: "60 seconds" })("An output schema that bills", (it) => {
  it.effect("is announced where the provider imports it, and does not follow the server", () =>
    Effect.gen(function* () {
      const endpointUrl = `http://${yield* (yield* Entropy).hex(8)}.example/mcp`
      const { id } = yield* aProvider({ endpointUrl })
      const [catalog, imports, servers, sync] = [yield* Catalog, yield* ToolImport, yield* FakeServers, yield* ToolSync]
      const applied = (billingPolicy?: "valid_output") =>
        Effect.flatMap(imports.read({ providerId: id, endpointUrl }), (list) =>
          imports.apply(id, list, {
            defaultPrice: undefined,
            overrides: billingPolicy === undefined ? [] : [{ toolName: "search", billingPolicy }],
            listed: true
          })
        )
      const found = Effect.map(catalog.findOf(id, "search"), Option.getOrThrow)
      const judging = Effect.map(found, ({ prices, priceVersion, tool: { outputSchema } }) => [
        outputSchema,
        prices.upcoming?.outputSchema,
        priceVersion
      ])
      const syncAfter = (hours: number) => Effect.andThen(TestClock.adjust(Duration.hours(hours)), sync.work)

      servers.lists(endpointUrl, [tool("search", { outputSchema: STRICT })])
      yield* applied("valid_output")
      servers.lists(endpointUrl, [tool("search", { outputSchema: {} })])
      yield* syncAfter(1)
      assert.deepStrictEqual(yield* judging, [STRICT, undefined, 1])
      assert.deepStrictEqual((yield* applied()).changes[0]!.fields, ["outputSchema"])
      assert.deepStrictEqual(yield* judging, [STRICT, {}, 1])
      yield* syncAfter(23)
      assert.deepStrictEqual(yield* judging, [STRICT, {}, 1])
      yield* syncAfter(1)
      assert.deepStrictEqual(yield* judging, [{}, undefined, 2])
      assert.strictEqual((yield* catalog.prices((yield* found).tool.id)).length, 2)
    })
  )
})
