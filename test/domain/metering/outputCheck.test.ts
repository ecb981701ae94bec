import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { JsonSchemas, SchemaBudgetSpent } from "../../../domain/catalog/JsonSchemas.ts"
import { makeOutputCheck } from "../../../domain/metering/Settlement.ts"
import { someProvider } from "../../support/checks/SchemaUses.ts"

/** The result of the check where the first `refusals` attempts are rejected for lack of processing time. */
const checked = (of: "provider" | "process", refusals: number) =>
  Effect.gen(function* () {
    let attempts = 0
    const schemas = JsonSchemas.of({
      unchecked: () => Effect.succeed([]),
      check: () => Effect.void,
      violations: () =>
        Effect.suspend(() =>
          attempts++ < refusals ? Effect.fail(new SchemaBudgetSpent({ of, waitMs: 1_000 })) : Effect.succeed([])
        )
    })
    const check = yield* Effect.provide(makeOutputCheck, Layer.succeed(JsonSchemas, schemas))
    const fiber = yield* Effect.forkChild(
      check({ outputSchema: { type: "object" }, providerId: someProvider() }, { result: { structuredContent: {} } })
    )
    yield* TestClock.adjust("1 minute")
    return { fits: yield* Fiber.join(fiber), attempts }
  })

it.effect("An output is checked again while there is no processing time for it", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* checked("provider", 2), { fits: true, attempts: 3 })
    assert.deepStrictEqual(yield* checked("process", 2), { fits: true, attempts: 3 })
  })
)

it.effect("An output is invalid where its own provider has used up the processing time", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* checked("provider", 9), { fits: false, attempts: 3 })
  })
)

it.effect("An output is not counted against its provider where others have used up the processing time", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* checked("process", 9), { fits: undefined, attempts: 3 })
  })
)
