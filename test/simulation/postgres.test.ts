/**
 * The simulation on PostgreSQL. Its answers take real time, so a seed determines the plan, but not every detail of the run.
 */
import { assert, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { planOf } from "./world/Plan.ts"
import { simulate } from "./Simulation.ts"
import { postgres } from "./world/Stages.ts"

const STEPS = 60

const stage = postgres(
  Effect.map(Layer.build(PostgresTest.layerDatabase), (context) => Context.get(context, PostgresTest).url)
)

for (const seed of [21, 22]) {
  it.live(
    `violates no rule over PostgreSQL in ${STEPS} steps of seed ${seed}`,
    () =>
      Effect.gen(function* () {
        const { violation } = yield* simulate({ seed, plan: planOf(seed, STEPS), stage })
        assert.strictEqual(
          violation,
          undefined,
          `npm run simulate -- --on postgres --seed ${seed} --steps ${STEPS}: ${violation?.message}`
        )
      }),
    240_000
  )
}

/** Services that were built on them would go by it. */
it.live("The stores over PostgreSQL bring no clock with them", () =>
  Effect.gen(function* () {
    const stores: Context.Context<never> = yield* stage.stores
    assert.isFalse(stores.mapUnsafe.has(Clock.Clock.key))
    assert.isAbove(stores.mapUnsafe.size, 30)
  }).pipe(Effect.scoped)
)
