/**
 * The simulation finds each planted fault, shrinks its plan to a few steps, and finds nothing in these steps without the fault.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { planOf } from "./world/Plan.ts"
import { furtherPlants, latePlants, type Plant, plants } from "./Plants.ts"
import { keeping, shrink } from "./Shrink.ts"
import { type Run, simulate } from "./Simulation.ts"
import { memory } from "./world/Stages.ts"

const SEEDS = [11, 12, 13, 14]
const STEPS = 200
const LATE_STEPS = 600
const SHRINKING_RUNS_MAX = 45
const STEPS_LEFT_MAX = 50

/** The one that finds it soonest comes first, where it is known. */
const seedsOf = (seed: number | undefined) => (seed === undefined ? SEEDS : [seed, ...SEEDS])

/** The first run that violates a rule because of the plant. */
const found = Effect.fnUntraced(function* (
  plant: Plant,
  rules: ReadonlyArray<string>,
  steps = STEPS,
  seeds: ReadonlyArray<number> = SEEDS
) {
  for (const seed of seeds) {
    const run: Run = { seed, plan: planOf(seed, steps), stage: memory, plant }
    const outcome = yield* simulate(run)
    if (outcome.violation === undefined) continue
    assert.include(rules, outcome.violation.rule, outcome.violation.message)
    return { run, outcome }
  }
  return assert.fail(`Not found in ${seeds.length} runs of ${steps} steps`)
})

for (const [name, plant, rules, seed] of plants) {
  it.live(
    `finds ${name}, and shrinks its plan`,
    () =>
      Effect.gen(function* () {
        const { outcome, run } = yield* found(plant, rules, STEPS, seedsOf(seed))
        const { kept, outcome: shrunk } = yield* shrink(run, outcome, SHRINKING_RUNS_MAX)
        assert.strictEqual(shrunk.violation?.rule, outcome.violation?.rule)
        assert.isBelow(kept.length, STEPS_LEFT_MAX)
        const withoutIt = yield* simulate({ ...keeping(run, kept), plant: (stores) => stores })
        assert.strictEqual(withoutIt.violation, undefined)
      }),
    240_000
  )
}

for (const [name, plant, rules] of furtherPlants) {
  it.live(`finds ${name}`, () => found(plant, rules), 240_000)
}

for (const [name, plant, rules, seed] of latePlants) {
  it.live(`finds ${name}`, () => found(plant, rules, LATE_STEPS, seedsOf(seed)), 240_000)
}
