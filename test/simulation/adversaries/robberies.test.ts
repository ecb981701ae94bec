/**
 * The simulation finds each fault that allows theft within 2,000 steps, from what clients and the processor see: the check that
 * explains balances from the service's documents is off.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { planOf } from "../world/Plan.ts"
import { simulate } from "../Simulation.ts"
import { memory } from "../world/Stages.ts"
import { robberies, type Robbery } from "./Plants.ts"

const SEEDS = [34, 35]
const STEPS = 1_000
const BOOKS = ["balances are explained"]

const found = Effect.fnUntraced(function* ({ misread, name, plant, rules, seed: early, without = [] }: Robbery) {
  for (const seed of early === undefined ? SEEDS : [early, ...SEEDS]) {
    const { violation } = yield* simulate({
      seed,
      plan: planOf(seed, STEPS),
      stage: memory,
      without: [...BOOKS, ...without],
      plant,
      misread
    })
    if (violation === undefined) continue
    assert.include(rules, violation.rule, violation.message)
    return
  }
  assert.fail(`${name} was not found in ${SEEDS.length * STEPS} steps`)
})

for (const robbery of robberies) it.live(`finds ${robbery.name}`, () => found(robbery), 240_000)
