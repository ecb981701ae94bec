/**
 * The simulation is worth what it finds: each planted fault is found, its plan comes down to a few steps that still fail, and
 * the same steps hold without it.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { planOf } from "./Plan.ts"
import { plants } from "./Plants.ts"
import { keeping, shrink } from "./Shrink.ts"
import { type Run, simulate } from "./Simulation.ts"
import { memory } from "./Stages.ts"

const SEEDS = [11, 12, 13, 14]
const STEPS = 200
const SHRINKING_RUNS_MAX = 30
const STEPS_LEFT_MAX = 50

for (const [name, plant, rules] of plants) {
  it.live(
    `Finds ${name}`,
    () =>
      Effect.gen(function* () {
        for (const seed of SEEDS) {
          const run: Run = { seed, plan: planOf(seed, STEPS), stage: memory, plant }
          const outcome = yield* simulate(run)
          if (outcome.violation === undefined) continue
          assert.include(rules, outcome.violation.rule, outcome.violation.message)
          const { kept, outcome: shrunk } = yield* shrink(run, outcome, SHRINKING_RUNS_MAX)
          assert.strictEqual(shrunk.violation?.rule, outcome.violation.rule)
          assert.isBelow(kept.length, STEPS_LEFT_MAX)
          const withoutIt = yield* simulate({ ...keeping(run, kept), plant: (stores) => stores })
          assert.strictEqual(withoutIt.violation, undefined)
          return
        }
        assert.fail(`${name} was not found in ${SEEDS.length} runs of ${STEPS} steps`)
      }),
    120_000
  )
}
