/**
 * The simulation with fixed seeds. `npm run simulate` draws new ones.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { planOf } from "./world/Plan.ts"
import { shrink } from "./Shrink.ts"
import { type Run, simulate } from "./Simulation.ts"
import { memory } from "./world/Stages.ts"

const STEPS = 150

const holds = Effect.fnUntraced(function* (run: Run) {
  const outcome = yield* simulate(run)
  if (outcome.violation === undefined) return outcome
  const { kept, outcome: last } = yield* shrink(run, outcome, 40)
  const steps = kept.map((place) => JSON.stringify(run.plan[place])).join("\n")
  return assert.fail(
    `seed ${run.seed}, ${run.plan.length} steps on ${run.stage.name}: ${last.violation?.message}\n${steps}\n` +
      `npm run simulate -- --seed ${run.seed} --steps ${run.plan.length} --only ${kept.join(",")}`
  )
})

for (const seed of [1, 2, 3, 4]) {
  it.live(
    `violates no rule in ${STEPS} steps of seed ${seed}`,
    () => holds({ seed, plan: planOf(seed, STEPS), stage: memory }),
    180_000
  )
}

it.live(
  "repeats a run exactly from its seed",
  () =>
    Effect.gen(function* () {
      const run: Run = { seed: 7, plan: planOf(7, STEPS), stage: memory }
      const [one, other] = [yield* simulate(run), yield* simulate(run)]
      assert.deepStrictEqual(other.trace, one.trace)
      assert.notStrictEqual((yield* simulate({ ...run, plan: planOf(8, STEPS) })).digest, one.digest)
    }),
  180_000
)
